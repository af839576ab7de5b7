import type { Attachment, Attachments } from '../../attachments/index.ts';
import type { Database } from '../../database/index.ts';
import type { Clock } from '../../kernel/clock.ts';
import type { Log } from '../../kernel/log.ts';
import type { Llm } from '../../llm/index.ts';
import { findGraph } from '../graph/versions.ts';
import { nodeTypes } from '../nodes/registry.ts';
import { Dispatcher } from './dispatcher.ts';
import { planSubflow } from './plan-run.ts';
import { ProcessPresence } from './process-presence.ts';

export interface EngineNeeds {
  database: Database;
  clock: Clock;
  log: Log;
  llm: Llm;
  attachments: Attachments;
  runsAtOnce: number;
  isServedElsewhere(): boolean;
}

export function createDispatcher(needs: EngineNeeds): Dispatcher {
  const { database, clock, log, llm, attachments } = needs;
  return new Dispatcher({
    services: {
      database,
      clock,
      log,
      nodeTypes,
      nodeServices: { database, clock, llm, attachments },
      findAttachments: (vaultId, ids) => findAttachments(database, vaultId, ids),
      planChild: (run, nodeRunId, flowchartId, input) =>
        planSubflow(database.queries, run, nodeRunId, flowchartId, input),
    },
    presence: new ProcessPresence(database, clock, 'local'),
    loadGraph: async (flowchartId, version) => (await findGraph(database.queries, flowchartId, version)) ?? null,
    runsAtOnce: needs.runsAtOnce,
    isServedElsewhere: needs.isServedElsewhere,
  });
}

/** In the order of their ids; what the vault no longer has is left out. */
async function findAttachments(database: Database, vaultId: string, ids: readonly number[]): Promise<Attachment[]> {
  const rows = await database.queries
    .selectFrom('attachments')
    .select(['id', 'file_name', 'content_type', 'size_bytes', 'sha256'])
    .where('vault_id', '=', vaultId)
    .where('id', 'in', [...ids])
    .execute();
  const byId = new Map(rows.map((row) => [row.id, row]));
  return ids.flatMap((id) => byId.get(id) ?? []);
}
