import { MAX_DESCRIPTION, MAX_NAME, MAX_POSITION } from './plan-tree.ts';

export type Json = Record<string, unknown>;

/** Why a patch cannot be applied. Nothing of it is. */
export class PlanPatchError extends Error {
  readonly code: string;
  /** JSON pointer into the patch. */
  readonly path: string;

  constructor(code: string, message: string, path: string) {
    super(message);
    this.name = 'PlanPatchError';
    this.code = code;
    this.path = path;
  }
}

/** One object of a patch and where it stands: what it says, checked as it is read. */
export interface Entry {
  path: string;
  values: Json;
}

/** Line breaks and other control characters in a name would tear lists and terminals apart. */
const ONE_LINE = /^[^\p{Cc}\p{Cs}\u2028\u2029]*$/u;
const STORABLE = /^[^\p{Cs}\0]*$/u;

export function isObject(value: unknown): value is Json {
  return value !== null && typeof value === 'object' && !Array.isArray(value);
}

/** The objects of a list; left out, there are none. */
export function entriesAt(entry: Entry, key: 'stages' | 'tasks'): Entry[] {
  const list = entry.values[key];
  const path = `${entry.path}/${key}`;
  if (list === undefined) return [];
  if (!Array.isArray(list)) throw new PlanPatchError('invalid_type', `\`${key}\` must be a list`, path);
  return list.map((values, at) => {
    if (isObject(values)) return { values, path: `${path}/${at}` };
    throw new PlanPatchError('invalid_type', `each of \`${key}\` must be an object`, `${path}/${at}`);
  });
}

/** `stage_id`, or the shorter `id` inside an entry that can mean nothing else. */
export function idOf({ values, path }: Entry, ...keys: string[]): number | null {
  for (const key of keys) {
    const id = values[key];
    if (id === undefined || id === null) continue;
    const number = typeof id === 'string' && /^\d{1,15}$/.test(id) ? Number(id) : id;
    if (typeof number === 'number' && Number.isSafeInteger(number) && number >= 1) return number;
    throw new PlanPatchError('invalid_value', `\`${key}\` must be the number of a row`, `${path}/${key}`);
  }
  return null;
}

export function keyAt({ values, path }: Entry, key: 'stage_key' | 'task_key'): string | null {
  const text = values[key];
  if (text === undefined || text === null) return null;
  if (typeof text !== 'string') {
    throw new PlanPatchError('invalid_type', `\`${key}\` must be a text`, `${path}/${key}`);
  }
  return text.trim() === '' ? null : text;
}

export function nameOf(entry: Entry, what: string): string {
  const name = optionalName(entry);
  if (name !== undefined) return name;
  throw new PlanPatchError('name_required', `${what} needs a \`name\``, `${entry.path}/name`);
}

export function optionalName({ values, path }: Entry): string | undefined {
  const { name } = values;
  if (name === undefined) return undefined;
  const text = typeof name === 'string' ? name.trim() : '';
  if (text === '') throw new PlanPatchError('name_required', '`name` must be a text that is not blank', `${path}/name`);
  if (text.length > MAX_NAME || !ONE_LINE.test(text)) {
    const message = `\`name\` must be one line of at most ${MAX_NAME} characters`;
    throw new PlanPatchError('invalid_value', message, `${path}/name`);
  }
  return text;
}

/** null clears, and so does a blank text; undefined leaves it alone. */
export function descriptionOf({ values, path }: Entry): string | null | undefined {
  const { description } = values;
  if (description === undefined || description === null) return description;
  if (typeof description !== 'string' || description.length > MAX_DESCRIPTION || !STORABLE.test(description)) {
    const message = `\`description\` must be a text of at most ${MAX_DESCRIPTION} characters`;
    throw new PlanPatchError('invalid_value', message, `${path}/description`);
  }
  return description.trim() === '' ? null : description;
}

export function positionOf({ values, path }: Entry): number | undefined {
  const { position } = values;
  if (position === undefined || position === null) return undefined;
  const isPlace = typeof position === 'number' && Number.isInteger(position);
  if (isPlace && position >= 1 && position <= MAX_POSITION) return position;
  const message = `\`position\` must be a whole number from 1 to ${MAX_POSITION}`;
  throw new PlanPatchError('invalid_value', message, `${path}/position`);
}

const WORDS: Record<string, boolean> = {
  true: true,
  yes: true,
  on: true,
  '1': true,
  false: false,
  no: false,
  off: false,
  '0': false,
};

/** A model may well write "yes"; anything that is neither a yes nor a no is refused rather than guessed. */
export function completedOf({ values, path }: Entry): boolean | undefined {
  const { completed } = values;
  if (completed === undefined || typeof completed === 'boolean') return completed;
  const word =
    typeof completed === 'string' || typeof completed === 'number'
      ? WORDS[String(completed).trim().toLowerCase()]
      : undefined;
  if (word !== undefined) return word;
  throw new PlanPatchError('invalid_type', '`completed` must be true or false', `${path}/completed`);
}
