import { readNodeRuns, readStates } from '../../artifacts/index.ts';
import type { Queries, RunStatus } from '../../database/index.ts';
import { refusal } from '../../kernel/errors.ts';
import type { Graph } from '../graph/model.ts';
import { excerptOf } from './excerpt.ts';
import { type FlowchartRun, flowchartRun, isTerminal, type RunRow } from './run-record.ts';

/** A run of another vault is not there, the same as one that never was. */
export async function findRun(queries: Queries, vaultId: string, runId: number): Promise<RunRow> {
  const row = await queries
    .selectFrom('flowchart_runs')
    .selectAll()
    .where('id', '=', runId)
    .where('vault_id', '=', vaultId)
    .executeTakeFirst();
  if (!row) {
    throw refusal('NOT_FOUND', `There is no run ${runId} that you may see. List them with \`flowright run list\`.`);
  }
  return row;
}

export async function findFlowchart(
  queries: Queries,
  vaultId: string,
  flowchartId: number,
): Promise<{ id: number; name: string }> {
  const row = await queries
    .selectFrom('flowcharts')
    .select(['id', 'name'])
    .where('id', '=', flowchartId)
    .where('vault_id', '=', vaultId)
    .executeTakeFirst();
  if (!row) {
    throw refusal(
      'NOT_FOUND',
      `There is no flowchart ${flowchartId} that you may see. List them with \`flowright flowchart list\`.`,
    );
  }
  return row;
}

/** The graph that a run walks. */
export async function pinnedGraph(
  queries: Queries,
  run: Pick<RunRow, 'flowchart_id' | 'graph_version'>,
): Promise<Graph> {
  const row = await queries
    .selectFrom('flowchart_versions')
    .select('graph_json')
    .where('flowchart_id', '=', run.flowchart_id)
    .where('version', '=', run.graph_version)
    .executeTakeFirst();
  return row ? (JSON.parse(row.graph_json) as Graph) : { nodes: [], edges: [] };
}

export interface RunFilter {
  flowchart_id?: number | undefined;
  status?: RunStatus | undefined;
  parent_run_id?: number | undefined;
}

/** Newest first. */
export async function listRuns(
  queries: Queries,
  vaultId: string,
  filter: RunFilter,
  { limit, offset }: { limit: number; offset: number },
): Promise<{ rows: RunRow[]; total: number }> {
  let query = queries.selectFrom('flowchart_runs').where('vault_id', '=', vaultId);
  if (filter.flowchart_id !== undefined) query = query.where('flowchart_id', '=', filter.flowchart_id);
  if (filter.status !== undefined) query = query.where('status', '=', filter.status);
  if (filter.parent_run_id !== undefined) query = query.where('parent_run_id', '=', filter.parent_run_id);
  const rows = await query.selectAll().orderBy('id', 'desc').limit(limit).offset(offset).execute();
  const { total } = await query
    .select((expression) => expression.fn.countAll<number | string>().as('total'))
    .executeTakeFirstOrThrow();
  return { rows, total: Number(total) };
}

/** Runs with what they came to. In a list, long inputs and outputs show their beginning only. */
export async function withOutputs(
  queries: Queries,
  rows: readonly RunRow[],
  options: { inList: boolean },
): Promise<FlowchartRun[]> {
  const ended = rows.filter(({ status }) => isTerminal(status));
  const nodeRuns = await readNodeRuns(
    queries,
    ended.flatMap(({ output_node_run_id }) => output_node_run_id ?? []),
  );
  const states = await readStates(queries, nodeRuns);
  const degraded = await countDegraded(
    queries,
    rows.map(({ id }) => id),
  );
  return rows.map((row) => {
    const bare = flowchartRun(row, { output: states.get(row.output_node_run_id ?? 0)?.output_state ?? null });
    const run = { ...bare, warning_count: bare.warning_count + (degraded.get(row.id) ?? 0) };
    return options.inList ? { ...run, input: excerptOf(run.input), output: excerptOf(run.output) } : run;
  });
}

/** Node runs of each run that succeeded only with a warning. */
async function countDegraded(queries: Queries, runIds: readonly number[]): Promise<Map<number, number>> {
  if (runIds.length === 0) return new Map();
  const rows = await queries
    .selectFrom('flowchart_run_nodes')
    .select('flowchart_run_id')
    .select((expression) => expression.fn.countAll<number | string>().as('count'))
    .where('flowchart_run_id', 'in', runIds)
    .where('degraded_reason', 'is not', null)
    .groupBy('flowchart_run_id')
    .execute();
  return new Map(rows.map(({ flowchart_run_id, count }) => [flowchart_run_id, Number(count)]));
}

export interface RunCounts {
  node_run_count: number;
  cycle_count: number;
}

/** Node runs in each run, and how often its start was executed: once when there is any node run at all. */
export async function countNodeRuns(queries: Queries, runIds: readonly number[]): Promise<Map<number, RunCounts>> {
  if (runIds.length === 0) return new Map();
  const rows = await queries
    .selectFrom('flowchart_run_nodes')
    .select(['flowchart_run_id', 'node_type'])
    .select((expression) => expression.fn.countAll<number | string>().as('count'))
    .where('flowchart_run_id', 'in', runIds)
    .groupBy(['flowchart_run_id', 'node_type'])
    .execute();
  const counts = new Map<number, RunCounts>();
  for (const { flowchart_run_id, node_type, count } of rows) {
    const known = counts.get(flowchart_run_id) ?? { node_run_count: 0, cycle_count: 1 };
    known.node_run_count += Number(count);
    if (node_type === 'start') known.cycle_count = Math.max(1, Number(count));
    counts.set(flowchart_run_id, known);
  }
  return counts;
}
