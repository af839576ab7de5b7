import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { bumpRevision, type Database, type Trx, takeTurns } from './database/index.ts';
import { FLOW_STORE_FILENAME, importFlowStore, loadFlowStore } from './flows/index.ts';
import { ensureVaultWithAdmin, importScopeFile, OWNER, SCOPE_FILENAME } from './identity/index.ts';
import type { Clock } from './kernel/clock.ts';
import type { Log } from './kernel/log.ts';

interface Needs {
  database: Database;
  clock: Clock;
  dataDir: string;
  log: Log;
}

/**
 * Takes over the files of the earlier system that a home may bring along, each once. Costs two look-ups of file names
 * when there is nothing to do.
 */
export async function importOldFiles(needs: Needs): Promise<void> {
  await once(needs, SCOPE_FILENAME, async (trx) => {
    const count = await importScopeFile(trx, needs.clock, needs.dataDir, needs.log);
    return count === null ? null : `${SCOPE_FILENAME} was imported: ${count} memberships`;
  });
  await once(needs, FLOW_STORE_FILENAME, (trx) => importStore(trx, needs));
}

/** Does the work and marks it done in one transaction; null means that there was nothing fit to take over. */
async function once(needs: Needs, file: string, work: (trx: Trx) => Promise<string | null>): Promise<void> {
  if (!existsSync(join(needs.dataDir, file))) return;
  const topic = `imported:${file}`;
  const isDone = async (queries: Database['queries']) => {
    const mark = await queries.selectFrom('revisions').select('topic').where('topic', '=', topic).executeTakeFirst();
    return mark !== undefined;
  };
  if (await isDone(needs.database.queries)) return;
  const summary = await needs.database.transaction(async (trx) => {
    // Of several first starts, the one that comes second finds the mark here.
    await takeTurns(trx, needs.database.dialect, topic);
    if (await isDone(trx)) return null;
    const report = await work(trx);
    if (report !== null) await bumpRevision(trx, topic);
    return report;
  });
  if (summary) needs.log.warn({ file }, summary);
}

async function importStore(trx: Trx, { database, clock, dataDir, log }: Needs): Promise<string | null> {
  let damaged = false;
  const file = loadFlowStore(dataDir, {
    onDamaged: (where, reason) => {
      damaged = true;
      log.error(
        { where },
        `${FLOW_STORE_FILENAME} is damaged (${reason}); it is kept as ${where} and was not imported`,
      );
    },
  });
  if (damaged) return null;
  const ensureVault = (inner: Trx, vaultId: string) => ensureVaultWithAdmin(inner, clock, vaultId, OWNER);
  const report = await importFlowStore(trx, { dialect: database.dialect, clock, ensureVault }, file);
  const quarantined = report.quarantined.map((item) => `${item.kind} ${item.id}: ${item.reason}`);
  return [
    `${FLOW_STORE_FILENAME} was imported: ${report.flows} flow versions, ${report.records} other records`,
    ...quarantined.map((line) => `kept in quarantine: ${line}`),
  ].join('\n');
}
