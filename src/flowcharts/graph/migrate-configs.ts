import { sql } from 'kysely';
import { type Database, takeTurns } from '../../database/index.ts';
import type { Clock } from '../../kernel/clock.ts';

/**
 * The hard cut, at every start: configs of an older contract become today's, and every flowchart has its graph as a
 * version. One question to two small indexes when there is nothing to do, and nothing is loaded for it. A row that
 * cannot be read stops the start and names itself; all is done or nothing.
 */
export async function migrateConfigs(database: Database, clock: Clock): Promise<{ migrated: number[] }> {
  const { rows } = await sql<{ id: number }>`
    select flowchart_id as id from flowchart_nodes where config_contract = 0
    union
    select id from flowcharts where not exists (select 1 from flowchart_versions
      where flowchart_versions.flowchart_id = flowcharts.id and flowchart_versions.version = flowcharts.graph_version)
    limit 1`.execute(database.queries);
  if (rows.length === 0) return { migrated: [] };
  const { migrateFlowcharts } = await import('./migrate-flowcharts.ts');
  return database.transaction(async (trx) => {
    await takeTurns(trx, database.dialect, 'flowchart-configs');
    return { migrated: await migrateFlowcharts(trx, clock) };
  });
}
