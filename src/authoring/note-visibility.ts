import type { Database, Queries } from '../database/index.ts';
import { may, type Principal, SCOPES, type Scope } from '../operations/index.ts';
import { findProposal } from '../proposals/index.ts';
import { type NoteVisibility, placeOf } from '../vault/index.ts';
import { mirroredAt } from './mirror-rows.ts';

const APPROVAL_LOG = /^approvals\/\d{4}-\d{2}-\d{2}-([0-9a-f-]{36})\.md$/;

/**
 * Notes that the server writes tell of flows, so they are seen by who sees the flow. What belongs to nothing we know is
 * for
 * admins who see everything.
 */
export function createNoteVisibility(database: Database): NoteVisibility {
  return {
    mayRead: async (principal: Principal, path: string): Promise<boolean> => {
      if (principal.ambiguous) return false;
      const proposalId = APPROVAL_LOG.exec(path)?.[1];
      if (proposalId && (await findProposal(database.queries, principal, proposalId))) return true;
      if (proposalId) return false;
      const scope = await scopeOf(database.queries, principal.vault_id, path);
      if (scope !== null) return principal.visible_scopes.has(scope);
      return may(principal, 'administer') && SCOPES.every((each) => principal.visible_scopes.has(each));
    },
  };
}

/** The scope of the flow that a note tells of: a mirror, or an edited mirror that was kept aside. */
async function scopeOf(queries: Queries, vaultId: string, path: string): Promise<Scope | null> {
  const mirrored = await mirroredAt(queries, vaultId, path);
  if (mirrored) return mirrored.scope;
  const kept = await queries
    .selectFrom('kept_files')
    .innerJoin('flows', 'flows.flow_id', 'kept_files.flow_id')
    .select('flows.scope')
    .where('flows.vault_id', '=', vaultId)
    .where('kept_files.place', '=', placeOf(vaultId))
    .where('kept_files.path', '=', path)
    .executeTakeFirst();
  return (kept?.scope as Scope | undefined) ?? null;
}
