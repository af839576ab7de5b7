import type { Database } from '../database/index.ts';
import { may, type Principal } from '../operations/index.ts';
import { findProposal } from '../proposals/index.ts';
import type { NoteVisibility } from '../vault/index.ts';
import { mirroredAt } from './mirror-rows.ts';

const APPROVAL_LOG = /^approvals\/\d{4}-\d{2}-\d{2}-([0-9a-f-]{36})\.md$/;
/** A mirror that somebody edited and that was kept aside: `a-b.edited-….md` beside `a-b.md`. */
const KEPT_ASIDE = /\.edited-[^/]*\.md$/;

/**
 * Notes that the server writes tell of flows, so they are seen by who sees the flow. What belongs to nothing we know is
 * for admins.
 */
export function createNoteVisibility(database: Database): NoteVisibility {
  return {
    mayRead: async (principal: Principal, path: string): Promise<boolean> => {
      if (principal.ambiguous) return false;
      const proposalId = APPROVAL_LOG.exec(path)?.[1];
      if (proposalId && (await findProposal(database.queries, principal, proposalId))) return true;
      if (proposalId) return false;
      const mirrored = await mirroredAt(database.queries, principal.vault_id, path.replace(KEPT_ASIDE, '.md'));
      return mirrored ? principal.visible_scopes.has(mirrored.scope) : may(principal, 'administer');
    },
  };
}
