import { rows, type Script } from '../../database/index.ts';
import { stableStringify } from '../../kernel/canonical-json.ts';
import { refusal } from '../../kernel/errors.ts';
import { sha256Hex } from '../../kernel/hash.ts';

/** How long a key is remembered. */
export const KEY_HOURS = 24;

interface KeyUse {
  vault_id: string;
  scope: string;
  key: string;
  request: unknown;
}

/** The run that a request with this key made before, or null. The same key for another request is refused. */
export function* recallKey(use: KeyUse, now: Date): Script<number | null> {
  const since = new Date(now.getTime() - KEY_HOURS * 3_600_000).toISOString();
  const [known] = yield* rows<{ request_sha256: string; run_id: number }>(
    `update runtime_idempotency_keys set hit_count = hit_count + 1, last_seen_at = ?
    where vault_id = ? and scope = ? and idempotency_key = ? and first_seen_at > ? returning request_sha256, run_id`,
    now.toISOString(),
    use.vault_id,
    use.scope,
    use.key,
    since,
  );
  if (!known) return null;
  if (known.request_sha256 !== hashOf(use.request)) {
    throw refusal('CONFLICT', 'This idempotency key was used for another request. Choose a new key for a new request.');
  }
  return known.run_id;
}

export function* rememberKey(use: KeyUse, runId: number, now: Date): Script<void> {
  const at = now.toISOString();
  yield* rows(
    'delete from runtime_idempotency_keys where vault_id = ? and scope = ? and idempotency_key = ?',
    use.vault_id,
    use.scope,
    use.key,
  );
  yield* rows(
    `insert into runtime_idempotency_keys (vault_id, scope, idempotency_key, request_sha256, run_id, response_json,
      first_seen_at, last_seen_at, hit_count) values (?, ?, ?, ?, ?, '', ?, ?, 1)`,
    use.vault_id,
    use.scope,
    use.key,
    hashOf(use.request),
    runId,
    at,
    at,
  );
}

function hashOf(request: unknown): string {
  return sha256Hex(stableStringify(request));
}
