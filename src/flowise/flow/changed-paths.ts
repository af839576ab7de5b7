import { hideSecretsInText } from '../../kernel/secret-text.ts';
import { differingFields, same } from './same.ts';

/** A place inside a value, such as `llmModelConfig.modelName` or `messages[0].content`, and what stands there. */
export interface PathChange {
  name: string;
  before: unknown;
  after: unknown;
}

interface Sides {
  before: unknown;
  after: unknown;
}

const DEEPEST = 8;
/** What changed in more places than that is told as a whole. */
const MOST_PATHS = 40;

/**
 * Where inside a value something changed: the names on the way to it, rather than both values whole. Compared is what
 * is really there, told is the hidden copy; so a changed secret has a line too, with nothing of it on either side.
 */
export function changedPaths(name: string, real: Sides, hidden: Sides): PathChange[] {
  const paths: PathChange[] = [];
  collect(name, real, hidden, 0, paths);
  return paths.length > MOST_PATHS ? [told(name, hidden)] : paths;
}

function collect(name: string, real: Sides, hidden: Sides, depth: number, paths: PathChange[]): void {
  if (paths.length > MOST_PATHS) return;
  const steps = depth < DEEPEST ? stepsInto(real, hidden) : null;
  if (steps === null) {
    paths.push(told(name, hidden));
    return;
  }
  for (const { key, index } of steps) {
    const inside = (sides: Sides) => ({ before: valueAt(sides.before, key), after: valueAt(sides.after, key) });
    collect(index ? `${name}[${key}]` : `${name}.${key}`, inside(real), inside(hidden), depth + 1, paths);
  }
}

/** Where to go on; null when this is told as it stands. A name that holds a secret is not the same in both copies. */
function stepsInto(real: Sides, hidden: Sides): { key: string; index: boolean }[] | null {
  const all = [real.before, real.after, hidden.before, hidden.after];
  if (all.every(Array.isArray)) {
    const [old, now] = [real.before as unknown[], real.after as unknown[]];
    if (old.length !== now.length) return null;
    return now.flatMap((item, at) => (same(old[at], item) ? [] : [{ key: String(at), index: true }]));
  }
  if (!all.every(isRecord)) return null;
  const keys = differingFields(real.before as Record<string, unknown>, real.after as Record<string, unknown>);
  if (keys.some((key) => hideSecretsInText(key) !== key)) return null;
  return keys.map((key) => ({ key, index: false }));
}

function valueAt(holder: unknown, key: string): unknown {
  return Object.hasOwn(holder as object, key) ? (holder as Record<string, unknown>)[key] : undefined;
}

/** Null for what is not set. */
function told(name: string, { before, after }: Sides): PathChange {
  return { name: hideSecretsInText(name), before: before ?? null, after: after ?? null };
}

function isRecord(value: unknown): boolean {
  return value !== null && typeof value === 'object' && !Array.isArray(value);
}
