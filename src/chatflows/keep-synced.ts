import { isoNow } from '../kernel/clock.ts';
import type { ChatflowNeeds } from './needs.ts';
import { settleWrites } from './settle.ts';
import { recordSighting } from './sync.ts';

const MINUTE_MS = 60_000;

/** Records what changed on every server of every vault. A server that does not answer does not hold up the others. */
export async function syncAll(needs: ChatflowNeeds): Promise<void> {
  const { database, clock, flowise, log, sealingKey } = needs;
  const vaults = await database.queries.selectFrom('vaults').select('vault_id').execute();
  for (const { vault_id } of vaults) {
    for (const { name: server } of await flowise.list(vault_id)) {
      try {
        const client = await flowise.client(vault_id, server);
        await settleWrites(needs, client, vault_id);
        const looked_at = isoNow(clock);
        const chatflows = await client.listChatflows();
        const sighting = { vault_id, server, chatflows, looked_at, now: isoNow(clock) };
        await database.transaction((trx) => recordSighting(trx, database.dialect, sealingKey(), sighting));
      } catch (error) {
        log.warn({ error, server, vault_id }, `the chatflows of ${server} were not recorded; trying again later`);
      }
    }
  }
}

/** Does so at an interval until it is told to stop. */
export function keepSynced(needs: ChatflowNeeds): () => void {
  let isAtWork = false;
  const timer = setInterval(() => {
    if (isAtWork) return;
    isAtWork = true;
    void syncAll(needs)
      .catch((error: unknown) => needs.log.warn({ error }, 'recording chatflows failed; trying again later'))
      .finally(() => {
        isAtWork = false;
      });
  }, needs.config.flowise_sync_minutes * MINUTE_MS);
  timer.unref();
  return () => clearInterval(timer);
}
