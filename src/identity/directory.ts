import { bumpRevision, type Queries, type Trx } from '../database/index.ts';
import { type Clock, isoNow } from '../kernel/clock.ts';
import { refusal } from '../kernel/errors.ts';
import { isScope, type Role, type Scope } from '../operations/index.ts';

/** The topic whose revision moves with every change of users, memberships, tokens or vaults. */
export const IDENTITY_TOPIC = 'identity';

export const DEFAULT_VAULT = 'default';
export const OWNER = 'local';

export interface Membership {
  user_id: string;
  role: Role;
  scopes: Scope[] | null;
  ambiguous: boolean;
}

/** What a user may do in a vault; null for strangers and for users who are disabled. */
export async function findMembership(queries: Queries, userId: string, vaultId: string): Promise<Membership | null> {
  const stored = await findStoredMembership(queries, userId, vaultId);
  return stored && !stored.disabled ? stored.membership : null;
}

/** The membership as it stands, also while its user is disabled. */
export async function findStoredMembership(
  queries: Queries,
  userId: string,
  vaultId: string,
): Promise<{ membership: Membership; disabled: boolean } | null> {
  const row = await queries
    .selectFrom('memberships')
    .innerJoin('users', 'users.user_id', 'memberships.user_id')
    .select(['memberships.user_id', 'role', 'scopes_json', 'ambiguous', 'users.disabled_at'])
    .where('memberships.vault_id', '=', vaultId)
    .where('memberships.user_id', '=', userId)
    .executeTakeFirst();
  return row ? { membership: membershipOf(row), disabled: row.disabled_at !== null } : null;
}

export async function listMembers(queries: Queries, vaultId: string): Promise<Membership[]> {
  const rows = await queries
    .selectFrom('memberships')
    .select(['user_id', 'role', 'scopes_json', 'ambiguous'])
    .where('vault_id', '=', vaultId)
    .orderBy('user_id')
    .execute();
  return rows.map(membershipOf);
}

/** Adds the user when new, then adds or replaces the membership. */
export async function setMembership(trx: Trx, clock: Clock, vaultId: string, member: Membership): Promise<void> {
  await addUser(trx, clock, member.user_id);
  const columns = {
    role: member.role,
    scopes_json: member.scopes && JSON.stringify(member.scopes),
    ambiguous: Number(member.ambiguous),
  };
  await trx
    .insertInto('memberships')
    .values({ user_id: member.user_id, vault_id: vaultId, ...columns, created_at: isoNow(clock) })
    .onConflict((conflict) => conflict.columns(['vault_id', 'user_id']).doUpdateSet(columns))
    .execute();
  await assertAdminLeft(trx, vaultId);
  await bumpRevision(trx, IDENTITY_TOPIC);
}

export async function removeMembership(trx: Trx, vaultId: string, userId: string): Promise<boolean> {
  // Taken first, the revision's row lock makes such changes wait for each other, so that each sees who is left.
  await bumpRevision(trx, IDENTITY_TOPIC);
  const result = await trx
    .deleteFrom('memberships')
    .where('vault_id', '=', vaultId)
    .where('user_id', '=', userId)
    .executeTakeFirst();
  await assertAdminLeft(trx, vaultId);
  return Number(result.numDeletedRows) > 0;
}

/** True when the user is new. */
export async function addUser(trx: Trx, clock: Clock, userId: string): Promise<boolean> {
  const result = await trx
    .insertInto('users')
    .values({ user_id: userId, created_at: isoNow(clock), disabled_at: null })
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirst();
  await bumpRevision(trx, IDENTITY_TOPIC);
  return Number(result.numInsertedOrUpdatedRows ?? 0) > 0;
}

export async function setUserDisabled(trx: Trx, clock: Clock, userId: string, disabled: boolean): Promise<void> {
  await bumpRevision(trx, IDENTITY_TOPIC);
  const result = await trx
    .updateTable('users')
    .set({ disabled_at: disabled ? isoNow(clock) : null })
    .where('user_id', '=', userId)
    .executeTakeFirst();
  if (Number(result.numUpdatedRows) === 0) throw refusal('NOT_FOUND', `There is no user ${userId}.`);
  const vaults = await trx.selectFrom('memberships').select('vault_id').where('user_id', '=', userId).execute();
  for (const { vault_id } of vaults) await assertAdminLeft(trx, vault_id);
}

/** False when a vault of that id is there already. */
export async function addVault(
  trx: Trx,
  clock: Clock,
  vault: { vault_id: string; title: string; starter_revision: number },
): Promise<boolean> {
  const result = await trx
    .insertInto('vaults')
    .values({ ...vault, created_at: isoNow(clock) })
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirst();
  return Number(result.numInsertedOrUpdatedRows ?? 0) > 0;
}

/** A vault that nobody can administer is lost; the change that would make it so is refused. */
async function assertAdminLeft(trx: Trx, vaultId: string): Promise<void> {
  const admin = await trx
    .selectFrom('memberships')
    .innerJoin('users', 'users.user_id', 'memberships.user_id')
    .select('memberships.user_id')
    .where('vault_id', '=', vaultId)
    .where('role', '=', 'admin')
    .where('users.disabled_at', 'is', null)
    .executeTakeFirst();
  if (!admin) {
    throw refusal(
      'CONFLICT',
      `This would leave the vault ${vaultId} without an admin. Make another member admin first.`,
    );
  }
}

function membershipOf(row: {
  user_id: string;
  role: string;
  scopes_json: string | null;
  ambiguous: number;
}): Membership {
  const scopes = row.scopes_json === null ? null : (JSON.parse(row.scopes_json) as unknown[]).filter(isScope);
  return { user_id: row.user_id, role: row.role as Role, scopes, ambiguous: row.ambiguous === 1 };
}
