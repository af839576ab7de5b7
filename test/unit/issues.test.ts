import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { issuesOf, jsonPointer, plainText } from '../../src/operations/index.ts';

describe('a JSON pointer', () => {
  it.each([
    [[], ''],
    [['steps', 0, 'trigger'], '/steps/0/trigger'],
    [['a/b', 'c~d', '~1'], '/a~1b/c~0d/~01'],
    [[''], '/'],
  ])('of %j is %j', (path, pointer) => {
    expect(jsonPointer(path)).toBe(pointer);
  });
});

describe('the issues of a schema', () => {
  it('give each unknown key a line of its own, quoted', () => {
    const { error } = z.strictObject({ a: z.strictObject({}) }).safeParse({ a: { 'x"y': 1, z: 2 } });
    expect(issuesOf(error!)).toEqual([
      { code: 'unknown_key', message: 'unknown key "x\\"y"', path: '/a/x"y' },
      { code: 'unknown_key', message: 'unknown key "z"', path: '/a/z' },
    ]);
  });
});

describe('plain text', () => {
  it.each(['', 'review', 'Grüße 世界 😀', 'a b'])('can be %j', (text) => {
    expect(plainText(64).safeParse(text).success).toBe(true);
  });

  it.each(['a\nb', 'a\u0000', '\u001b[2J', 'a\u2028b', '\ud800', 'a\udfff', 'x'.repeat(65)])('cannot be %j', (text) => {
    expect(plainText(64).safeParse(text).success).toBe(false);
  });
});
