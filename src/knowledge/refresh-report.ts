import { inertLine } from '../kernel/terminal.ts';

export const PARTS = ['nodes', 'templates', 'credentials', 'workday_mcp', 'workday_api'] as const;
export type Part = (typeof PARTS)[number];

export const OUTCOMES = [
  'written',
  'unchanged',
  'would_change',
  'valid',
  'invalid',
  'not_implemented',
  'failed',
] as const;
export type Outcome = (typeof OUTCOMES)[number];

export interface PartIssue {
  code: string;
  message: string;
  /** JSON pointer into the snapshot, or the line of the reference. */
  path: string;
}

export interface PartReport {
  part: Part;
  outcome: Outcome;
  /** For people, in the form that logs and CI look for. */
  line: string;
  items: number;
  new: string[];
  changed: { name: string; fields: string[] }[];
  /** Gone from the server; kept, listed in the meta file and not used. */
  removed: string[];
  /** Entries of which sentences alone are different. */
  texts: number;
  issues: PartIssue[];
  error?: { code: string; message: string };
  /** Where the reference was written. */
  reference?: string;
}

/** What a refresh found, before it is put into words. */
export interface Findings {
  /** Items that were known before. */
  known: number;
  /** Items that are kept now. */
  items: number;
  listed: number;
  /** Where they are listed: the API, the reference, a file. */
  listedIn: string;
  new: string[];
  changed: { name: string; fields: string[] }[];
  removed: string[];
  /** Entries of which sentences alone are different. */
  texts: number;
}

/** What became of the file. */
export interface Settled {
  outcome: 'written' | 'unchanged' | 'would_change';
  /** The snapshot holds, byte for byte, what was known before. */
  isSameBytes: boolean;
}

const LABEL_WIDTH = '[credentials] '.length;
const MAX_NAMES = 10;
const NOT_IMPLEMENTED = 'Workday knowledge refresh not yet implemented';

/** Names of people's things are quoted, as are those of templates; a node type is a word. */
const IS_QUOTED: Record<Part, boolean> = {
  nodes: false,
  templates: true,
  credentials: true,
  workday_mcp: false,
  workday_api: false,
};

export function refreshed(part: Part, { outcome, isSameBytes }: Settled, found: Findings): PartReport {
  const { items, new: added, changed, removed, texts } = found;
  return {
    part,
    outcome,
    line: labelled(part, diffWords(part, found, isSameBytes)),
    items,
    new: added,
    changed,
    removed,
    texts,
    issues: [],
  };
}

export function notImplemented(part: Part): PartReport {
  return { ...nothing(part), outcome: 'not_implemented', line: NOT_IMPLEMENTED };
}

export function failed(part: Part, error: { code: string; message: string }): PartReport {
  const words = `failed: ${inertLine(error.message)} (${error.code}). What was known before is kept.`;
  return { ...nothing(part), outcome: 'failed', line: labelled(part, words), error };
}

export function linted(part: Part, items: number | null, issues: PartIssue[]): PartReport {
  const shown = issues.slice(0, MAX_NAMES).map(({ message, path }) => inertLine(`${path} ${message}`.trim()));
  const count = `${issues.length} ${issues.length === 1 ? 'problem' : 'problems'}`;
  const isValid = issues.length === 0;
  const fine = items === null ? 'no snapshot yet, nothing to check' : `${counted(items)} — valid`;
  const words = isValid ? fine : `${count}: ${shown.join('; ')}${more(issues.length)}`;
  const outcome = isValid ? 'valid' : 'invalid';
  return { ...nothing(part), outcome, line: labelled(part, words), items: items ?? 0, issues };
}

function nothing(part: Part): Omit<PartReport, 'outcome' | 'line'> {
  return { part, items: 0, new: [], changed: [], removed: [], texts: 0, issues: [] };
}

/** `[nodes]       142 items in snapshot, 145 in API — 3 new: a, b, c` */
function diffWords(part: Part, found: Findings, isSameBytes: boolean): string {
  const { new: added, changed, removed, texts, known, items, listed, listedIn } = found;
  if (added.length + changed.length + removed.length === 0)
    return `${counted(items)} — ${quietWords(texts, isSameBytes)}`;
  const name = (text: string) => inertLine(IS_QUOTED[part] ? JSON.stringify(text) : text);
  const said: string[] = [];
  if (added.length > 0) said.push(`${added.length} new: ${names(added, name, ', ')}`);
  if (changed.length > 0) {
    const told = changed.map((one) => `${name(one.name)} ${one.fields.map(inertLine).join(', ')} changed`);
    said.push(`${changed.length} changed: ${names(told, String, '; ')}`);
  }
  if (removed.length > 0) said.push(`${removed.length} removed (warning only, kept): ${names(removed, name, ', ')}`);
  if (texts > 0) said.push(`texts differ in ${texts}`);
  const isSameSet = added.length + removed.length === 0;
  const counts = isSameSet ? counted(items) : `${counted(known)} in snapshot, ${listed} in ${listedIn}`;
  return `${counts} — ${said.join('; ')}`;
}

function quietWords(texts: number, isSameBytes: boolean): string {
  if (texts > 0) return `only texts differ, in ${texts} of them`;
  return isSameBytes ? 'no change (fingerprint match)' : 'no change';
}

function names(list: readonly string[], word: (text: string) => string, between: string): string {
  return `${list.slice(0, MAX_NAMES).map(word).join(between)}${more(list.length)}`;
}

function more(count: number): string {
  return count > MAX_NAMES ? ` and ${count - MAX_NAMES} more` : '';
}

function counted(items: number): string {
  return `${items} ${items === 1 ? 'item' : 'items'}`;
}

function labelled(part: Part, words: string): string {
  return `${`[${part}]`.padEnd(LABEL_WIDTH)}${words}`;
}
