import { describe, expect, it } from 'vitest';
import { LlmError, parseStrictObject } from '../../src/llm/index.ts';

function faultOf(text: string): string {
  try {
    parseStrictObject(text);
  } catch (error) {
    expect(error).toBeInstanceOf(LlmError);
    expect((error as LlmError).code).toBe('llm_validation_error');
    return (error as LlmError).message;
  }
  throw new Error(`${text} was taken`);
}

describe('[S004-strict-json] a strict JSON object', () => {
  it.each([
    ['bare', '{"a": 1}'],
    ['with space around it', '\n\n  {"a": 1}\t\n'],
    ['in a fenced block', '```\n{"a": 1}\n```'],
    ['in a fenced block that names its language', 'Here you are:\n```json\n{"a": 1}\n```\nAnything else?'],
  ])('is taken %s', (_, text) => {
    expect(parseStrictObject(text)).toEqual({ a: 1 });
  });

  it.each([
    ['nothing', '  \n', 'is empty'],
    ['prose', 'Sure! The answer is {"a": 1}.', 'text that is not JSON'],
    ['an array', '[{"a": 1}]', 'an array'],
    ['an array in a block', '```json\n[1]\n```', 'an array'],
    ['a number', '7', 'a number'],
    ['a text', '"approve"', 'a string'],
    ['null', 'null', 'null'],
    ['a broken block', '```json\n{"a": \n```', 'block of the answer is not JSON'],
    ['two blocks', '```\n{"a": 1}\n```\n```\n{"b": 1}\n```', '2 fenced blocks'],
    ['a bottomless object', `${'{"a":'.repeat(5_000)}1${'}'.repeat(5_000)}`, 'nested deeper'],
  ])('is not %s, and the error says so', (_, text, said) => {
    expect(faultOf(text)).toContain(said);
  });

  it('keeps a hostile key what it is: a key', () => {
    const value = parseStrictObject('{"__proto__": {"polluted": true}}');
    expect(Object.keys(value)).toEqual(['__proto__']);
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
  });
});
