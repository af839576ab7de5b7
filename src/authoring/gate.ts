import type { FlowStep } from '../flows/index.ts';
import { ERRORS, type Issue, refusal } from '../kernel/errors.ts';
import { jsonPointer } from '../operations/index.ts';
import type { Policy } from '../policy/index.ts';

type PolicyValues = ReturnType<Policy['values']>;

/** Closed unless somebody opened it. Asked before a draft is looked at, and again when it is approved. */
export function assertAuthoringOpen(
  policy: Pick<PolicyValues, 'flow_authoring_forbidden' | 'flow_authoring_writes_enabled'>,
): void {
  if (policy.flow_authoring_forbidden) {
    throw refusal(
      'FLOW_AUTHORING_POLICY_FORBIDDEN',
      `The policy of this hub forbids authoring flows. ${ERRORS.FLOW_AUTHORING_POLICY_FORBIDDEN.next}`,
    );
  }
  if (!policy.flow_authoring_writes_enabled) {
    throw refusal(
      'FLOW_AUTHORING_DISABLED',
      `Authoring flows is switched off on this hub. ${ERRORS.FLOW_AUTHORING_DISABLED.next}`,
    );
  }
}

/** Kinds of verification and automation beyond what the policy allows. */
export function assertWithinCaps(policy: PolicyValues, steps: readonly FlowStep[]): void {
  const issues: Issue[] = steps.flatMap(({ verification, automatable }, at) => [
    ...capIssue(policy.flow_authoring_verification_kinds, verification.kind, ['steps', at, 'verification', 'kind']),
    ...capIssue(policy.flow_authoring_automatable_kinds, automatable, ['steps', at, 'automatable']),
  ]);
  if (issues.length === 0) return;
  const [first] = issues;
  throw refusal(
    'FLOW_AUTHORING_POLICY_FORBIDDEN',
    `The policy of this hub does not allow it: ${first?.path} ${first?.message}. ${ERRORS.FLOW_AUTHORING_POLICY_FORBIDDEN.next}`,
    { errors: issues },
  );
}

function capIssue(allowed: readonly string[], word: string, path: PropertyKey[]): Issue[] {
  if (allowed.includes(word)) return [];
  const message = `is ${word}; allowed: ${allowed.join(', ') || 'nothing'}`;
  return [{ code: 'policy_cap', message, path: jsonPointer(path) }];
}

/** What an import may bring along: external tools first, then automation. */
export function assertImportable(policy: PolicyValues, steps: readonly FlowStep[]): void {
  const foreign = steps.flatMap(({ skill_refs }) =>
    skill_refs.filter(({ kind, id }) => kind === 'external_tool' && !policy.flow_import_allowed_tools.includes(id)),
  );
  if (policy.flow_import_reject_external_tools && foreign.length > 0) {
    throw refusal(
      'FLOW_IMPORT_EXTERNAL_TOOL_DENIED',
      `The bundle names external tools that this hub does not allow. ${ERRORS.FLOW_IMPORT_EXTERNAL_TOOL_DENIED.next}`,
      { tools: [...new Set(foreign.map(({ id }) => id))].slice(0, 32) },
    );
  }
  if (policy.flow_import_automatable_forbidden && steps.some(({ automatable }) => automatable !== 'manual')) {
    throw refusal(
      'FLOW_IMPORT_AUTOMATABLE_DENIED',
      `The bundle has steps that are not manual. ${ERRORS.FLOW_IMPORT_AUTOMATABLE_DENIED.next}`,
    );
  }
}
