import type { FlowiseClient } from '../flowise/index.ts';
import { stableStringify } from '../kernel/canonical-json.ts';
import { refusal } from '../kernel/errors.ts';
import { sha256Hex } from '../kernel/hash.ts';
import { intentNamed, intentWithKey, secondsOpen, type WriteRow } from './intents.ts';
import type { ChatflowNeeds } from './needs.ts';
import { settleWrites } from './settle.ts';

/** What identifies a write that may be the repetition of one that was cut off. */
export interface Attempt {
  vault_id: string;
  request_hash: string;
  idempotency_key: string | null;
}

type Needs = Pick<ChatflowNeeds, 'database' | 'clock' | 'config' | 'log' | 'sealingKey'>;

/** The same for two requests that ask for the same write, whatever is said about it. */
export function requestHash(operation: string, input: { message?: unknown; idempotency_key?: unknown }): string {
  const { message: _, idempotency_key: __, ...wanted } = input;
  return sha256Hex(stableStringify([operation, wanted]));
}

/**
 * A write that is this very one and has arrived: its sender died before it could say so, or the caller repeats a key.
 * Null when there is none, and the write is to be made. Looked for before anything is planned: on what the write itself
 * has made, the same request would look like a conflict.
 */
export async function earlierWrite(needs: Needs, client: FlowiseClient, attempt: Attempt): Promise<WriteRow | null> {
  const settled = await settleWrites(needs, client, attempt.vault_id);
  for (const { write_id, outcome } of settled) {
    const row = await intentNamed(needs.database.queries, write_id);
    if (row.request_hash !== attempt.request_hash) continue;
    if (outcome === 'written') return row;
    if (outcome === 'open') throw underWay(needs, row);
  }
  if (attempt.idempotency_key === null) return null;
  const row = await intentWithKey(needs.database.queries, attempt.vault_id, attempt.idempotency_key);
  if (!row || row.status === 'absent' || row.status === 'superseded') return null;
  if (row.request_hash !== attempt.request_hash) {
    throw refusal('CONFLICT', 'This idempotency_key was used for another write. Choose a new one.');
  }
  if (row.status === 'intended') throw underWay(needs, row);
  return row;
}

/** It was sent and may still arrive: a second one now could make two. */
function underWay({ clock, config }: Needs, row: WriteRow) {
  const seconds = Math.ceil(secondsOpen(row, clock.now(), config.flowise_timeout_seconds));
  return refusal(
    'CONFLICT',
    `This very write is under way (${row.write_id}) and may still arrive. Try again in ${seconds} s, or look with \`flowright chatflow sync\`.`,
    { write_id: row.write_id, seconds },
  );
}
