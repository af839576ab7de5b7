import type { Database } from '../../src/database/index.ts';
import { findGraph } from '../../src/flowcharts/graph/versions.ts';
import type { NodeType } from '../../src/flowcharts/nodes/node-type.ts';
import { Dispatcher } from '../../src/flowcharts/runtime/dispatcher.ts';
import { planSubflow } from '../../src/flowcharts/runtime/plan-run.ts';
import { ProcessPresence } from '../../src/flowcharts/runtime/process-presence.ts';
import { systemClock } from '../../src/kernel/clock.ts';
import { silentLog } from '../../src/kernel/log.ts';

const unused = (): Promise<never> => Promise.reject(new Error('nobody asks for this here'));

/** The real engine on a database and with kinds of nodes that a test may have wrapped. */
export function walkingEngine(
  database: Database,
  nodeTypes: ReadonlyMap<string, NodeType>,
  runsAtOnce: number,
): Dispatcher {
  return new Dispatcher({
    services: {
      database,
      clock: systemClock,
      log: silentLog,
      nodeTypes,
      nodeServices: {
        database,
        clock: systemClock,
        llm: { configured: false, complete: unused },
        attachments: { read: unused },
      },
      findAttachments: async () => [],
      planChild: (run, nodeRunId, flowchartId, input) =>
        planSubflow(database.queries, run, nodeRunId, flowchartId, input),
    },
    presence: new ProcessPresence(database, systemClock, 'test'),
    loadGraph: async (flowchartId, version) => (await findGraph(database.queries, flowchartId, version)) ?? null,
    runsAtOnce,
    isServedElsewhere: () => false,
  });
}
