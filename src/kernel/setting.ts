/** What a setting is, and the kinds of values there are. Pure. */
export interface Setting<T> {
  env: string;
  /** An older name of the same variable. */
  alias?: string;
  default: T;
  /** The value, or a sentence fragment that says what it must be. */
  parse(raw: unknown): { value: T } | { must: string };
  summary: string;
  secret?: boolean;
  /** How to show a value that is not secret as a whole. */
  show?(value: T): unknown;
}

export type Parsed<T> = { value: T } | { must: string };

export const text =
  (must: string, accepts: (text: string) => boolean) =>
  (raw: unknown): Parsed<string> =>
    typeof raw === 'string' && accepts(raw) ? { value: raw } : { must };

export function integer(minimum: number, maximum: number) {
  return (raw: unknown): Parsed<number> => {
    const number = typeof raw === 'string' && /^\d+$/.test(raw) ? Number(raw) : raw;
    const fits = typeof number === 'number' && Number.isInteger(number) && number >= minimum && number <= maximum;
    return fits ? { value: number } : { must: `be a whole number from ${minimum} to ${maximum}` };
  };
}

export function flag(raw: unknown): Parsed<boolean> {
  if (raw === true || raw === 'true' || raw === '1') return { value: true };
  if (raw === false || raw === 'false' || raw === '0') return { value: false };
  return { must: 'be true or false' };
}

export function words(allowed?: readonly string[]) {
  return (raw: unknown): Parsed<string[]> => {
    const list = typeof raw === 'string' ? raw.split(',').map((word) => word.trim()) : raw;
    const fits = Array.isArray(list) && list.every((word) => typeof word === 'string' && word !== '');
    if (!fits || (allowed && !list.every((word) => allowed.includes(word)))) {
      return { must: allowed ? `be a list of ${allowed.join(', ')}` : 'be a list of words' };
    }
    return { value: list };
  };
}

export function optional<T>(parse: (raw: unknown) => Parsed<T>) {
  return (raw: unknown): Parsed<T | null> => (raw === null || raw === '' ? { value: null } : parse(raw));
}

export const httpAddress = text('be an http:// or https:// address', (value) => /^https?:\/\/[^\s/]+/.test(value));

export function setting<T>(definition: Setting<T>): Setting<T> {
  return definition;
}
