import { sha256Hex } from '../kernel/hash.ts';
import type { Role } from './role.ts';
import type { Scope } from './scope.ts';

/** Who asks, resolved by the server once per request and never taken from what the client says about itself. */
export interface Principal {
  user_id: string;
  kind: 'user' | 'agent' | 'local';
  vault_id: string;
  role: Role;
  visible_scopes: ReadonlySet<Scope>;
  /** The membership does not say clearly what may be seen; flow calls are refused until it does. */
  ambiguous: boolean;
  /** Stands for the user where content travels, so that no user id leaves with it. */
  actor_hash: string;
}

export function actorHash(userId: string, vaultId: string, issuer = 'flowright'): string {
  return sha256Hex(`${userId}|${vaultId}|${issuer}`);
}
