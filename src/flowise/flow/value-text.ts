import { cut } from '../../kernel/cut.ts';
import { inertLine } from '../../kernel/terminal.ts';

/** How much of a value is told in passing. */
export const VALUE_CHARS = 80;
/** How much of it where somebody has to decide about it. */
export const DECISION_CHARS = 400;
const TAIL_CHARS = 120;

/** A value in one short line: texts in quotes, lists and objects as JSON. Its secrets are hidden already. */
export function valueText(value: unknown, most = VALUE_CHARS): string {
  if (value === null || value === undefined) return '(not set)';
  if (typeof value === 'string') return `"${cut(inertLine(value.slice(0, most * 4)), most)}"`;
  return cut(inertLine(JSON.stringify(value)), most);
}

/** As much of a value as a decision needs, and how much is left out. */
export function decisionText(value: unknown): string {
  if (value === null || value === undefined) return '(not set)';
  if (typeof value === 'string') return quoted(value);
  const { shown, rest } = shortened(JSON.stringify(value));
  return `${shown}${rest}`;
}

/** A text in quotes; what is left out is told behind them. `around` belongs to it and is never left out. */
export function quoted(text: string, around: { before?: string; after?: string } = {}): string {
  const { shown, rest } = shortened(text);
  const end = rest === '' ? inertLine(around.after ?? '') : '';
  return `"${inertLine(around.before ?? '')}${shown}${end}"${rest}`;
}

export function shortened(text: string): { shown: string; rest: string } {
  const line = inertLine(text);
  if (line.length <= DECISION_CHARS) return { shown: line, rest: '' };
  // What somebody wants to hide stands at the end.
  const head = cut(line, DECISION_CHARS - TAIL_CHARS);
  const tail = line.slice(-TAIL_CHARS).replace(/^[\udc00-\udfff]/, '');
  const left = line.length - head.length + 1 - tail.length;
  return { shown: `${head}${tail}`, rest: ` (${counted(left, 'more character')} at …)` };
}

export function counted(count: number, noun: string): string {
  return `${count.toLocaleString('en')} ${noun}${count === 1 ? '' : 's'}`;
}
