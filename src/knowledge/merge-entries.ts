import { stableStringify } from '../kernel/canonical-json.ts';

export interface Merged<T> {
  /** Known ones in their order, brought up to date, then new ones. What the server has no more stays. */
  items: T[];
  added: string[];
  changed: { id: string; fields: string[] }[];
  removed: string[];
}

/** What is known and what a server lists now, as one. */
export function mergeEntries<T extends object>(
  known: readonly T[],
  listed: readonly T[],
  idOf: (entry: T) => string,
): Merged<T> {
  const fresh = new Map(listed.map((entry) => [idOf(entry), entry]));
  const knownIds = new Set(known.map(idOf));
  const pairs = known.map((entry) => ({ entry, now: fresh.get(idOf(entry)) }));
  const changed = pairs.flatMap(({ entry, now }) => {
    const fields = now ? changedFields(entry, now) : [];
    return fields.length > 0 ? [{ id: idOf(entry), fields }] : [];
  });
  const added = [...fresh.values()].filter((entry) => !knownIds.has(idOf(entry)));
  return {
    items: [...pairs.map(({ entry, now }) => now ?? entry), ...added],
    added: added.map(idOf),
    changed,
    removed: pairs.filter(({ now }) => !now).map(({ entry }) => idOf(entry)),
  };
}

function changedFields(before: object, after: object): string[] {
  const left = before as Record<string, unknown>;
  const right = after as Record<string, unknown>;
  const fields = [...new Set([...Object.keys(left), ...Object.keys(right)])];
  return fields.filter((field) => stableStringify(left[field]) !== stableStringify(right[field]));
}
