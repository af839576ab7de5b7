import { type FlowrightError, type Issue, refusal } from '../kernel/errors.ts';

/** PATCH_INVALID with every issue; the message names the first. */
export function unsound(issues: readonly Issue[], what: string): FlowrightError {
  const first = issues[0]?.message.replace(/\.$/, '') ?? 'it is not valid';
  const rest = issues.length > 1 ? ` (and ${issues.length - 1} more)` : '';
  return refusal('PATCH_INVALID', `${what}: ${first}${rest}. Nothing was written.`, { errors: [...issues] });
}

export function assertSound(issues: readonly Issue[], what: string): void {
  if (issues.length > 0) throw unsound(issues, what);
}
