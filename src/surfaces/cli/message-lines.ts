import type { FlowrightError, Issue } from '../../kernel/errors.ts';
import { inertLine } from '../../kernel/terminal.ts';

/** What went wrong in one line; where there is more than one mistake, each follows in a line of its own. */
export function messageLines({ message, details }: FlowrightError): [string, ...string[]] {
  const issues = Array.isArray(details.errors) ? (details.errors as Issue[]) : [];
  const places = issues.map(({ path, message: what }) => inertLine(`  ${path || '/'} ${what}`));
  return [inertLine(message), ...(places.length > 1 ? places : [])];
}
