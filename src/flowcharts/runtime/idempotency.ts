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

/** Of a key whose run is being made in this very transaction. */
const NO_RUN = 0;

/**
 * The run that a request with this key made before, or null: then the caller makes one and remembers it. The same key
 * for another request is refused. Whoever comes second waits until the first has committed.
 */
export function* recallKey(use: KeyUse, now: Date): Script<number | null> {
  const at = now.toISOString();
  yield* rows(`${INSERT} on conflict (vault_id, scope, idempotency_key) do nothing`, ...valuesOf(use, NO_RUN, at));
  const [known] = yield* rows<{ request_sha256: string; run_id: number; first_seen_at: string }>(
    `update runtime_idempotency_keys set hit_count = hit_count + 1, last_seen_at = ?
    where vault_id = ? and scope = ? and idempotency_key = ? returning request_sha256, run_id, first_seen_at`,
    at,
    use.vault_id,
    use.scope,
    use.key,
  );
  const since = new Date(now.getTime() - KEY_HOURS * 3_600_000).toISOString();
  if (!known || known.run_id === NO_RUN || known.first_seen_at <= since) return null;
  if (known.request_sha256 !== hashOf(use.request)) {
    throw refusal('CONFLICT', 'This idempotency key was used for another request. Choose a new key for a new request.');
  }
  return known.run_id;
}

export function* rememberKey(use: KeyUse, runId: number, now: Date): Script<void> {
  yield* rows(
    `${INSERT} on conflict (vault_id, scope, idempotency_key) do update set request_sha256 = excluded.request_sha256,
      run_id = excluded.run_id, first_seen_at = excluded.first_seen_at, last_seen_at = excluded.last_seen_at, hit_count = 1`,
    ...valuesOf(use, runId, now.toISOString()),
  );
}

const INSERT = `insert into runtime_idempotency_keys (vault_id, scope, idempotency_key, request_sha256, run_id,
  response_json, first_seen_at, last_seen_at, hit_count) values (?, ?, ?, ?, ?, '', ?, ?, 1)`;

function valuesOf({ vault_id, scope, key, request }: KeyUse, runId: number, at: string) {
  return [vault_id, scope, key, hashOf(request), runId, at, at] as const;
}

function hashOf(request: unknown): string {
  return sha256Hex(stableStringify(request));
}
