import { asRecord } from './action.ts';

/** A schema larger than this helps nobody; what is beyond stays a reference. */
const MAX_PLACES = 2_000;
const MAX_DEPTH = 40;

/**
 * A value with its local references put in place. One that leads back to itself, that leaves the document or that would
 * make it too large stays what it is.
 */
export function resolveRefs(document: unknown, value: unknown): unknown {
  let places = 0;
  const resolve = (current: unknown, within: readonly string[], depth: number): unknown => {
    places += 1;
    if (current === null || typeof current !== 'object') return current;
    if (depth > MAX_DEPTH) return {};
    if (Array.isArray(current)) return current.map((member) => resolve(member, within, depth + 1));
    const record = current as Record<string, unknown>;
    const { $ref: ref, ...beside } = record;
    if (typeof ref === 'string') {
      const target = within.includes(ref) || places > MAX_PLACES ? undefined : targetOf(document, ref);
      if (target === undefined) return { $ref: ref };
      const resolved = resolve(target, [...within, ref], depth + 1);
      const more = resolve(beside, within, depth + 1) as Record<string, unknown>;
      return asRecord(resolved) && Object.keys(more).length > 0 ? { ...asRecord(resolved), ...more } : resolved;
    }
    return Object.fromEntries(Object.entries(record).map(([key, member]) => [key, resolve(member, within, depth + 1)]));
  };
  return resolve(value, [], 0);
}

function targetOf(document: unknown, ref: string): unknown {
  if (!ref.startsWith('#/')) return undefined;
  let current: unknown = document;
  for (const step of ref.slice(2).split('/')) {
    const key = decode(step);
    const record = asRecord(current) ?? (Array.isArray(current) ? current : null);
    if (record === null || !Object.hasOwn(record, key)) return undefined;
    current = (record as Record<string, unknown>)[key];
  }
  return current;
}

function decode(step: string): string {
  try {
    return decodeURIComponent(step).replaceAll('~1', '/').replaceAll('~0', '~');
  } catch {
    return step;
  }
}
