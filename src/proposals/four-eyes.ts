import type { Queries } from '../database/index.ts';
import { refusal } from '../kernel/errors.ts';
import { type Principal, type Role, resolveVisibleScopes, type Scope } from '../operations/index.ts';
import { concernedScopes } from './concerned-scopes.ts';
import type { ProposalRow } from './record.ts';

/**
 * Nobody judges their own project or org change while somebody else in the vault may. True when the principal judges
 * what is their own, because there is nobody else or because that is allowed. Personal flows and notes are exempt: every member who may judge could write them anyway.
 */
export async function assertFourEyes(
  queries: Queries,
  proposal: ProposalRow,
  principal: Principal,
  judges: readonly string[],
): Promise<boolean> {
  const isOwn = proposal.proposed_by === principal.user_id;
  if (!isOwn) return false;
  const scopes = await concernedScopes(queries, proposal);
  if (!scopes.some((scope) => scope !== 'personal')) return true;
  const others = await queries
    .selectFrom('memberships')
    .innerJoin('users', 'users.user_id', 'memberships.user_id')
    .select(['memberships.user_id', 'role', 'scopes_json', 'ambiguous'])
    .where('vault_id', '=', proposal.vault_id)
    .where('memberships.user_id', '<>', principal.user_id)
    .where('role', 'in', judges)
    .where('disabled_at', 'is', null)
    .execute();
  // Somebody who cannot see the flow cannot decide about it either.
  const able = others.filter(({ role, scopes_json, ambiguous }) => {
    const own = scopes_json === null ? null : (JSON.parse(scopes_json) as Scope[]);
    const seen = resolveVisibleScopes({ role: role as Role, scopes: own, ambiguous: ambiguous === 1 });
    return ambiguous === 0 && scopes.every((scope) => seen.has(scope));
  });
  if (able.length === 0) return true;
  throw refusal(
    'FOUR_EYES_REQUIRED',
    `This is your own change of a flow that others share. Somebody else has to decide, for example ${able
      .slice(0, 3)
      .map(({ user_id }) => user_id)
      .join(' or ')}.`,
  );
}
