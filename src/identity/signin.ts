import type { Database, Trx } from '../database/index.ts';
import type { Clock } from '../kernel/clock.ts';
import { refusal } from '../kernel/errors.ts';
import { sha256Hex } from '../kernel/hash.ts';
import { addToken, findToken, isExpired, isPlausibleSecret, revokeToken } from './tokens.ts';

const CODE_LIFETIME_MS = 15 * 60_000;
const SESSION_LIFETIME_MS = 30 * 24 * 60 * 60_000;

export const SESSION_SECONDS = SESSION_LIFETIME_MS / 1_000;

/** A code that opens the studio once, for whoever can read this machine's terminal. */
export async function createSigninCode(
  database: Database,
  clock: Clock,
  owner: { user_id: string; vault_id: string },
): Promise<string> {
  const { secret } = await database.transaction((trx) =>
    addToken(trx, clock, {
      ...owner,
      purpose: 'signin',
      agent: false,
      label: 'sign-in link',
      lifetime_ms: CODE_LIFETIME_MS,
    }),
  );
  return secret;
}

/** Exchanges the code for a session secret; `record` writes it down in the same transaction. A second use is refused. */
export async function redeemSigninCode(
  database: Database,
  clock: Clock,
  code: string,
  record?: (trx: Trx, owner: { user_id: string; vault_id: string }) => Promise<void>,
): Promise<string> {
  const spent = refusal(
    'UNAUTHORIZED',
    'This sign-in link was used already or has expired. Run `flowright signin` for a new one.',
  );
  if (!isPlausibleSecret(code)) throw spent;
  return database.transaction(async (trx) => {
    const token = await findToken(trx, sha256Hex(code), 'signin');
    if (!token || isExpired(token, clock)) throw spent;
    if (!(await revokeToken(trx, clock, token.vault_id, token.token_id))) throw spent;
    const { user_id, vault_id } = token;
    const { secret } = await addToken(trx, clock, {
      user_id,
      vault_id,
      purpose: 'session',
      agent: false,
      label: 'browser',
      lifetime_ms: SESSION_LIFETIME_MS,
    });
    await record?.(trx, { user_id, vault_id });
    return secret;
  });
}
