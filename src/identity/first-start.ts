import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Database, Trx } from '../database/index.ts';
import type { Clock } from '../kernel/clock.ts';
import { USER_ID_RE, VAULT_ID_RE } from '../kernel/ids.ts';
import type { Log } from '../kernel/log.ts';
import { isScope } from '../operations/index.ts';
import { addVault, DEFAULT_VAULT, findStoredMembership, OWNER, setMembership } from './directory.ts';

export const SCOPE_FILENAME = 'hub_flow_workspace_scope.json';

/** Vault `default` with its owner, once; true when it was made now. One indexed read when they are there. */
export async function ensureOwner(database: Database, clock: Clock): Promise<boolean> {
  const there = await database.queries
    .selectFrom('vaults')
    .select('vault_id')
    .where('vault_id', '=', DEFAULT_VAULT)
    .executeTakeFirst();
  if (there) return false;
  return database.transaction((trx) => ensureVaultWithAdmin(trx, clock, DEFAULT_VAULT, OWNER));
}

/** Adds the vault with this admin when there is no such vault; an existing one is left as it is. True when added. */
export async function ensureVaultWithAdmin(trx: Trx, clock: Clock, vaultId: string, admin: string): Promise<boolean> {
  if (!(await addVault(trx, clock, { vault_id: vaultId, title: vaultId, starter_revision: 0 }))) return false;
  await setMembership(trx, clock, vaultId, { user_id: admin, role: 'admin', scopes: null, ambiguous: false });
  return true;
}

/**
 * Takes over `{user: {vault: {scopes?, ambiguous?}}}`. It says nothing of roles, so a user who is new becomes a viewer.
 * Returns how many memberships it set, or null for a file that cannot be read.
 */
export async function importScopeFile(trx: Trx, clock: Clock, dataDir: string, log: Log): Promise<number | null> {
  const file = readScopeFile(join(dataDir, SCOPE_FILENAME), log);
  if (!file) return null;
  let imported = 0;
  for (const [userId, vaults] of Object.entries(file)) {
    for (const [vaultId, grant] of Object.entries(asRecord(vaults))) {
      if (!USER_ID_RE.test(userId) || !VAULT_ID_RE.test(vaultId)) {
        log.warn({}, `${SCOPE_FILENAME}: an entry with an invalid user or vault id was skipped`);
        continue;
      }
      await ensureVaultWithAdmin(trx, clock, vaultId, OWNER);
      const { scopes, ambiguous } = asRecord(grant);
      const valid = Array.isArray(scopes) ? scopes.filter(isScope) : [];
      const known = await findStoredMembership(trx, userId, vaultId);
      await setMembership(trx, clock, vaultId, {
        user_id: userId,
        role: known?.membership.role ?? 'viewer',
        scopes: valid.length > 0 ? valid : null,
        ambiguous: ambiguous === true,
      });
      imported += 1;
    }
  }
  return imported;
}

function readScopeFile(path: string, log: Log): Record<string, unknown> | null {
  try {
    return asRecord(JSON.parse(readFileSync(path, 'utf8')));
  } catch (error) {
    log.warn({}, `${SCOPE_FILENAME} cannot be read and was left alone: ${(error as Error).message}`);
    return null;
  }
}

function asRecord(value: unknown): Record<string, unknown> {
  return value !== null && typeof value === 'object' && !Array.isArray(value) ? (value as Record<string, unknown>) : {};
}
