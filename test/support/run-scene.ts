import { setTimeout as sleep } from 'node:timers/promises';
import type { Database } from '../../src/database/index.ts';
import { insertRun } from '../../src/flowcharts/runtime/new-run.ts';
import { planRun } from '../../src/flowcharts/runtime/plan-run.ts';
import type { TestStore } from './databases.ts';
import { type Flowcharts, openFlowcharts } from './flowcharts.ts';

type Json = Record<string, unknown>;

export interface SentGraph {
  nodes: Json[];
  edges: Json[];
}

/** Flowcharts and runs of them that wait for somebody to walk them. */
export interface RunScene {
  database: Database;
  flowcharts: Flowcharts;
  flowchart(graph: SentGraph, settings?: Json): Promise<number>;
  runs(flowchartId: number, count: number): Promise<number[]>;
  /** Resolves once all of them have ended. */
  ended(runIds: readonly number[], withinMs: number): Promise<void>;
}

const POLL_MS = 20;

export async function openRunScene(store: TestStore): Promise<RunScene> {
  const flowcharts = await openFlowcharts(store);
  const { database } = flowcharts;
  return {
    database,
    flowcharts,
    flowchart: async (graph, settings = {}) => {
      const { flowchart } = await flowcharts.ask('flowchart.create', { name: 'Walked', ...settings });
      await flowcharts.ask('flowchart.save', { flowchart_id: flowchart.id, ...graph });
      return flowchart.id as number;
    },
    runs: async (flowchartId, count) => {
      const { run } = await planRun(database.queries, {
        vault_id: 'default',
        flowchart_id: flowchartId,
        start_node_id: null,
        input: null,
        started_by: 'local',
        started_as: 'user',
        request_id: null,
        correlation_id: null,
      });
      const now = new Date().toISOString();
      return database.script(function* () {
        const ids: number[] = [];
        for (let made = 0; made < count; made += 1) ids.push(yield* insertRun(run, now));
        return ids;
      });
    },
    ended: async (runIds, withinMs) => {
      const deadline = Date.now() + withinMs;
      for (;;) {
        const open = await database.queries
          .selectFrom('flowchart_runs')
          .select('id')
          .where('id', 'in', [...runIds])
          .where('finished_at', 'is', null)
          .execute();
        if (open.length === 0) return;
        if (Date.now() > deadline) throw new Error(`${open.length} of ${runIds.length} runs have not ended`);
        await sleep(POLL_MS);
      }
    },
  };
}

/** Start, so many static tasks in a row, end. */
export function lineGraph(tasks: number): SentGraph {
  const names = ['start', ...Array.from({ length: tasks }, (_, at) => `t${at}`), 'end'];
  return {
    nodes: names.map((client_id, at) => {
      const place = { client_id, x: at, y: 0 };
      if (at === 0 || at > tasks) return { ...place, node_type: client_id };
      return { ...place, node_type: 'task', config: { executor: 'static', output: { at } } };
    }),
    edges: names.slice(1).map((target, at) => ({ source: names[at], target, edge_mode: 'solid' })),
  };
}
