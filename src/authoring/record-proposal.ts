import type { Database } from '../database/index.ts';
import type { Clock } from '../kernel/clock.ts';
import type { Context } from '../operations/index.ts';
import type { Policy } from '../policy/index.ts';
import { createProposal, earlierProposal, type ProposalDraft } from '../proposals/index.ts';
import { type FlowProposalView, flowProposal } from './flow-proposal.ts';
import { assertStillFits } from './precheck.ts';

/**
 * Records what was prepared. Somebody may have been approved between the look at the flow and now; such a proposal has
 * lost before it exists, and nobody would come to mark it.
 */
export async function recordProposal(
  context: Context<{ database: Database; clock: Clock; policy: Policy }>,
  draft: ProposalDraft,
): Promise<FlowProposalView> {
  const { trx, database, principal } = context;
  const isRepeat = (await earlierProposal(trx, principal, draft.idempotency)) !== null;
  if (!isRepeat) await assertStillFits(trx, database.dialect, principal, draft);
  return flowProposal(await createProposal(trx, context, principal, draft));
}
