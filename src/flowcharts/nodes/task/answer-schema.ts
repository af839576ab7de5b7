import * as z from 'zod';
import type { Issue } from '../../../kernel/errors.ts';
import { issuesOf } from '../../../operations/index.ts';
import { TimeUp, withinTime } from '../time-limit.ts';

type Json = Record<string, unknown>;

const MAX_SCHEMA_LENGTH = 32_768;
/** A pattern of a schema may backtrack without end. */
const CHECK_MS = 250;

/** Why a schema cannot be used; null when it can. */
export function schemaFault(schema: unknown): string | null {
  if (schema === null || typeof schema !== 'object' || Array.isArray(schema)) return 'must be a JSON schema object';
  if (JSON.stringify(schema).length > MAX_SCHEMA_LENGTH) return `must have at most ${MAX_SCHEMA_LENGTH} characters`;
  try {
    readSchema(schema as Json);
    return null;
  } catch (thrown) {
    return `cannot be read as a JSON schema: ${String((thrown as Error).message).slice(0, 200)}`;
  }
}

/** What is wrong with an answer, in the words that every door uses. */
export function answerIssues(schema: Json, answer: unknown): Issue[] {
  try {
    const parsed = withinTime(CHECK_MS, () => readSchema(schema).safeParse(answer));
    return parsed.success ? [] : issuesOf(parsed.error);
  } catch (thrown) {
    const message = thrown instanceof TimeUp ? 'takes too long to check against answer_schema' : 'cannot be checked';
    return [{ code: 'answer_schema_unusable', message, path: '' }];
  }
}

function readSchema(schema: Json): z.ZodType {
  return z.fromJSONSchema(schema as Parameters<typeof z.fromJSONSchema>[0]);
}
