import { ERRORS, type FlowrightError, type Issue } from '../../kernel/errors.ts';
import { inertLine } from '../../kernel/terminal.ts';

/** How the command in use speaks of what was refused. */
export interface Wording {
  /** What its options and arguments are called, by field of the input. */
  fields: Readonly<Record<string, string>>;
  /** Each mistake with its code and place, as `flowchart validate` prints them. */
  codes?: boolean;
}

/** What went wrong in one line; where there is more than one mistake, each follows in a line of its own. */
export function messageLines(error: FlowrightError, wording: Wording = { fields: {} }): [string, ...string[]] {
  const { message, details } = error;
  const issues = Array.isArray(details.errors) ? (details.errors as Issue[]) : [];
  if (wording.codes) {
    const lines = issues.map(({ code, message: what, path }) => `  ${what} (${code}${path ? ` at ${path}` : ''})`);
    return [inertLine(message), ...lines.map((line) => inertLine(line))];
  }
  const places = issues.map(({ path, message: what }) => inertLine(`  ${placeOf(path, wording) || '/'} ${what}`));
  return [inertLine(spoken(message, issues[0]?.path ?? '', wording)), ...(places.length > 1 ? places : [])];
}

/** The message as somebody at a command line would say it: they typed options and sent no request. */
function spoken(message: string, path: string, wording: Wording): string {
  const place = placeOf(path, wording);
  if (place === path) return message;
  return message
    .replace(` ${path} `, () => ` ${place} `)
    .replace(ERRORS.BAD_REQUEST.next, () => 'Add --help to see how the command is used.');
}

function placeOf(path: string, { fields }: Wording): string {
  const [, field = '', within = ''] = /^\/([^/]+)(.*)$/s.exec(path) ?? [];
  if (!Object.hasOwn(fields, field)) return path;
  return within === '' ? (fields[field] as string) : `${within} of ${fields[field]}`;
}
