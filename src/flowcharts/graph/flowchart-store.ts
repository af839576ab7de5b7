import { type DialectName, type Queries, type Trx, takeTurns } from '../../database/index.ts';
import { refusal } from '../../kernel/errors.ts';
import type { Flowchart, FlowchartSettings, FlowchartSummary } from './wire.ts';

const COLUMNS = [
  'id',
  'name',
  'description',
  'max_node_executions',
  'max_runtime_minutes',
  'max_parallel_nodes',
  'graph_version',
  'created_at',
  'updated_at',
] as const;

const ACTIVE = ['queued', 'running', 'pausing', 'paused', 'stopping'] as const;
const LATEST_RUNS = 25;

/** A flowchart of this vault; one of another vault is as missing as one that never was. */
export async function findFlowchart(queries: Queries, vaultId: string, id: number): Promise<Flowchart> {
  const row = await queries
    .selectFrom('flowcharts')
    .select(COLUMNS)
    .where('vault_id', '=', vaultId)
    .where('id', '=', id)
    .executeTakeFirst();
  if (!row)
    throw refusal('NOT_FOUND', `There is no flowchart ${id}. \`flowright flowchart list\` shows those there are.`);
  return row;
}

/** The same, and whoever else wants to change it, or start a run of it, waits until this transaction ends. */
export async function holdFlowchart(trx: Trx, dialect: DialectName, vaultId: string, id: number): Promise<Flowchart> {
  await takeTurns(trx, dialect, `flowchart:${id}`);
  return findFlowchart(trx, vaultId, id);
}

export async function listFlowcharts(
  queries: Queries,
  vaultId: string,
  { limit, offset }: { limit: number; offset: number },
): Promise<{ flowcharts: FlowchartSummary[]; total_count: number }> {
  const rows = await queries
    .selectFrom('flowcharts')
    .select(COLUMNS.map((column) => `flowcharts.${column}` as const))
    .select((row) => [
      row
        .selectFrom('flowchart_nodes')
        .whereRef('flowchart_nodes.flowchart_id', '=', 'flowcharts.id')
        .where('removed_at', 'is', null)
        .select(({ fn }) => fn.countAll<number>().as('count'))
        .as('node_count'),
      row
        .selectFrom('flowchart_edges')
        .whereRef('flowchart_edges.flowchart_id', '=', 'flowcharts.id')
        .select(({ fn }) => fn.countAll<number>().as('count'))
        .as('edge_count'),
      row
        .selectFrom('flowchart_runs')
        .whereRef('flowchart_runs.flowchart_id', '=', 'flowcharts.id')
        .select(({ fn }) => fn.countAll<number>().as('count'))
        .as('run_count'),
    ])
    .where('flowcharts.vault_id', '=', vaultId)
    .orderBy('flowcharts.id', 'desc')
    .limit(limit)
    .offset(offset)
    .execute();
  const { total } = await queries
    .selectFrom('flowcharts')
    .select(({ fn }) => fn.countAll<number>().as('total'))
    .where('vault_id', '=', vaultId)
    .executeTakeFirstOrThrow();
  const flowcharts = rows.map((row) => ({
    ...row,
    node_count: Number(row.node_count),
    edge_count: Number(row.edge_count),
    run_count: Number(row.run_count),
  }));
  return { flowcharts, total_count: Number(total) };
}

/** A flowchart without a graph: its first version is for the caller to write, in the same transaction. */
export async function addFlowchart(
  trx: Trx,
  flowchart: { vault_id: string; settings: FlowchartSettings; now: string },
): Promise<Flowchart> {
  const { vault_id, settings, now } = flowchart;
  return trx
    .insertInto('flowcharts')
    .values({
      vault_id,
      name: settings.name.trim(),
      description: settings.description?.trim() || null,
      max_node_executions: settings.max_node_executions ?? null,
      max_runtime_minutes: settings.max_runtime_minutes ?? null,
      max_parallel_nodes: settings.max_parallel_nodes,
      graph_version: 0,
      created_at: now,
      updated_at: now,
    })
    .returning(COLUMNS)
    .executeTakeFirstOrThrow();
}

export async function changeFlowchart(
  trx: Trx,
  id: number,
  changes: { [Key in keyof FlowchartSettings]?: FlowchartSettings[Key] | undefined },
  now: string,
): Promise<Flowchart> {
  const { name, description, ...limits } = changes;
  const set = {
    ...Object.fromEntries(Object.entries(limits).filter(([, value]) => value !== undefined)),
    ...(name === undefined ? {} : { name: name.trim() }),
    ...(description === undefined ? {} : { description: description?.trim() || null }),
  };
  return trx
    .updateTable('flowcharts')
    .set({ ...set, updated_at: now })
    .where('id', '=', id)
    .returning(COLUMNS)
    .executeTakeFirstOrThrow();
}

/** With everything that belongs to it. What another flowchart runs stays, or that one could not run any more. A run under way keeps it: what a worker walks cannot be pulled from under it. */
export async function removeFlowchart(trx: Trx, id: number): Promise<void> {
  const active = await trx
    .selectFrom('flowchart_runs')
    .select('id')
    .where('flowchart_id', '=', id)
    .where('status', 'in', ACTIVE)
    .orderBy('id')
    .executeTakeFirst();
  if (active) {
    throw refusal(
      'CONFLICT',
      `Run ${active.id} of flowchart ${id} is under way. Cancel it first, or wait for its end.`,
      {
        flowchart_run_id: active.id,
      },
    );
  }
  const caller = await callerOf(trx, id);
  if (caller) {
    throw refusal(
      'CONFLICT',
      `Node ${caller.flowchart_node_id} of flowchart ${caller.flowchart_id} (${JSON.stringify(caller.flowchart_name)}) runs flowchart ${id}. Remove the node or give it another flowchart first.`,
      caller,
    );
  }
  await trx.deleteFrom('flowcharts').where('id', '=', id).execute();
}

/** A saved node of another flowchart of the same vault that runs this one, if there is one. */
async function callerOf(queries: Queries, id: number) {
  const row = await queries
    .selectFrom('flowchart_nodes')
    .innerJoin('flowcharts as caller', 'caller.id', 'flowchart_nodes.flowchart_id')
    .innerJoin('flowcharts as called', 'called.id', 'flowchart_nodes.ref_id')
    .select(['flowchart_nodes.id as flowchart_node_id', 'caller.id as flowchart_id', 'caller.name as flowchart_name'])
    .where('flowchart_nodes.node_type', '=', 'flowchart')
    .where('flowchart_nodes.ref_id', '=', id)
    .where('flowchart_nodes.removed_at', 'is', null)
    .where('caller.id', '!=', id)
    .whereRef('caller.vault_id', '=', 'called.vault_id')
    .orderBy('flowchart_nodes.id')
    .executeTakeFirst();
  return row && { ...row, flowchart_node_id: Number(row.flowchart_node_id), flowchart_id: Number(row.flowchart_id) };
}

export function latestRuns(queries: Queries, flowchartId: number) {
  return queries
    .selectFrom('flowchart_runs')
    .select(['id', 'status', 'graph_version', 'error_code', 'created_at', 'started_at', 'finished_at'])
    .where('flowchart_id', '=', flowchartId)
    .orderBy('id', 'desc')
    .limit(LATEST_RUNS)
    .execute();
}

export async function startNodeOf(queries: Queries, flowchartId: number): Promise<number | null> {
  const row = await queries
    .selectFrom('flowchart_nodes')
    .select('id')
    .where('flowchart_id', '=', flowchartId)
    .where('node_type', '=', 'start')
    .where('removed_at', 'is', null)
    .orderBy('id')
    .executeTakeFirst();
  return row ? Number(row.id) : null;
}
