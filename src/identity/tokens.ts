import { bumpRevision, type Queries, type TokensTable, type Trx } from '../database/index.ts';
import { type Clock, isoNow } from '../kernel/clock.ts';
import { sha256Hex } from '../kernel/hash.ts';
import { newId, newSecret } from '../kernel/ids.ts';
import { IDENTITY_TOPIC } from './directory.ts';

const PREFIX: Record<TokensTable['purpose'], string> = { bearer: 'flw', session: 'flws', signin: 'flwc' };
const MAX_SECRET = 128;

export interface NewToken {
  purpose: TokensTable['purpose'];
  user_id: string;
  vault_id: string;
  agent: boolean;
  label: string;
  lifetime_ms: number;
}

/** Makes a token. The secret is returned once; only its hash is stored. */
export async function addToken(trx: Trx, clock: Clock, token: NewToken): Promise<{ secret: string; row: TokensTable }> {
  const secret = newSecret(PREFIX[token.purpose]);
  const row: TokensTable = {
    token_id: newId('tok'),
    secret_sha256: sha256Hex(secret),
    purpose: token.purpose,
    user_id: token.user_id,
    vault_id: token.vault_id,
    agent: Number(token.agent),
    label: token.label,
    created_at: isoNow(clock),
    expires_at: new Date(clock.now().getTime() + token.lifetime_ms).toISOString(),
    revoked_at: null,
  };
  await trx.insertInto('tokens').values(row).execute();
  await bumpRevision(trx, IDENTITY_TOPIC);
  return { secret, row };
}

/** The live token of that secret and purpose, of a user who is not disabled; expiry is the caller's to check, since it passes without a write. */
export async function findToken(
  queries: Queries,
  secretSha256: string,
  purpose: TokensTable['purpose'],
): Promise<TokensTable | null> {
  const row = await queries
    .selectFrom('tokens')
    .innerJoin('users', 'users.user_id', 'tokens.user_id')
    .selectAll('tokens')
    .where('secret_sha256', '=', secretSha256)
    .where('purpose', '=', purpose)
    .where('revoked_at', 'is', null)
    .where('users.disabled_at', 'is', null)
    .executeTakeFirst();
  return row ?? null;
}

export async function listTokens(queries: Queries, vaultId: string, userId?: string): Promise<TokensTable[]> {
  let query = queries.selectFrom('tokens').selectAll().where('vault_id', '=', vaultId).where('purpose', '=', 'bearer');
  if (userId !== undefined) query = query.where('user_id', '=', userId);
  return query.orderBy('created_at', 'desc').orderBy('token_id').execute();
}

/** Revokes a live token, compare-and-set: true for exactly one caller. */
export async function revokeToken(trx: Trx, clock: Clock, vaultId: string, tokenId: string): Promise<boolean> {
  const result = await trx
    .updateTable('tokens')
    .set({ revoked_at: isoNow(clock) })
    .where('token_id', '=', tokenId)
    .where('vault_id', '=', vaultId)
    .where('revoked_at', 'is', null)
    .executeTakeFirst();
  await bumpRevision(trx, IDENTITY_TOPIC);
  return Number(result.numUpdatedRows) > 0;
}

export function isPlausibleSecret(secret: string): boolean {
  return secret.length <= MAX_SECRET && /^flw[cs]?_[A-Za-z0-9_-]+$/.test(secret);
}

export function isExpired(token: { expires_at: string }, clock: Clock): boolean {
  return token.expires_at <= isoNow(clock);
}
