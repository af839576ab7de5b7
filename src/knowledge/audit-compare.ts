import type { NodeSchema } from '../flowise/index.ts';
import { stableStringify } from '../kernel/canonical-json.ts';

export const VERDICTS = ['PASS', 'MINOR', 'MAJOR', 'CRITICAL'] as const;
export type Verdict = (typeof VERDICTS)[number];

export interface Difference {
  /** Where: /version, /input_params/modelName/default, … */
  path: string;
  kind: 'missing' | 'extra' | 'changed' | 'order';
  severity: Exclude<Verdict, 'PASS'>;
  /** JSON text, shortened; null where there is nothing. */
  snapshot: string | null;
  live: string | null;
}

export interface Comparison {
  differences: Difference[];
  /** Sentences that are worded otherwise; nothing depends on them. */
  texts: number;
}

type Fields = Record<string, unknown>;

/** Sentences for people. They may differ: the ones that come with the program are ours. */
const TEXTS = new Set([
  'description',
  'hint',
  'warning',
  'placeholder',
  'deprecateMessage',
  'documentation',
  'codeExample',
]);
/** What only changes how a field looks. */
const LOOKS = new Set(['label', 'rows', 'step', 'color', 'badge', 'tags', 'author', 'category', 'additionalParams']);
const PARTS = ['input_anchors', 'input_params', 'output_anchors'] as const;
const NOT_COMPARED = new Set<string>([...PARTS, 'node_type', 'own_defaults']);
/** Lists of records that are fields of a field. */
const NESTED = new Set(['options', 'array', 'tabs']);
const MAX_SHOWN = 120;

/** Every field that the compiler or the canvas uses, of what is known and of what the server says. */
export function compareNodes(known: NodeSchema, live: NodeSchema): Comparison {
  const comparison: Comparison = { differences: [], texts: 0 };
  compareFields(comparison, '', asFields(known), asFields(live), NOT_COMPARED, new Set());
  const ours = new Set([...(known.own_defaults ?? []), ...(live.own_defaults ?? [])]);
  for (const part of PARTS) {
    compareLists(comparison, `/${part}`, known[part] as Fields[], live[part] as Fields[], ours);
  }
  if (known.output_anchors.length === 0 && live.output_anchors.length > 0) {
    comparison.differences.push(difference('/output_anchors', 'missing', 'CRITICAL', [], live.output_anchors));
  }
  return comparison;
}

export function worst(differences: readonly Difference[]): Verdict {
  const ranks = differences.map(({ severity }) => VERDICTS.indexOf(severity));
  return VERDICTS[Math.max(0, ...ranks)] as Verdict;
}

function compareFields(
  into: Comparison,
  path: string,
  known: Fields,
  live: Fields,
  except: ReadonlySet<string>,
  ours: ReadonlySet<string>,
): void {
  for (const key of new Set([...Object.keys(known), ...Object.keys(live)])) {
    if (except.has(key) || isEqual(known[key], live[key])) continue;
    if (TEXTS.has(key)) {
      into.texts += 1;
      continue;
    }
    const place = `${path}/${key}`;
    if (NESTED.has(key) && isRecords(known[key]) && isRecords(live[key])) {
      compareLists(into, place, known[key], live[key], ours);
    } else if (key === 'credential' && isRecord(known[key]) && isRecord(live[key])) {
      compareFields(into, place, known[key], live[key], new Set(), ours);
    } else if (key === 'default' && typeof known.name === 'string' && ours.has(known.name)) {
      into.texts += 1;
    } else {
      const kind = known[key] === undefined ? 'missing' : live[key] === undefined ? 'extra' : 'changed';
      into.differences.push(difference(place, kind, LOOKS.has(key) ? 'MINOR' : 'MAJOR', known[key], live[key]));
    }
  }
}

/** By name, and by which of that name: a name may occur twice in one node, each shown under another condition. */
function compareLists(
  into: Comparison,
  path: string,
  known: Fields[],
  live: Fields[],
  ours: ReadonlySet<string>,
): void {
  const left = keyed(known);
  const right = keyed(live);
  for (const [key, entry] of left) {
    const other = right.get(key);
    if (other) compareFields(into, `${path}/${key}`, entry, other, new Set(), ours);
    else into.differences.push(difference(`${path}/${key}`, 'extra', 'MAJOR', entry, undefined));
  }
  for (const [key, entry] of right) {
    if (!left.has(key)) into.differences.push(difference(`${path}/${key}`, 'missing', 'MAJOR', undefined, entry));
  }
  const common = (one: ReadonlyMap<string, Fields>, other: ReadonlyMap<string, Fields>) =>
    [...one.keys()].filter((key) => other.has(key));
  const order = [common(left, right), common(right, left)] as const;
  if (!isEqual(order[0], order[1])) into.differences.push(difference(path, 'order', 'MINOR', order[0], order[1]));
}

function keyed(entries: readonly Fields[]): Map<string, Fields> {
  const seen = new Map<string, number>();
  return new Map(
    entries.map((entry) => {
      const name = String(entry.name ?? '');
      const nth = (seen.get(name) ?? 0) + 1;
      seen.set(name, nth);
      return [nth === 1 ? name : `${name}#${nth}`, entry];
    }),
  );
}

function difference(
  path: string,
  kind: Difference['kind'],
  severity: Difference['severity'],
  known: unknown,
  live: unknown,
): Difference {
  return { path, kind, severity, snapshot: shown(known), live: shown(live) };
}

function shown(value: unknown): string | null {
  if (value === undefined) return null;
  const text = JSON.stringify(value) ?? 'null';
  return text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text;
}

function asFields(node: NodeSchema): Fields {
  return node as unknown as Fields;
}

function isRecord(value: unknown): value is Fields {
  return value !== null && typeof value === 'object' && !Array.isArray(value);
}

function isRecords(value: unknown): value is Fields[] {
  return Array.isArray(value) && value.every(isRecord);
}

function isEqual(left: unknown, right: unknown): boolean {
  return (
    left === right || (left !== undefined && right !== undefined && stableStringify(left) === stableStringify(right))
  );
}
