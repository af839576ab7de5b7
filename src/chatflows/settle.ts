import { type FlowiseClient, flowHash } from '../flowise/index.ts';
import { isoNow } from '../kernel/clock.ts';
import { openIntents, secondsOpen, settleIntent, type WriteRow } from './intents.ts';
import { lookForWrite } from './look.ts';
import type { ChatflowNeeds } from './needs.ts';
import { settleAsWritten } from './write.ts';

/** What became of a write whose sender died. */
export interface SettledWrite {
  write_id: string;
  chatflow_id: string | null;
  outcome: 'written' | 'absent' | 'superseded' | 'open';
}

type Needs = Pick<ChatflowNeeds, 'database' | 'clock' | 'config' | 'log' | 'sealingKey'>;

/** Looks at the server for every write that was begun and not finished. */
export async function settleWrites(needs: Needs, client: FlowiseClient, vaultId: string): Promise<SettledWrite[]> {
  const rows = await openIntents(needs.database.queries, { vault_id: vaultId, server: client.server });
  const settled: SettledWrite[] = [];
  for (const row of rows) settled.push(await settleWrite(needs, client, row));
  return settled;
}

async function settleWrite(needs: Needs, client: FlowiseClient, row: WriteRow): Promise<SettledWrite> {
  const { write_id, vault_id, server, author, chatflow_id } = row;
  const found = await lookForWrite(client, row);
  const now = isoNow(needs.clock);
  if (found) {
    const key = needs.sealingKey();
    await settleAsWritten(needs, found, row, { vault_id, server, author, key });
    return { write_id, chatflow_id: found.id, outcome: 'written' };
  }
  if (secondsOpen(row, needs.clock.now(), needs.config.flowise_timeout_seconds) > 0) {
    return { write_id, chatflow_id, outcome: 'open' };
  }
  const outcome = (await isOvertaken(client, row)) ? 'superseded' : 'absent';
  await needs.database.transaction((trx) => settleIntent(trx, write_id, { status: outcome, now }));
  return { write_id, chatflow_id, outcome };
}

/** The chatflow is neither what it was nor what we sent: somebody wrote since, whether or not ours arrived before. */
async function isOvertaken(client: FlowiseClient, row: WriteRow): Promise<boolean> {
  if (row.chatflow_id === null) return false;
  const current = await client.getChatflow(row.chatflow_id);
  return current !== null && flowHash(current.flowData) !== row.base_hash;
}
