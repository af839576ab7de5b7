import type { FlowiseClient } from '../flowise/index.ts';
import { refusal } from '../kernel/errors.ts';
import { intentNamed, intentWithKey, type WriteRow } from './intents.ts';
import type { ChatflowNeeds } from './needs.ts';
import { settleWrites } from './settle.ts';

/** What identifies a write that may be the repetition of one that was cut off. */
export interface Attempt {
  vault_id: string;
  payload_hash: string;
  chatflow_id: string | null;
  idempotency_key: string | null;
}

type Needs = Pick<ChatflowNeeds, 'database' | 'clock' | 'config' | 'log' | 'sealingKey'>;

/**
 * A write that is this very one and has arrived: its sender died before it could say so, or the caller repeats a key.
 * Null when there is none, and the write is to be made.
 */
export async function earlierWrite(needs: Needs, client: FlowiseClient, attempt: Attempt): Promise<WriteRow | null> {
  const settled = await settleWrites(needs, client, attempt.vault_id);
  for (const { write_id, outcome } of settled) {
    const row = await intentNamed(needs.database.queries, write_id);
    const isSame =
      row.payload_hash === attempt.payload_hash && (row.kind === 'create') === (attempt.chatflow_id === null);
    if (outcome === 'written' && isSame) return row;
    if (outcome === 'open' && isSame) throw underWay(row);
  }
  if (attempt.idempotency_key === null) return null;
  const row = await intentWithKey(needs.database.queries, attempt.vault_id, attempt.idempotency_key);
  if (!row || row.status === 'absent') return null;
  if (row.payload_hash !== attempt.payload_hash) {
    throw refusal('CONFLICT', 'This idempotency_key was used for another write. Choose a new one.');
  }
  if (row.status === 'intended') throw underWay(row);
  return row;
}

function underWay(row: WriteRow) {
  return refusal('CONFLICT', `The same write is under way (${row.write_id}). Try again when it is done.`, {
    write_id: row.write_id,
  });
}
