import * as z from 'zod';
import { MAX_FRONTMATTER_BYTES, MAX_FRONTMATTER_DEPTH } from './limits.ts';

/**
 * What is wrong with the values of a front block, as the end of a sentence; null when nothing is. Stops at the first
 * value too many, however large the rest.
 */
export function frontmatterFault(value: unknown): string | null {
  if (!isRecord(value)) return 'must be an object';
  const room = { bytes: MAX_FRONTMATTER_BYTES };
  return valueFault(value, 1, room);
}

function valueFault(value: unknown, depth: number, room: { bytes: number }): string | null {
  if (typeof value === 'string') return textFault(value, room);
  if (value === null || typeof value === 'boolean') return spend(room, String(value).length);
  if (typeof value === 'number') {
    return Number.isFinite(value) ? spend(room, String(value).length) : 'must hold only numbers that JSON can hold';
  }
  if (!Array.isArray(value) && !isRecord(value)) return 'must hold only what JSON can hold';
  if (depth > MAX_FRONTMATTER_DEPTH) return `must nest at most ${MAX_FRONTMATTER_DEPTH} deep`;
  let fault = spend(room, 2);
  for (const [key, member] of Array.isArray(value) ? value.entries() : Object.entries(value)) {
    fault ??= typeof key === 'string' ? textFault(key, room) : null;
    fault ??= spend(room, 1) ?? valueFault(member, depth + 1, room);
    if (fault) return fault;
  }
  return fault;
}

function textFault(text: string, room: { bytes: number }): string | null {
  if (text.length > room.bytes) return tooLarge();
  if (/\p{Cs}/u.test(text)) return 'must not hold half a character';
  return spend(room, Buffer.byteLength(JSON.stringify(text)) + 1);
}

function spend(room: { bytes: number }, bytes: number): string | null {
  room.bytes -= bytes;
  return room.bytes < 0 ? tooLarge() : null;
}

function tooLarge(): string {
  return `must have at most ${MAX_FRONTMATTER_BYTES} bytes as JSON`;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return value !== null && typeof value === 'object' && !Array.isArray(value);
}

/** Any JSON object within the limits. Taken as it is: a schema for each value would only copy it. */
export const NoteFrontmatter = z
  .unknown()
  .superRefine((value, context) => {
    const fault = frontmatterFault(value);
    if (fault) context.addIssue({ code: 'custom', message: fault });
  })
  .meta({ type: 'object', additionalProperties: true }) as unknown as z.ZodType<Record<string, unknown>>;
