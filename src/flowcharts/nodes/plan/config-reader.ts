import type { Issue } from '../../../kernel/errors.ts';
import { wholeNumber } from '../common-config.ts';

export type Json = Record<string, unknown>;

const MAX_TEXT = 20_000;
const FLAGS = new Map([
  ...['1', 'true', 'yes', 'on'].map((word) => [word, true] as const),
  ...['0', 'false', 'no', 'off'].map((word) => [word, false] as const),
]);

/** Reads the keys of a config one by one and keeps a list of what is wrong with them. */
export interface ConfigReader {
  issues: Issue[];
  refuse(key: string, message: string): void;
  /** A word by itself or one of its other names; undefined when blank or unknown. */
  word<T extends string>(key: string, names: ReadonlyMap<string, T>): T | undefined;
  text(key: string): string;
  flag(key: string, fallback: boolean): boolean;
  number(key: string, fallback: number, bounds: { minimum: number; maximum: number }): number;
  object(key: string): Json | undefined;
}

export function configReader(raw: Json, code: string): ConfigReader {
  const issues: Issue[] = [];
  const refuse = (key: string, message: string) => void issues.push({ code, message, path: `/${key}` });
  return {
    issues,
    refuse,
    word: (key, names) => {
      if (isBlank(raw[key])) return undefined;
      const found = names.get(String(raw[key]).trim().toLowerCase());
      if (found === undefined) refuse(key, `must be one of ${[...new Set(names.values())].join(', ')}`);
      return found;
    },
    text: (key) => {
      const value = raw[key] ?? '';
      if (typeof value !== 'string') refuse(key, 'must be a text');
      else if (value.length > MAX_TEXT) refuse(key, `must have at most ${MAX_TEXT} characters`);
      else if (/\0|\p{Cs}/u.test(value)) refuse(key, 'must not hold NUL or half a character');
      else return value.trim();
      return '';
    },
    flag: (key, fallback) => {
      if (isBlank(raw[key])) return fallback;
      const flag = flagOf(raw[key]);
      if (flag === undefined) refuse(key, 'must be true or false');
      return flag ?? fallback;
    },
    number: (key, fallback, { minimum, maximum }) => {
      if (isBlank(raw[key])) return fallback;
      const number = wholeNumber(raw[key]);
      if (number === null) refuse(key, 'must be a whole number');
      return Math.min(maximum, Math.max(minimum, number ?? fallback));
    },
    object: (key) => {
      const value = raw[key];
      if (isBlank(value)) return undefined;
      if (isObject(value)) return value;
      refuse(key, 'must be an object');
      return undefined;
    },
  };
}

export function names<T extends string>(aliases: Record<T, readonly string[]>): ReadonlyMap<string, T> {
  const entries = Object.entries(aliases) as [T, readonly string[]][];
  return new Map(entries.flatMap(([word, others]) => [word, ...others].map((each) => [each, word] as const)));
}

export function flagOf(value: unknown): boolean | undefined {
  if (typeof value === 'boolean') return value;
  if (typeof value !== 'string' && typeof value !== 'number') return undefined;
  return FLAGS.get(String(value).trim().toLowerCase());
}

export function isObject(value: unknown): value is Json {
  return value !== null && typeof value === 'object' && !Array.isArray(value);
}

export function isBlank(value: unknown): boolean {
  return value === undefined || value === null || (typeof value === 'string' && value.trim() === '');
}
