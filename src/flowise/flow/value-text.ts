import { cut } from '../../kernel/cut.ts';
import { inertLine } from '../../kernel/terminal.ts';

/** How much of a value is told. */
export const VALUE_CHARS = 80;

/** A value in one short line: texts in quotes, lists and objects as JSON. Its secrets are hidden already. */
export function valueText(value: unknown, most = VALUE_CHARS): string {
  if (value === null || value === undefined) return '(not set)';
  if (typeof value === 'string') return `"${cut(inertLine(value.slice(0, most * 4)), most)}"`;
  return cut(inertLine(JSON.stringify(value)), most);
}
