import { type RawBuilder, sql } from 'kysely';
import { type ArtifactFilter, listArtifacts, readStates } from '../../artifacts/index.ts';
import type { Database, NodeRunStatus, Queries } from '../../database/index.ts';
import { describeNodeRuns } from './read-node-runs.ts';
import { withOutputs } from './read-runs.ts';
import type { NodeRun, RunRow } from './run-record.ts';

/** What a trace can be asked to hold. */
export const SURFACES = ['run', 'node', 'tool', 'artifact', 'failure', 'timeline'] as const;
export type SurfaceName = (typeof SURFACES)[number];

/** Node types that do their work through one deterministic operation. */
const TOOL_TYPES = ['decision', 'memory', 'milestone', 'plan'];

export interface TraceFilter {
  status?: readonly NodeRunStatus[] | undefined;
  flowchart_node_id?: number | undefined;
  flowchart_run_node_id?: number | undefined;
  artifact_type?: string | undefined;
  trace_request_id?: string | undefined;
  trace_correlation_id?: string | undefined;
  degraded_only: boolean;
}

interface Page {
  limit: number;
  offset: number;
}

export interface Surface<T> extends Page {
  items: T[];
  total_count: number;
}

interface TimelineItem {
  event_type: string;
  at: string;
  flowchart_run_node_id: number | null;
  flowchart_node_id: number | null;
  artifact_id: number | null;
  status: string | null;
  message: string | null;
}

type Json = Record<string, unknown>;
export type Trace = Record<`${Exclude<SurfaceName, 'timeline'>}_trace`, Surface<Json>> & { timeline: Surface<Json> };

/** Each surface is one page, cut by the database; what was not asked for is empty. */
export async function readTrace(
  { database, now }: { database: Database; now: string },
  run: RunRow,
  include: readonly SurfaceName[],
  filter: TraceFilter,
  page: Page,
): Promise<Trace> {
  const { queries } = database;
  const wanted = (name: SurfaceName, read: () => Promise<Surface<Json>>) =>
    include.includes(name) ? read() : Promise.resolve({ items: [], total_count: 0, ...page });
  return {
    run_trace: await wanted('run', async () => {
      const items = page.offset === 0 ? await withOutputs(queries, [run], { inList: true }) : [];
      return { items, total_count: 1, ...page };
    }),
    node_trace: await wanted('node', () => nodeTrace(queries, run, filter, page, [])),
    tool_trace: await wanted('tool', () => toolTrace(queries, run, filter, page)),
    artifact_trace: await wanted('artifact', () => artifactTrace(queries, run, filter, page, now)),
    failure_trace: await wanted('failure', () => nodeTrace(queries, run, filter, page, [sql`status = 'failed'`])),
    timeline: await wanted('timeline', () => timeline(database, run, filter, page, now)),
  };
}

function nodeConditions(run: RunRow, filter: TraceFilter): RawBuilder<unknown>[] {
  const conditions: RawBuilder<unknown>[] = [sql`flowchart_run_id = ${run.id}`];
  if (filter.flowchart_node_id !== undefined) conditions.push(sql`flowchart_node_id = ${filter.flowchart_node_id}`);
  if (filter.flowchart_run_node_id !== undefined) conditions.push(sql`id = ${filter.flowchart_run_node_id}`);
  if (filter.status?.length) conditions.push(sql`status in (${sql.join([...filter.status])})`);
  if (filter.degraded_only) conditions.push(sql`degraded_reason is not null`);
  const { trace_request_id: request, trace_correlation_id: correlation } = filter;
  if (request !== undefined) conditions.push(tracedBy(run, 'request', request));
  if (correlation !== undefined) conditions.push(tracedBy(run, 'correlation', correlation));
  return conditions;
}

/** A node run is traced by the ids of its artifact, or by those that are derived from run and node run. */
function tracedBy(run: RunRow, kind: 'request' | 'correlation', wanted: string): RawBuilder<unknown> {
  const column = sql.ref(`node_artifacts.${kind}_id`);
  const chosen = sql`id in (select flowchart_run_node_id from node_artifacts
    where node_artifacts.flowchart_run_id = ${run.id} and ${column} = ${wanted})`;
  if (kind === 'correlation') {
    const isOurs = wanted === (run.correlation_id ?? `flowchart-run-${run.id}`);
    return isOurs ? sql`1 = 1` : chosen;
  }
  const [, runId, nodeRunId] = /^flowchart-run-(\d{1,15})-node-run-(\d{1,15})$/.exec(wanted) ?? [];
  return Number(runId) === run.id ? sql`(id = ${Number(nodeRunId)} or ${chosen})` : chosen;
}

async function nodePage(
  queries: Queries,
  run: RunRow,
  filter: TraceFilter,
  { limit, offset }: Page,
  more: readonly RawBuilder<unknown>[],
) {
  const conditions = sql.join([...nodeConditions(run, filter), ...more], sql` and `);
  const matching = queries.selectFrom('flowchart_run_nodes').where(sql<boolean>`${conditions}`);
  const rows = await matching.selectAll().orderBy('sequence', 'desc').limit(limit).offset(offset).execute();
  const { total } = await matching
    .select((expression) => expression.fn.countAll<number | string>().as('total'))
    .executeTakeFirstOrThrow();
  return { rows, total: Number(total) };
}

async function nodeTrace(
  queries: Queries,
  run: RunRow,
  filter: TraceFilter,
  page: Page,
  more: readonly RawBuilder<unknown>[],
): Promise<Surface<Json>> {
  const { rows, total } = await nodePage(queries, run, filter, page, more);
  const items = (await describeNodeRuns(queries, run, rows)).map((nodeRun) => ({
    ...nodeRun,
    warnings: warningsOf(nodeRun),
  }));
  return { items, total_count: total, ...page };
}

function warningsOf({ degraded_reason }: NodeRun): Json[] {
  return degraded_reason === null ? [] : [{ kind: 'degraded', message: degraded_reason }];
}

async function toolTrace(queries: Queries, run: RunRow, filter: TraceFilter, page: Page): Promise<Surface<Json>> {
  const isTool = sql`node_type in (${sql.join(TOOL_TYPES)})`;
  const { rows, total } = await nodePage(queries, run, filter, page, [isTool]);
  const states = await readStates(queries, rows);
  const items = rows.map((row) => {
    const output = states.get(row.id)?.output_state ?? {};
    return {
      flowchart_run_node_id: row.id,
      flowchart_node_id: row.flowchart_node_id,
      node_type: row.node_type,
      tool_name: `deterministic.${row.node_type}`,
      operation: output.action ?? output.store_mode ?? (row.node_type === 'decision' ? 'evaluate' : null),
      status: row.status,
      execution_status: output.execution_status ?? (row.status === 'succeeded' ? 'success' : null),
      fallback_used: row.degraded_reason !== null,
      fallback_reason: output.fallback_reason ?? null,
      warnings: Array.isArray(output.warnings) ? output.warnings : [],
      started_at: row.started_at,
      finished_at: row.finished_at,
    };
  });
  return { items, total_count: total, ...page };
}

async function artifactTrace(
  queries: Queries,
  run: RunRow,
  filter: TraceFilter,
  page: Page,
  now: string,
): Promise<Surface<Json>> {
  const asked: ArtifactFilter = {
    flowchart_run_id: run.id,
    flowchart_node_id: filter.flowchart_node_id,
    flowchart_run_node_id: filter.flowchart_run_node_id,
    artifact_type: filter.artifact_type,
    trace_request_id: filter.trace_request_id,
    trace_correlation_id: filter.trace_correlation_id,
  };
  const { items, total } = await listArtifacts(queries, asked, { vault_id: run.vault_id, now, ...page });
  return { items, total_count: total, ...page };
}

/** Everything that happened, newest first, from three tables in one ordered list. */
async function timeline(
  { dialect, queries }: Database,
  run: RunRow,
  filter: TraceFilter,
  page: Page,
  now: string,
): Promise<Surface<Json>> {
  // The columns differ in their collation on PostgreSQL, which would refuse to sort them together.
  const exact = sql.raw(dialect === 'postgres' ? ' collate "C"' : '');
  const nodes = sql.join(nodeConditions(run, filter), sql` and `);
  const ofRun = (rank: number, type: string, at: string) => sql`
    select ${sql.lit(rank)} as rank, ${sql.lit(type)} as event_type, ${sql.ref(at)}${exact} as at,
      cast(null as bigint) as node_run, cast(null as bigint) as node, cast(null as bigint) as artifact, ${sql.ref('status')}${exact} as status, null as message
    from flowchart_runs where id = ${run.id} and ${sql.ref(at)} is not null`;
  const branches = [
    sql`select 3 as rank, 'flowchart_node_status' as event_type, coalesce(finished_at, started_at)${exact} as at,
      id as node_run, flowchart_node_id as node, cast(null as bigint) as artifact, status${exact} as status, error${exact} as message
      from flowchart_run_nodes where ${nodes}`,
    sql`select 4 as rank, 'flowchart_warning' as event_type, coalesce(finished_at, started_at)${exact} as at,
      id as node_run, flowchart_node_id as node, cast(null as bigint) as artifact, status${exact} as status,
      degraded_reason${exact} as message
      from flowchart_run_nodes where degraded_reason is not null and ${nodes}`,
    sql`select 5 as rank, 'flowchart_node_artifact' as event_type, created_at${exact} as at,
      flowchart_run_node_id as node_run, flowchart_node_id as node, id as artifact, null as status,
      artifact_type${exact} as message
      from node_artifacts where (expires_at is null or expires_at > ${now})
        and ${filter.artifact_type === undefined ? sql`1 = 1` : sql`artifact_type = ${filter.artifact_type}`}
        and id in (select id from flowchart_run_nodes where ${nodes})`,
    ofRun(1, 'flowchart_run_created', 'created_at'),
    ofRun(2, 'flowchart_run_started', 'started_at'),
    ofRun(6, 'flowchart_run_finished', 'finished_at'),
  ];
  const all = sql`(${sql.join(branches, sql` union all `)}) as happened`;
  const { rows } = await sql<TimelineRow>`
    select event_type, at, node_run, node, artifact, status, message from ${all}
    order by at desc, rank desc, coalesce(node_run, 0) desc, coalesce(artifact, 0) desc
    limit ${page.limit} offset ${page.offset}`.execute(queries);
  const counted = await sql<{ total: number | string }>`select count(*) as total from ${all}`.execute(queries);
  return { items: rows.map(timelineItem), total_count: Number(counted.rows[0]?.total ?? 0), ...page };
}

interface TimelineRow {
  event_type: string;
  at: string;
  node_run: number | null;
  node: number | null;
  artifact: number | null;
  status: string | null;
  message: string | null;
}

function timelineItem(row: TimelineRow): TimelineItem & Json {
  return {
    event_type: row.event_type,
    at: row.at,
    flowchart_run_node_id: row.node_run,
    flowchart_node_id: row.node,
    artifact_id: row.artifact,
    status: row.status,
    message: row.message,
  };
}
