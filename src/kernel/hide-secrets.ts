import { holdsHeaders, isSecretField, isSecretHeader } from './secret-fields.ts';
import { hideSecretsInText, isReference } from './secret-text.ts';
import { REDACTED } from './secrets.ts';

/** How deep we look; what lies deeper is cut, because hiding nothing there would be a way out. */
const MAX_DEPTH = 64;
const LONGEST_JSON = 4_000_000;

interface Place {
  /** The name says secret. */
  secret: boolean;
  /** Inside headers, where a name is a header's. */
  headers: boolean;
  depth: number;
}

/**
 * A copy of a JSON value without its secrets: those that a name tells (`apiKey`, a pair of `key` and `value`, the word
 * after `--token`), those that their shape tells, also inside JSON texts, headers and code. Numbers and switches stay,
 * and so do references such as `{{$vars.key}}`.
 */
export function hideSecretsIn(value: unknown, field: { name?: string; secret?: boolean } = {}): unknown {
  const name = field.name ?? '';
  return hide(value, { secret: field.secret ?? isSecretField(name), headers: holdsHeaders(name), depth: 0 });
}

/** Does a value that is about to be written hold what stands for a hidden secret? */
export function containsPlaceholder(value: unknown): boolean {
  const waiting: unknown[] = [value];
  while (waiting.length > 0) {
    const next = waiting.pop();
    if (typeof next === 'string') {
      if (next.includes(REDACTED)) return true;
    } else if (next !== null && typeof next === 'object') {
      for (const [key, child] of Object.entries(next)) {
        if (key.includes(REDACTED)) return true;
        waiting.push(child);
      }
    }
  }
  return false;
}

function hide(value: unknown, place: Place): unknown {
  if (typeof value === 'string') return hideString(value, place);
  if (value === null || typeof value !== 'object') return value;
  if (place.depth >= MAX_DEPTH) return REDACTED;
  const inside = { ...place, depth: place.depth + 1 };
  if (Array.isArray(value)) {
    return value.map((item, at) => hide(item, followsFlag(value, at) ? { ...inside, secret: true } : inside));
  }
  return hideObject(value as Record<string, unknown>, inside);
}

/** `["--api-key", "abc"]`, as programs are given their arguments. */
function followsFlag(list: readonly unknown[], at: number): boolean {
  const before = list[at - 1];
  return typeof before === 'string' && /^--?[A-Za-z]/.test(before) && isSecretField(before);
}

/** Inside an object whose name says secret, what tells about it stays readable: the schema of an argument does. */
const ABOUT_IT = new Set(['type', 'description', 'title', 'format', 'label', 'name', 'key', 'placeholder', 'required']);
const PAIR_NAMES = ['key', 'name', 'header', 'property', 'field'];

function hideObject(record: Record<string, unknown>, place: Place): Record<string, unknown> {
  const pair = Object.hasOwn(record, 'value') ? PAIR_NAMES.find((each) => typeof record[each] === 'string') : undefined;
  const entries = Object.entries(record).map(([key, child]) => {
    const name = key === 'value' && pair !== undefined ? (record[pair] as string) : key;
    const secret =
      isSecretField(name) || (place.headers && isSecretHeader(name)) || (place.secret && !ABOUT_IT.has(key));
    const headers = place.headers || holdsHeaders(key);
    return [hideSecretsInText(key), hide(child, { secret, headers, depth: place.depth })] as const;
  });
  // Not by assignment: a key `__proto__` has to stay a key.
  return Object.fromEntries(entries);
}

function hideString(text: string, place: Place): string {
  if (text === '') return text;
  if (place.secret) return isReference(text) ? hideSecretsInText(text) : REDACTED;
  const json = hideInJson(text, place);
  if (json !== null) return hideSecretsInText(json);
  if (place.headers) return hideSecretsInText(hideHeaderLines(text));
  return hideSecretsInText(text);
}

/** Null when it is no JSON; the text itself, spaces and all, when nothing in it had to be hidden. */
function hideInJson(text: string, place: Place): string | null {
  if (!/^\s*[{[]/.test(text) || text.length > LONGEST_JSON) return null;
  const parsed = parsedOrUndefined(text);
  if (parsed === undefined) return null;
  const hidden = JSON.stringify(hide(parsed, place));
  if (hidden === textOrNull(parsed)) return text;
  return text.includes('\n') ? JSON.stringify(JSON.parse(hidden), null, 2) : hidden;
}

function parsedOrUndefined(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Null for what is nested deeper than writing it allows; the hidden copy was cut long before. */
function textOrNull(value: unknown): string | null {
  try {
    return JSON.stringify(value);
  } catch {
    return null;
  }
}

const HEADER_LINE = /^([ \t]*)([A-Za-z][\w-]{0,100})([ \t]*:[ \t]*)(\S.*)$/gm;
/** Long, without a space, letters and digits: made by a machine to be kept. */
const OPAQUE = /^(?!(?:application|text|image|audio|video|multipart)\/)(?=.*\d)(?=.*[A-Za-z])[A-Za-z0-9+/_=.~-]{20,}$/;

function hideHeaderLines(text: string): string {
  if (OPAQUE.test(text)) return REDACTED;
  return text.replace(HEADER_LINE, (whole, indent: string, name: string, colon: string, value: string) => {
    const hidden = isSecretHeader(name) || OPAQUE.test(value.trim());
    return hidden && !isReference(value) ? `${indent}${name}${colon}${REDACTED}` : whole;
  });
}
