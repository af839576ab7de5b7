import type { Database } from '../database/index.ts';
import type { DraftReader } from '../diff/index.ts';
import { readVersion } from '../flows/index.ts';
import { findProposal, unknownProposal } from '../proposals/index.ts';
import { bundleOf } from './flow-target.ts';

/** What a proposal would make of a flow, beside what it is based on. */
export function createDraftReader(database: Database): DraftReader {
  return {
    flowDraft: async (principal, flowId, proposalId) => {
      const proposal = await findProposal(database.queries, principal, proposalId);
      if (proposal?.flow_id !== flowId) throw unknownProposal(proposalId);
      const base =
        proposal.base_version === null
          ? null
          : await readVersion(database.queries, proposal.vault_id, flowId, proposal.base_version);
      const draft = proposal.flow_kind === 'retire' ? null : bundleOf(proposal);
      return { base, draft, proposal_id: proposal.proposal_id };
    },
  };
}
