import * as z from 'zod';
import { SCOPES, type Scope } from '../operations/index.ts';
import type { ProposalRow } from '../proposals/index.ts';

export const FlowProposal = z
  .strictObject({
    schema: z.literal('knowtation.flow_proposal/v0'),
    proposal_id: z.string(),
    flow_id: z.string(),
    base_version: z.string().nullable().describe('Null for a new flow'),
    base_state_id: z.string().nullable().describe('Null for a new flow'),
    scope: z.enum(SCOPES),
    auto_approvable: z.boolean().describe('Derived by the server; approving stays an act of a person'),
    status: z.enum(['proposed', 'approved', 'discarded', 'conflicted']),
    review_queue: z.string(),
  })
  .meta({ id: 'FlowProposal' });

export type FlowProposalView = z.output<typeof FlowProposal>;

/** Pointers and labels only: nothing of the draft's text comes back. */
export function flowProposal(row: ProposalRow): FlowProposalView {
  const isBased = row.base_version !== null;
  return {
    schema: 'knowtation.flow_proposal/v0',
    proposal_id: row.proposal_id,
    flow_id: row.flow_id ?? '',
    base_version: row.base_version,
    base_state_id: isBased ? row.base_state_id : null,
    scope: row.scope as Scope,
    auto_approvable: row.auto_approvable === 1,
    status: row.status,
    review_queue: row.review_queue,
  };
}

export function proposedLine(proposal: FlowProposalView, isRetired = false): string {
  const based = proposal.base_version === null ? 'new' : `based on ${proposal.base_version}`;
  return [
    `${isRetired ? 'proposed to retire' : 'proposed:'} ${proposal.flow_id} [${proposal.scope}], ${based}`,
    `proposal ${proposal.proposal_id} waits in ${proposal.review_queue}. Nothing has changed yet.`,
    `  see it:     flowright proposal diff ${proposal.proposal_id}`,
    `  approve it: flowright proposal approve ${proposal.proposal_id}`,
  ].join('\n');
}
