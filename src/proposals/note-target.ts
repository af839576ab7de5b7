import { type Database, type Queries, type Trx, takeTurns } from '../database/index.ts';

import { asFlowrightError, ERRORS, refusal } from '../kernel/errors.ts';
import { type Files, type Notes, noteStateId, noteText, placeOf, withProvenance } from '../vault/index.ts';
import type { ProposalRow, Rebase } from './record.ts';
import type { Applied, Approver, ProposalTarget } from './target.ts';

/** A note that cannot be read says nothing of the proposal, and must not hide it. */
function unlessUnreadable(error: unknown): null {
  if (asFlowrightError(error).code === 'NOTE_UNREADABLE') return null;
  throw error;
}

/** Notes as what a proposal changes. */
export function createNoteTarget(needs: { database: Database; files: Files; notes: Notes }): ProposalTarget {
  const currentState = async (queries: Queries, { vault_id, path }: ProposalRow) =>
    needs.notes.state(queries, vault_id, path);

  return {
    apply: async (trx: Trx, proposal: ProposalRow, approver: Approver): Promise<Applied> => {
      const place = placeOf(proposal.vault_id);
      await takeTurns(trx, needs.database.dialect, place);
      const current = await currentState(trx, proposal);
      if (current.state_id !== proposal.base_state_id || current.text_sha256 !== proposal.base_sha256) {
        throw refusal('CONFLICT', `The note has changed since this was proposed. ${ERRORS.CONFLICT.next}`, {
          current_state_id: current.state_id,
        });
      }
      const note = {
        frontmatter: withProvenance(JSON.parse(proposal.frontmatter_json) as Record<string, unknown>, {
          author_kind: proposal.proposed_as === 'agent' ? 'agent' : 'human',
          knowtation_edited_at: approver.at,
          knowtation_proposed_by: proposal.actor_hash,
          knowtation_approved_by: approver.principal.actor_hash,
        }),
        body: proposal.body,
      };
      // Bound to what was just looked at: an edit of this very moment is kept aside.
      const before_sha256 = current.text_sha256;
      await needs.files.plan(trx, { place, path: proposal.path, text: noteText(note), before_sha256 });
      return { state_id: noteStateId(note), path: proposal.path };
    },
    rebase: async (queries, proposal): Promise<Rebase | null> => {
      if (proposal.status === 'approved' || proposal.status === 'discarded') return null;
      const current = await currentState(queries, proposal).catch(unlessUnreadable);
      if (current === null) return null;
      if (proposal.status === 'proposed' && current.state_id === proposal.base_state_id) return null;
      return {
        current_version: null,
        current_state_id: current.state_id,
        advice: 'Read the note as it is now, make your change on it, and propose again with its state_id.',
      };
    },
    rivals: async ({ path }) => ({ path }),
  };
}
