import type * as z from 'zod';
import { badRequest } from '../kernel/errors.ts';
import { issuesOf } from './issues.ts';
import type { AnyOperation } from './operation.ts';

/** Deeper than any input needs; what recurses over an input may count on it. */
const MAX_DEPTH = 64;

/** Checks an input against the operation's schema; every problem is reported, not only the first. */
export function parseInput(operation: AnyOperation, raw: unknown): unknown {
  if (operation.effect !== 'read') assertShallow(raw, operation.name);
  const given = operation.effect === 'read' ? withoutBlanks(raw) : raw;
  const parsed = (operation.input as z.ZodObject).safeParse(given);
  if (!parsed.success) throw badRequest(issuesOf(parsed.error), operation.name);
  return parsed.data;
}

/** Level by level, not by recursion, which is what a deep input would break. */
export function assertShallow(raw: unknown, subject: string): void {
  let level: unknown[] = [raw];
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > MAX_DEPTH) {
      throw badRequest(
        [{ code: 'too_deep', message: `the input is nested deeper than ${MAX_DEPTH} levels`, path: '' }],
        subject,
      );
    }
    const below: unknown[] = [];
    for (const value of level) {
      if (value === null || typeof value !== 'object') continue;
      for (const child of Object.values(value)) if (child !== null && typeof child === 'object') below.push(child);
    }
    level = below;
  }
}

/** In a read, an empty text is the same as leaving the field out: `?scope=` asks for nothing in particular. */
function withoutBlanks(raw: unknown): unknown {
  if (raw === null || typeof raw !== 'object' || Array.isArray(raw)) return raw;
  const record = raw as Record<string, unknown>;
  for (const key in record) {
    if (record[key] === '') return Object.fromEntries(Object.entries(record).filter(([, text]) => text !== ''));
  }
  return raw;
}

/**
 * Query strings and command lines only have text. Each value becomes what its field wants where that is unmistakable,
 * and stays as it is otherwise, so that the schema can refuse it with the same words at every door.
 */
export function decodeText(schema: z.ZodObject, texts: Record<string, unknown>): Record<string, unknown> {
  const decoded: Record<string, unknown> = {};
  for (const key of Object.keys(texts)) {
    const field = Object.hasOwn(schema.shape, key) ? schema.shape[key] : undefined;
    const value = decodeField(unwrap(field), texts[key]);
    // Assigning this one name would set a prototype; it must stay a key, so that the schema refuses it.
    if (key === '__proto__') Object.defineProperty(decoded, key, { value, enumerable: true });
    else decoded[key] = value;
  }
  return decoded;
}

function decodeField(field: z.ZodType | undefined, text: unknown): unknown {
  if (typeof text !== 'string') return text;
  const type = baseType(field);
  if (type === 'array') return decodeList(field as z.ZodArray, text);
  if (type === 'number' && /^-?\d{1,15}$/.test(text)) return Number(text);
  if (type === 'boolean' && (text === 'true' || text === 'false')) return text === 'true';
  if ((type === 'record' || type === 'object' || type === 'unknown') && text.startsWith('{')) return decodeJson(text);
  return text;
}

/** A JSON list, or items with commas between them. What only looks like JSON can still be a list of words. */
function decodeList(field: z.ZodArray, text: string): unknown {
  const list = text.startsWith('[') ? decodeJson(text) : undefined;
  if (Array.isArray(list)) return list;
  if (list !== undefined && baseType(field.element) !== 'string') return text;
  return text.split(',').map((item) => item.trim());
}

/** Text that is not JSON stays text, for the schema to refuse. */
function decodeJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** number, boolean, array, enum …: what lies beneath optional and default. */
export function baseType(field: unknown): string | undefined {
  return unwrap(field)?._zod.def.type;
}

/** The field itself, without optional, nullable and default around it. */
export function unwrap(field: unknown): z.ZodType | undefined {
  let current = field as z.ZodType | undefined;
  while (current && 'innerType' in current._zod.def) current = current._zod.def.innerType as z.ZodType;
  return current;
}
