import { type Database, type Freshness, Kept, type TokensTable } from '../database/index.ts';
import type { Clock } from '../kernel/clock.ts';
import { refusal } from '../kernel/errors.ts';
import { sha256Hex } from '../kernel/hash.ts';
import { VAULT_ID_RE } from '../kernel/ids.ts';
import { type Ready, whenReady } from '../kernel/ready.ts';
import { actorHash, LOWEST_SCOPES, type Principal, resolveVisibleScopes, type Scope } from '../operations/index.ts';
import { DEFAULT_VAULT, findMembership, IDENTITY_TOPIC } from './directory.ts';
import { findToken, isPlausibleSecret } from './tokens.ts';

const KEPT_PRINCIPALS = 10_000;

/** Cannot be a user's id: those begin with a letter or a digit. */
const NO_USER = '(nobody)';

interface Resolved {
  principal: Principal;
  expires_ms: number;
}

/** Who a request acts for. Everything here is the server's own knowledge; a client only proves which user it is. */
export class Principals {
  readonly #database: Database;
  readonly #clock: Clock;
  readonly #kept: Kept<Resolved | null>;

  constructor(needs: { database: Database; freshness: Freshness; clock: Clock }) {
    this.#database = needs.database;
    this.#clock = needs.clock;
    this.#kept = new Kept(needs.freshness, KEPT_PRINCIPALS);
  }

  /** From a bearer token or a session cookie; the vault is the named one, else the token's own. */
  fromSecret(
    secret: string,
    purpose: 'bearer' | 'session',
    vaultId: string | undefined,
    agent: boolean,
  ): Ready<Principal> {
    if (!isPlausibleSecret(secret)) throw unauthorized();
    const hash = sha256Hex(secret);
    const key = `${purpose} ${agent} ${hash} ${vaultId ?? ''}`;
    const kept = this.#kept.get(IDENTITY_TOPIC, key, () => this.#resolve(hash, purpose, vaultId, agent));
    return whenReady(kept, (resolved) => {
      if (!resolved || resolved.expires_ms <= this.#clock.now().getTime()) throw unauthorized();
      return resolved.principal;
    });
  }

  /**
   * The configured identity of this machine. Without one, commands see the lowest scope as a viewer; configured scopes
   * can narrow what the identity holds.
   */
  async local(options: {
    identity: string | null;
    vaultId: string;
    narrowTo: readonly string[] | null;
    agent: boolean;
  }): Promise<Principal> {
    const { identity, vaultId, narrowTo, agent } = options;
    const kind = agent ? 'agent' : 'local';
    if (identity === null) {
      await this.#assertVault(vaultId);
      const anonymous = { user_id: NO_USER, kind, vault_id: vaultId, role: 'viewer' } as const;
      return {
        ...anonymous,
        visible_scopes: LOWEST_SCOPES,
        ambiguous: false,
        actor_hash: actorHash(NO_USER, vaultId),
      };
    }
    const principal = await this.#inVault(identity, vaultId, kind);
    if (narrowTo === null) return principal;
    const held = [...principal.visible_scopes].filter((scope) => narrowTo.includes(scope));
    return { ...principal, visible_scopes: new Set<Scope>(held) };
  }

  async #resolve(
    hash: string,
    purpose: TokensTable['purpose'],
    vaultId: string | undefined,
    agent: boolean,
  ): Promise<Resolved | null> {
    const token = await findToken(this.#database.queries, hash, purpose);
    if (!token) return null;
    const kind = agent || token.agent === 1 ? 'agent' : 'user';
    const wanted = vaultId ?? token.vault_id;
    // Admins of a vault make tokens for its members; such a token must not open what else the member may use.
    if (wanted !== token.vault_id && token.vault_id !== DEFAULT_VAULT) throw unknownVault(wanted);
    const principal = await this.#inVault(token.user_id, wanted, kind);
    return { principal, expires_ms: Date.parse(token.expires_at) };
  }

  async #inVault(userId: string, vaultId: string, kind: Principal['kind']): Promise<Principal> {
    const membership = VAULT_ID_RE.test(vaultId) ? await findMembership(this.#database.queries, userId, vaultId) : null;
    if (!membership) throw unknownVault(vaultId);
    return {
      user_id: userId,
      kind,
      vault_id: vaultId,
      role: membership.role,
      visible_scopes: resolveVisibleScopes(membership),
      ambiguous: membership.ambiguous,
      actor_hash: actorHash(userId, vaultId),
    };
  }

  async #assertVault(vaultId: string): Promise<void> {
    const row = await this.#database.queries
      .selectFrom('vaults')
      .select('vault_id')
      .where('vault_id', '=', vaultId)
      .executeTakeFirst();
    if (!row) throw unknownVault(vaultId);
  }
}

/** Stands in the audit log for whoever could not be told. */
export const NOBODY: Principal = {
  user_id: NO_USER,
  kind: 'agent',
  vault_id: '',
  role: 'viewer',
  visible_scopes: new Set<Scope>(),
  ambiguous: false,
  actor_hash: actorHash(NO_USER, ''),
};

function unauthorized() {
  return refusal(
    'UNAUTHORIZED',
    'The token is missing, unknown, expired or revoked. Create one with `flowright token create`.',
  );
}

/** A vault that is not there and one that is not yours answer the same. */
function unknownVault(vaultId: string) {
  const shown = VAULT_ID_RE.test(vaultId) ? `vault ${vaultId}` : 'vault of that name';
  return refusal(
    'NOT_FOUND',
    `There is no ${shown} that you may use. Check its name, your membership and which identity you act as.`,
  );
}
