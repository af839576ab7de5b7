import { type NodeRunRow, readSources, readStates } from '../../artifacts/index.ts';
import type { Queries } from '../../database/index.ts';
import { refusal } from '../../kernel/errors.ts';
import { excerptOf } from './excerpt.ts';
import { hydrateContext } from './hydrate-context.ts';
import { pinnedGraph } from './read-runs.ts';
import { type NodeRun, nodeRun, type RunRow } from './run-record.ts';

export interface NodeRunPage {
  node_runs: NodeRun[];
  total: number;
}

/** In the order of activation, with the titles of the graph that the run walks; outputs in excerpts. */
export async function listNodeRuns(
  queries: Queries,
  run: RunRow,
  { limit, offset, status }: { limit: number; offset: number; status?: NodeRun['status'] | undefined },
): Promise<NodeRunPage> {
  let query = queries.selectFrom('flowchart_run_nodes').where('flowchart_run_id', '=', run.id);
  if (status !== undefined) query = query.where('status', '=', status);
  const rows = await query.selectAll().orderBy('sequence').limit(limit).offset(offset).execute();
  const { total } = await query
    .select((expression) => expression.fn.countAll<number | string>().as('total'))
    .executeTakeFirstOrThrow();
  return { node_runs: await describeNodeRuns(queries, run, rows), total: Number(total) };
}

export async function describeNodeRuns(queries: Queries, run: RunRow, rows: readonly NodeRunRow[]): Promise<NodeRun[]> {
  if (rows.length === 0) return [];
  const { flowchart_id, graph_version } = run;
  const graph = await pinnedGraph(queries, run);
  const titles = new Map(graph.nodes.map((node) => [node.id, node.title]));
  const states = await readStates(queries, rows);
  const sources = await readSources(
    queries,
    rows.map((row) => ({ ...row, flowchart_id, graph_version })),
  );
  const starts = await startSequences(queries, run.id);
  return rows.map((row) =>
    nodeRun(row, {
      node_title: titles.get(row.flowchart_node_id) ?? null,
      cycle_index: cycleAt(starts, row.sequence),
      sources: sources.get(row.id),
      input_context: null,
      output_state: excerptOf(states.get(row.id)?.output_state ?? null),
      routing_state: excerptOf(states.get(row.id)?.routing_state ?? null),
    }),
  );
}

/** One node run with whole outputs and with what it was given. */
export async function readNodeRun(
  queries: Queries,
  vaultId: string,
  nodeRunId: number,
): Promise<{ run: RunRow; node_run: NodeRun }> {
  const row = await queries
    .selectFrom('flowchart_run_nodes')
    .selectAll()
    .where('id', '=', nodeRunId)
    .executeTakeFirst();
  const run = row && (await runOf(queries, vaultId, row.flowchart_run_id));
  if (!row || !run) {
    throw refusal(
      'NOT_FOUND',
      `There is no node run ${nodeRunId} that you may see. \`flowright run show\` lists those of a run.`,
    );
  }
  const [described] = await describeNodeRuns(queries, run, [row]);
  const state = (await readStates(queries, [row])).get(row.id);
  const context = await hydrateContext(queries, run, row, await pinnedGraph(queries, run));
  return {
    run,
    node_run: {
      ...(described as NodeRun),
      input_context: { ...context },
      output_state: state?.output_state ?? null,
      routing_state: state?.routing_state ?? null,
    },
  };
}

async function runOf(queries: Queries, vaultId: string, runId: number): Promise<RunRow | undefined> {
  return queries
    .selectFrom('flowchart_runs')
    .selectAll()
    .where('id', '=', runId)
    .where('vault_id', '=', vaultId)
    .executeTakeFirst();
}

async function startSequences(queries: Queries, runId: number): Promise<number[]> {
  const rows = await queries
    .selectFrom('flowchart_run_nodes')
    .select('sequence')
    .where('flowchart_run_id', '=', runId)
    .where('node_type', '=', 'start')
    .orderBy('sequence')
    .execute();
  return rows.map(({ sequence }) => sequence);
}

function cycleAt(starts: readonly number[], sequence: number): number {
  return Math.max(1, starts.filter((start) => start <= sequence).length);
}
