import { type Database, type Trx, takeTurns } from '../database/index.ts';
import { type Clock, isoNow } from '../kernel/clock.ts';
import { ERRORS, refusal } from '../kernel/errors.ts';
import { may, type Principal } from '../operations/index.ts';
import type { Policy } from '../policy/index.ts';
import { type Files, noteText, placeOf } from '../vault/index.ts';
import { approvalLogNote, approvalLogPath } from './approval-log.ts';
import { announce } from './create.ts';
import { assertFourEyes } from './four-eyes.ts';
import { changeProposal, findProposal, markConflicted } from './proposal-store.ts';
import type { ProposalRow } from './record.ts';
import type { ProposalTargets } from './target.ts';

export interface ApproveNeeds {
  database: Database;
  clock: Clock;
  policy: Policy;
  files: Files;
  targets: ProposalTargets;
}

export interface Approval {
  base_state_id?: string | undefined;
  waiver_reason?: string | undefined;
  external_ref?: string | undefined;
}

export interface Approved {
  proposal: ProposalRow;
  approval_log_path: string;
  mirror_path: string | null;
  conflicted: string[];
}

/**
 * Decides and does, in one transaction: the status moves from proposed to approved only once, what was asked for
 * happens, its rivals lose, and the files it writes are planned. Nobody sees one without the others.
 */
export async function approveProposal(
  trx: Trx,
  needs: ApproveNeeds,
  principal: Principal,
  proposalId: string,
  given: Approval,
): Promise<Approved> {
  const proposal = await openProposal(trx, needs.database, principal, proposalId);
  const { evaluator_may_approve, proposal_evaluation_required } = needs.policy.values();
  const judges = evaluator_may_approve ? ['admin', 'evaluator'] : ['admin'];
  assertMayApprove(principal, judges);
  if (proposal.status === 'conflicted') throw await conflict(trx, needs, principal, proposal);
  if (given.base_state_id !== undefined && given.base_state_id !== proposal.base_state_id) {
    throw refusal('CONFLICT', 'The base_state_id is not the one this proposal is based on; it cannot be replaced.');
  }
  const isSelfApproved = await assertFourEyes(trx, proposal, principal, judges);
  const at = isoNow(needs.clock);
  const waiver = assertEvaluated(proposal, proposal_evaluation_required, principal, given.waiver_reason, at);
  const approver = { principal, at };
  const applied = await needs.targets[proposal.target].apply(trx, proposal, approver);
  const decided: Partial<ProposalRow> = {
    status: 'approved',
    decided_by: principal.user_id,
    decided_at: at,
    self_approved: Number(isSelfApproved),
    waiver_json: waiver === null ? null : JSON.stringify(waiver),
    applied_state_id: applied.state_id,
    updated_at: at,
    ...(given.external_ref === undefined ? {} : { external_ref: given.external_ref }),
  };
  if (!(await changeProposal(trx, proposal, ['proposed'], decided))) throw closed(proposal);
  const rivals = await needs.targets[proposal.target].rivals(proposal);
  const losers = await markConflicted(trx, proposal, rivals, at);
  const seen: ReadonlySet<string> = principal.visible_scopes;
  const conflicted = losers
    .filter(({ scope }) => scope === null || seen.has(scope))
    .map(({ proposal_id }) => proposal_id);
  const approval_log_path = approvalLogPath(proposal, at);
  await needs.files.plan(trx, {
    place: placeOf(proposal.vault_id),
    path: approval_log_path,
    text: noteText(approvalLogNote(proposal, approver)),
  });
  const done = { ...proposal, ...decided };
  await announce(trx, needs.clock, done, 'proposal.approved');
  return { proposal: done, approval_log_path, mirror_path: applied.path, conflicted };
}

/** A proposal that can still be decided, or a refusal that says why not. */
export async function openProposal(
  trx: Trx,
  { dialect }: Pick<Database, 'dialect'>,
  principal: Principal,
  proposalId: string,
): Promise<ProposalRow> {
  // An approval also closes the rivals of what it approves; whoever decides or speaks about one of them waits for it,
  // before either holds a row that the other wants.
  await takeTurns(trx, dialect, `proposals:${principal.vault_id}`);
  const proposal = await findProposal(trx, principal, proposalId);
  if (!proposal) throw unknownProposal(proposalId);
  if (proposal.status === 'approved' || proposal.status === 'discarded') throw closed(proposal);
  return proposal;
}

export function unknownProposal(proposalId: string) {
  return refusal('NOT_FOUND', `There is no proposal ${proposalId} that you may see. ${ERRORS.NOT_FOUND.next}`);
}

function closed(proposal: ProposalRow) {
  return refusal('BAD_REQUEST', `The proposal is ${proposal.status} already; that is final.`, {
    status: proposal.status,
  });
}

function assertMayApprove(principal: Principal, judges: readonly string[]): void {
  if (may(principal, 'approve') || (may(principal, 'evaluate') && judges.includes(principal.role))) return;
  throw refusal(
    'FORBIDDEN',
    `Approving needs the role ${judges.join(' or ')} in this vault; yours is ${principal.role}. ${ERRORS.FORBIDDEN.next}`,
  );
}

/** The policy of this moment counts, not only that of the creation. Null when no waiver was needed. */
function assertEvaluated(
  proposal: ProposalRow,
  isRequired: boolean,
  principal: Principal,
  reason: string | undefined,
  at: string,
): { by: string; at: string; reason: string } | null {
  const { evaluation_status } = proposal;
  if (evaluation_status === 'passed' || (evaluation_status === 'none' && !isRequired)) return null;
  const state = evaluation_status === 'none' ? 'not evaluated' : evaluation_status.replace('_', ' ');
  if (reason === undefined) {
    throw refusal('EVALUATION_REQUIRED', `The evaluation is ${state}. ${ERRORS.EVALUATION_REQUIRED.next}`, {
      evaluation_status,
    });
  }
  if (!may(principal, 'administer')) {
    throw refusal('EVALUATION_REQUIRED', `The evaluation is ${state}, and only an admin may waive it.`, {
      evaluation_status,
    });
  }
  return { by: principal.user_id, at, reason };
}

async function conflict(trx: Trx, needs: ApproveNeeds, principal: Principal, proposal: ProposalRow) {
  const hint = await needs.targets[proposal.target].rebase(trx, proposal, principal);
  const code = proposal.target === 'flow' ? 'FLOW_LINEAGE_CONFLICT' : 'CONFLICT';
  const details = hint ? { current_version: hint.current_version, current_state_id: hint.current_state_id } : {};
  const noun = proposal.target === 'flow' ? 'flow' : 'note';
  return refusal(
    code,
    `Another change was approved first. Read the ${noun} as it is now, repeat the change on it and propose again.`,
    details,
  );
}
