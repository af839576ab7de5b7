import type { Issue } from '../../kernel/errors.ts';
import { hideSecretsInText } from '../../kernel/secret-text.ts';

/** Issues name what somebody wrote: names, ids, keys. A secret may stand where one of these belongs. */
export function hiddenIssue(issue: Issue): Issue {
  return { ...issue, message: hideSecretsInText(issue.message), path: hideSecretsInText(issue.path) };
}
