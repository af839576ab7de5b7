import { LlmError } from './port.ts';

/** Deeper than any answer needs; what is stored must not break those who walk it. */
const MAX_DEPTH = 64;
const FENCED = /```[a-zA-Z]*[^\S\n]*\n([\s\S]*?)```/g;

/**
 * The one JSON object that a model was asked for: the whole text, or what stands in its only fenced block. Anything
 * else is `llm_validation_error`, and the message says what came instead, so that a model can be told.
 */
export function parseStrictObject(text: string): Record<string, unknown> {
  const trimmed = text.trim();
  if (trimmed === '') throw invalid('the answer is empty');
  const whole = parsed(trimmed);
  if (whole !== undefined) return objectOf(whole.value);
  const blocks = [...trimmed.matchAll(FENCED)].map(([, block]) => block ?? '');
  if (blocks.length === 0) throw invalid('the answer is text that is not JSON');
  if (blocks.length > 1) throw invalid(`the answer has ${blocks.length} fenced blocks`);
  const fenced = parsed((blocks[0] ?? '').trim());
  if (fenced === undefined) throw invalid('the fenced block of the answer is not JSON');
  return objectOf(fenced.value);
}

function parsed(text: string): { value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) };
  } catch {
    return undefined;
  }
}

function objectOf(value: unknown): Record<string, unknown> {
  if (value === null) throw invalid('the answer is null');
  if (Array.isArray(value)) throw invalid('the answer is an array');
  if (typeof value !== 'object') throw invalid(`the answer is a ${typeof value}`);
  if (isDeep(value)) throw invalid(`the answer is nested deeper than ${MAX_DEPTH} levels`);
  return value as Record<string, unknown>;
}

/** Level by level, not by recursion, which is what a deep value would break. */
function isDeep(value: object): boolean {
  let level: object[] = [value];
  for (let depth = 1; level.length > 0; depth += 1) {
    if (depth > MAX_DEPTH) return true;
    const below: object[] = [];
    for (const each of level) {
      for (const child of Object.values(each)) if (child !== null && typeof child === 'object') below.push(child);
    }
    level = below;
  }
  return false;
}

function invalid(what: string): LlmError {
  return new LlmError('llm_validation_error', `A single JSON object was wanted, but ${what}.`);
}
