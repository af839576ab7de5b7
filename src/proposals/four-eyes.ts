import type { Queries } from '../database/index.ts';
import { refusal } from '../kernel/errors.ts';
import type { Principal } from '../operations/index.ts';
import type { ProposalRow } from './record.ts';

/**
 * Nobody judges their own project or org change while somebody else in the vault may. True when the principal does so
 * because there is nobody else. Personal flows and notes are exempt: every member who may judge could write them anyway.
 */
export async function assertFourEyes(
  queries: Queries,
  proposal: ProposalRow,
  principal: Principal,
  judges: readonly string[],
): Promise<boolean> {
  const isOwn = proposal.proposed_by === principal.user_id;
  if (!isOwn) return false;
  const current = proposal.flow_id === null ? null : await scopeOf(queries, proposal.vault_id, proposal.flow_id);
  const isShared = [proposal.scope, current].some((scope) => scope === 'project' || scope === 'org');
  if (!isShared) return true;
  const other = await queries
    .selectFrom('memberships')
    .innerJoin('users', 'users.user_id', 'memberships.user_id')
    .select('memberships.user_id')
    .where('vault_id', '=', proposal.vault_id)
    .where('memberships.user_id', '<>', principal.user_id)
    .where('role', 'in', judges)
    .where('disabled_at', 'is', null)
    .limit(1)
    .executeTakeFirst();
  if (!other) return true;
  throw refusal(
    'FOUR_EYES_REQUIRED',
    'This is your own change of a flow that others share. Somebody else who may decide in this vault has to.',
  );
}

async function scopeOf(queries: Queries, vaultId: string, flowId: string): Promise<string | null> {
  const row = await queries
    .selectFrom('flows')
    .select('scope')
    .where('vault_id', '=', vaultId)
    .where('flow_id', '=', flowId)
    .executeTakeFirst();
  return row?.scope ?? null;
}
