import { type FlowrightError, type Issue, refusal } from '../kernel/errors.ts';
import { hideSecretsInText } from '../kernel/secret-text.ts';

/** Issues name what they are about, and anything may have been typed there. */
export function shownIssues(issues: readonly Issue[]): Issue[] {
  return issues.map(({ code, message, path }) => ({
    code,
    message: hideSecretsInText(message),
    path: hideSecretsInText(path),
  }));
}

/** PATCH_INVALID with every issue; the message names the first. */
export function unsound(found: readonly Issue[], what: string): FlowrightError {
  const issues = shownIssues(found);
  const first = issues[0]?.message.replace(/\.$/, '') ?? 'it is not valid';
  const rest = issues.length > 1 ? ` (and ${issues.length - 1} more)` : '';
  return refusal('PATCH_INVALID', `${what}: ${first}${rest}. Nothing was written.`, { errors: issues });
}

export function assertSound(issues: readonly Issue[], what: string): void {
  if (issues.length > 0) throw unsound(issues, what);
}
