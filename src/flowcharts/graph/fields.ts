import type { Issue } from '../../kernel/errors.ts';
import { MAX_COORDINATE } from './limits.ts';

type Json = Record<string, unknown>;

const ONE_LINE = /^[^\p{Cc}\p{Cs}\u2028\u2029]*$/u;
/** Ids are 64-bit in the database, and numbers on the wire. */
const INTEGER_TEXT = /^\d{1,15}$/;

/** Reads the fields of one object of a graph and collects what is wrong with them, each with its place. */
export interface Fields {
  has(key: string): boolean;
  value(key: string): unknown;
  fault(code: string, key: string, message: string): void;
  refuseOthers(known: ReadonlySet<string>): void;
  /** A positive whole number, also as text; null when absent, null or wrong. */
  id(key: string): number | null;
  coordinate(key: string): number;
  /** One line, trimmed; blank is null. */
  line(key: string, maximum: number): string | null;
  /** A list of ids, each once; undefined when absent. */
  ids(key: string, maximum: number): number[] | undefined;
}

export function fieldsOf(record: Json, at: string, issues: Issue[]): Fields {
  const value = (key: string): unknown => (Object.hasOwn(record, key) ? record[key] : undefined);
  const fault = (code: string, key: string, message: string): void => {
    issues.push({ code, message, path: key === '' ? at : `${at}/${key}` });
  };
  return {
    value,
    fault,
    has: (key) => value(key) !== undefined,
    refuseOthers: (known) => {
      for (const key of Object.keys(record)) {
        if (!known.has(key)) fault('unknown_key', pointerPart(key), 'is not a known key');
      }
    },
    id: (key) => {
      const given = value(key);
      if (given === undefined || given === null) return null;
      const id = positiveId(given);
      if (id === null) fault('field_not_integer', key, 'must be a whole number of at least 1');
      return id;
    },
    coordinate: (key) => {
      const given = value(key);
      if (given === undefined || given === null) return 0;
      // Minus zero is written as zero, and must be read back as what it was.
      if (typeof given === 'number' && Math.abs(given) <= MAX_COORDINATE) return given + 0;
      fault('field_not_number', key, `must be a number within ${MAX_COORDINATE} of 0`);
      return 0;
    },
    line: (key, maximum) => {
      const given = value(key);
      if (given === undefined || given === null) return null;
      if (typeof given === 'string' && given.trim().length <= maximum && ONE_LINE.test(given))
        return given.trim() || null;
      fault('text_invalid', key, `must be one line of at most ${maximum} characters without control characters`);
      return null;
    },
    ids: (key, maximum) => {
      const given = value(key);
      if (given === undefined) return undefined;
      if (!Array.isArray(given) || given.length > maximum) {
        fault('binding_ids_invalid', key, `must be a list of at most ${maximum} ids`);
        return [];
      }
      const ids: number[] = [];
      for (const [place, item] of given.entries()) {
        const id = positiveId(item);
        if (id === null) fault('binding_ids_invalid', `${key}/${place}`, 'must be a whole number of at least 1');
        else if (ids.includes(id)) fault('binding_ids_invalid', `${key}/${place}`, `names ${id} again`);
        else ids.push(id);
      }
      return ids;
    },
  };
}

export function positiveId(value: unknown): number | null {
  const id = typeof value === 'string' && INTEGER_TEXT.test(value.trim()) ? Number(value) : value;
  return typeof id === 'number' && Number.isSafeInteger(id) && id >= 1 ? id : null;
}

export function isObject(value: unknown): value is Json {
  return value !== null && typeof value === 'object' && !Array.isArray(value);
}

function pointerPart(key: string): string {
  return key.slice(0, 100).replaceAll('~', '~0').replaceAll('/', '~1');
}
