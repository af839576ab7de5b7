import * as z from 'zod';
import type { Queries } from '../../database/index.ts';
import { inertLine } from '../../kernel/terminal.ts';
import { pinnedGraph } from './read-runs.ts';
import { nodeName, warningText } from './render.ts';
import { RUN_STATUSES, type RunRow } from './run-record.ts';

const MAX_WARNINGS = 25;
const MAX_WAITING = 25;

export const RunStatusPayload = z
  .strictObject({
    id: z.int().describe('Id of the run'),
    flowchart_id: z.int(),
    status: z.enum(RUN_STATUSES),
    created_at: z.string(),
    started_at: z.string().nullable(),
    finished_at: z.string().nullable(),
    counts: z.record(z.string(), z.int()).describe('Node runs by status'),
    error: z.string().nullable().describe('Why it failed'),
    error_code: z.string().nullable(),
    warning_count: z.int(),
    warnings: z
      .array(
        z.strictObject({
          code: z.string().nullable(),
          flowchart_run_node_id: z.int().nullable(),
          flowchart_node_id: z.int().nullable(),
          message: z.string(),
          updated_at: z.string().nullable(),
        }),
      )
      .describe('The first of them'),
    waiting: z
      .array(
        z.strictObject({
          node_run_id: z.int(),
          flowchart_node_id: z.int(),
          node_title: z.string().nullable(),
          waits_for: z.record(z.string(), z.unknown()),
        }),
      )
      .describe('Node runs that wait for a person or for a subflow'),
  })
  .meta({ id: 'RunStatusResponse' });
export type RunStatusPayload = z.output<typeof RunStatusPayload>;

export async function runStatus(queries: Queries, run: RunRow): Promise<RunStatusPayload> {
  const counts = await queries
    .selectFrom('flowchart_run_nodes')
    .select('status')
    .select((expression) => expression.fn.countAll<number | string>().as('count'))
    .where('flowchart_run_id', '=', run.id)
    .groupBy('status')
    .orderBy('status')
    .execute();
  const warnings = JSON.parse(run.warnings_json) as Record<string, unknown>[];
  const degraded = await degradedNodeRuns(queries, run.id);
  const isWaiting = counts.some(({ status }) => status === 'waiting');
  return {
    id: run.id,
    flowchart_id: run.flowchart_id,
    status: run.status,
    created_at: run.created_at,
    started_at: run.started_at,
    finished_at: run.finished_at,
    counts: Object.fromEntries(counts.map(({ status, count }) => [status, Number(count)])),
    error: run.error,
    error_code: run.error_code,
    warning_count: warnings.length + degraded.total,
    warnings: [...warnings.map(warningOf), ...degraded.warnings].slice(0, MAX_WARNINGS),
    waiting: isWaiting ? await waitingNodeRuns(queries, run) : [],
  };
}

function warningOf(warning: Record<string, unknown>): RunStatusPayload['warnings'][number] {
  const number = (...keys: string[]) => {
    const value = keys.map((key) => warning[key]).find((candidate) => typeof candidate === 'number');
    return typeof value === 'number' ? value : null;
  };
  const at = warning.updated_at ?? warning.at;
  return {
    code: typeof warning.code === 'string' ? warning.code : null,
    flowchart_run_node_id: number('flowchart_run_node_id', 'node_run_id'),
    flowchart_node_id: number('flowchart_node_id', 'node_id'),
    message: typeof warning.message === 'string' ? warning.message : warningText(warning),
    updated_at: typeof at === 'string' ? at : null,
  };
}

/** A node run that succeeded only with a warning is one of the run's. */
async function degradedNodeRuns(
  queries: Queries,
  runId: number,
): Promise<{ warnings: RunStatusPayload['warnings']; total: number }> {
  const matching = queries
    .selectFrom('flowchart_run_nodes')
    .where('flowchart_run_id', '=', runId)
    .where('degraded_reason', 'is not', null);
  const rows = await matching
    .select(['id', 'flowchart_node_id', 'degraded_reason', 'finished_at'])
    .orderBy('sequence')
    .limit(MAX_WARNINGS)
    .execute();
  const { total } = await matching
    .select((expression) => expression.fn.countAll<number | string>().as('total'))
    .executeTakeFirstOrThrow();
  const warnings = rows.map(({ id, flowchart_node_id, degraded_reason, finished_at }) => ({
    code: 'degraded',
    flowchart_run_node_id: id,
    flowchart_node_id,
    message: degraded_reason ?? '',
    updated_at: finished_at,
  }));
  return { warnings, total: Number(total) };
}

async function waitingNodeRuns(queries: Queries, run: RunRow): Promise<RunStatusPayload['waiting']> {
  const rows = await queries
    .selectFrom('flowchart_run_nodes')
    .select(['id', 'flowchart_node_id', 'wait_json'])
    .where('flowchart_run_id', '=', run.id)
    .where('status', '=', 'waiting')
    // One that has its answer waits for nobody but its walker.
    .where('answer_json', 'is', null)
    .orderBy('sequence')
    .limit(MAX_WAITING)
    .execute();
  const titles = new Map((await pinnedGraph(queries, run)).nodes.map((node) => [node.id, node.title]));
  return rows.map(({ id, flowchart_node_id, wait_json }) => ({
    node_run_id: id,
    flowchart_node_id,
    node_title: titles.get(flowchart_node_id) ?? null,
    waits_for: JSON.parse(wait_json ?? '{}') as Record<string, unknown>,
  }));
}

export function statusLines(payload: RunStatusPayload): string {
  const counts = Object.entries(payload.counts).map(([status, count]) => `${count} ${status}`);
  return [
    `run ${payload.id}: ${payload.status}`,
    counts.length > 0 ? counts.join(', ') : '(no node has run yet)',
    ...(payload.error ? [`error: ${inertLine(payload.error)} (${payload.error_code ?? ''})`] : []),
    ...payload.warnings.map(({ message }) => `warning: ${inertLine(message)}`),
    ...payload.waiting.map(waitingLine),
  ].join('\n');
}

/** What to do about a node run that waits. */
export function waitingLine(waiting: RunStatusPayload['waiting'][number]): string {
  const isForPerson = waiting.waits_for.for === 'person';
  const title = inertLine(nodeName({ ...waiting, node_type: isForPerson ? 'task' : 'flowchart' }));
  if (!isForPerson) return `${title} waits for a subflow`;
  const prompt = inertLine(String(waiting.waits_for.prompt ?? '')).slice(0, 200);
  return `${title} waits for a person: ${prompt}\n  answer with: flowright task answer ${waiting.node_run_id} --answer …`;
}
