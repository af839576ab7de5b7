import type { Database, Queries, Trx } from '../database/index.ts';
import { holdHead, readHead } from '../flows/apply.ts';
import { ABSENT_FLOW_STATE_ID } from '../flows/index.ts';
import { ERRORS, refusal } from '../kernel/errors.ts';
import { compareSemver, SEMVER_RE } from '../kernel/semver.ts';
import type { Principal, Scope } from '../operations/index.ts';
import type { ProposalDraft } from '../proposals/index.ts';
import { invalidDraft } from './draft.ts';
import { mayWrite } from './write-authority.ts';

/** What a proposal is based on; the binding check compares it again when the proposal is approved. */
export interface Base {
  version: string | null;
  state_id: string;
  sha256: string | null;
  scope: Scope | null;
}

export interface Precheck {
  queries: Queries;
  principal: Principal;
  flowId: string;
}

/** The flow must still be as the author read it. One that may not be seen answers as one that is not there. */
export async function baseOfEdit(
  { queries, principal, flowId }: Precheck,
  given: { base_version: unknown; base_state_id: unknown },
): Promise<Base> {
  const { base_version, base_state_id } = given;
  const issues = [
    ...(typeof base_version === 'string' && SEMVER_RE.test(base_version)
      ? []
      : [{ code: 'base_missing', message: 'must be the version the edit is based on', path: '/base_version' }]),
    ...(typeof base_state_id === 'string' && base_state_id.startsWith('flowst1_')
      ? []
      : [{ code: 'base_missing', message: 'must be the state_id that flow_versions gives', path: '/base_state_id' }]),
  ];
  if (issues.length > 0) throw invalidDraft('FLOW_DRAFT_INVALID', issues);
  const head = await visibleHead({ queries, principal, flowId });
  if (head.version !== base_version || head.state_id !== base_state_id) {
    throw lineageConflict('The flow has changed since you read it.', head);
  }
  return { version: head.version, state_id: head.state_id, sha256: head.content_sha256, scope: head.scope };
}

/** The flow as it is, for who may see and write it. */
export async function visibleHead({ queries, principal, flowId }: Precheck) {
  const head = await readHead(queries, principal.vault_id, flowId);
  if (!head || head.retired_at !== null || !principal.visible_scopes.has(head.scope)) {
    throw refusal('unknown_flow', `There is no flow ${flowId} that you may see. ${ERRORS.unknown_flow.next}`);
  }
  if (!mayWrite(principal, head.scope)) {
    throw refusal(
      'FLOW_SCOPE_DENIED',
      `The flow is ${head.scope}; your role ${principal.role} may read it but not change it.`,
    );
  }
  return head;
}

/** The id must be free, as far as the author may know. */
export async function baseOfNew({ queries, principal, flowId }: Precheck): Promise<Base> {
  const head = await readHead(queries, principal.vault_id, flowId);
  if (head && principal.visible_scopes.has(head.scope)) {
    if (head.retired_at !== null) {
      throw refusal('FLOW_LINEAGE_CONFLICT', `${flowId} was retired, and its id stays taken. Choose another id.`);
    }
    throw refusal(
      'FLOW_LINEAGE_CONFLICT',
      `There is already a flow ${flowId}: use \`flowright flow edit ${flowId}\`, send its base_version and base_state_id, or choose another id.`,
      { current_version: head.version, current_state_id: head.state_id },
    );
  }
  return { version: null, state_id: ABSENT_FLOW_STATE_ID, sha256: null, scope: null };
}

/** In the transaction that records the proposal: the flow is still the one it was prepared for. */
export async function assertStillFits(
  trx: Trx,
  dialect: Database['dialect'],
  principal: Principal,
  { flow, base_state_id, base_sha256 }: ProposalDraft,
): Promise<void> {
  if (!flow) return;
  const head = await holdHead(trx, dialect, principal.vault_id, flow.flow_id);
  // What may not be seen is as if it were not there.
  const seen = head && principal.visible_scopes.has(head.scope) ? head : null;
  const current = seen?.retired_at === null ? seen : null;
  if (flow.base_version === null) {
    if (seen) throw lineageConflict(`A flow ${flow.flow_id} has come to be meanwhile.`, current);
    return;
  }
  const isSame =
    current?.version === flow.base_version &&
    current.state_id === base_state_id &&
    current.content_sha256 === base_sha256;
  if (!isSame) throw lineageConflict('The flow has changed since you read it.', current);
}

export function assertNewer(version: string, base: Base): void {
  if (base.version === null || compareSemver(version, base.version) > 0) return;
  const message = `must be greater than ${base.version}`;
  throw invalidDraft('FLOW_DRAFT_INVALID', [{ code: 'version_not_greater', message, path: '/flow/version' }]);
}

export function lineageConflict(sentence: string, head: { version: string; state_id: string } | null) {
  return refusal(
    'FLOW_LINEAGE_CONFLICT',
    `${sentence} ${ERRORS.FLOW_LINEAGE_CONFLICT.next}`,
    head ? { current_version: head.version, current_state_id: head.state_id } : {},
  );
}
