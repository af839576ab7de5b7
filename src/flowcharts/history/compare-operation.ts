import * as z from 'zod';
import { textTable } from '../../kernel/terminal.ts';
import { type Context, defineOperation, pageInput, pageOutput } from '../../operations/index.ts';
import { changedKeys, compareRuns } from './compare-runs.ts';
import { type HistoryNeeds, Id, RunId } from './inputs.ts';
import { findRun, pinnedGraph, withOutputs } from './read-runs.ts';
import { duration, nodeName } from './render.ts';
import { type FlowchartRun, RUN_STATUSES, type RunRow } from './run-record.ts';

const LIMITS = ['max_node_executions', 'max_runtime_minutes', 'max_parallel_nodes'] as const;

const Side = z
  .strictObject({
    id: Id,
    flowchart_id: Id,
    graph_version: z.int(),
    status: z.enum(RUN_STATUSES),
    duration_ms: z.int().nullable(),
    executions: z.int(),
    warning_count: z.int(),
  })
  .meta({ id: 'ComparedRun' });

const StepSide = z
  .strictObject({ node_run_id: Id, sequence: z.int(), status: z.string(), duration_ms: z.int().nullable() })
  .meta({ id: 'ComparedNodeRun' });

const Step = z
  .strictObject({
    flowchart_node_id: Id,
    execution_index: z.int(),
    node_type: z.string(),
    node_title: z.string().nullable(),
    ran_in: z.enum(['both', 'left', 'right']).describe('Where this execution of the node happened'),
    left: StepSide.nullable(),
    right: StepSide.nullable(),
    output: z.enum(['equal', 'different']).nullable().describe('Null where only one run has it'),
    changed_keys: z.array(z.string()).describe('Top-level keys of the output that differ'),
  })
  .meta({ id: 'ComparedStep' });

const Compared = z
  .strictObject({
    left: Side,
    right: Side,
    same_flowchart: z.boolean(),
    same_version: z.boolean(),
    same_path: z.boolean().describe('The same nodes ran in the same order'),
    limits: z
      .array(z.strictObject({ limit: z.enum(LIMITS), left: z.int().nullable(), right: z.int().nullable() }))
      .describe('Limits that differ'),
    input_changed_keys: z.array(z.string()).describe('Top-level keys of the run inputs that differ'),
    output_changed_keys: z.array(z.string()).describe('Top-level keys of the run outputs that differ'),
    counts: z.strictObject({
      both: z.int(),
      only_left: z.int(),
      only_right: z.int(),
      output_equal: z.int(),
      output_different: z.int(),
    }),
    ...pageOutput,
    steps: z.array(Step),
  })
  .meta({ id: 'RunCompareResponse' });

export const compareOperation = defineOperation({
  name: 'run.compare',
  summary: 'Compare two runs: version, limits, path, outputs and durations',
  input: z.strictObject({ run_id: RunId, other_run_id: Id.describe('The run to compare it with'), ...pageInput }),
  output: Compared,
  access: { can: 'read' },
  effect: 'read',
  http: { method: 'GET', path: '/api/v1/flowcharts/runs/{run_id}/compare/{other_run_id}', tag: 'Runs' },
  mcp: { tool: 'run_compare' },
  cli: {
    command: 'run compare <run_id> <other_run_id>',
    examples: ['flowright run compare 12 13'],
    render: comparisonText,
  },
  errors: ['NOT_FOUND'],
  handle: async ({ database, principal }: Context<HistoryNeeds>, { run_id, other_run_id, limit, offset }) => {
    const { queries } = database;
    const left = await findRun(queries, principal.vault_id, run_id);
    const right = await findRun(queries, principal.vault_id, other_run_id);
    const titles = new Map<number, string | null>();
    for (const run of [right, left])
      for (const { id, title } of (await pinnedGraph(queries, run)).nodes) titles.set(id, title);
    const { steps, total, counts, same_path } = await compareRuns(queries, left, right, titles, { limit, offset });
    const [leftRun, rightRun] = (await withOutputs(queries, [left, right], { inList: false })) as [
      FlowchartRun,
      FlowchartRun,
    ];
    return {
      left: sideOf(left, leftRun),
      right: sideOf(right, rightRun),
      same_flowchart: left.flowchart_id === right.flowchart_id,
      same_version: left.flowchart_id === right.flowchart_id && left.graph_version === right.graph_version,
      same_path,
      limits: LIMITS.filter((name) => left[name] !== right[name]).map((name) => ({
        limit: name,
        left: left[name],
        right: right[name],
      })),
      input_changed_keys: changedKeys(asObject(leftRun.input), asObject(rightRun.input)),
      output_changed_keys: changedKeys(asObject(leftRun.output), asObject(rightRun.output)),
      counts,
      count: steps.length,
      total_count: total,
      limit,
      offset,
      steps,
    };
  },
});

/** An input that is no object has one nameless part. */
function asObject(value: unknown): Record<string, unknown> {
  if (value === null || value === undefined) return {};
  return typeof value === 'object' && !Array.isArray(value) ? (value as Record<string, unknown>) : { '': value };
}

function sideOf(row: RunRow, run: FlowchartRun): z.output<typeof Side> {
  const { started_at, finished_at } = row;
  const duration_ms = started_at && finished_at ? Date.parse(finished_at) - Date.parse(started_at) : null;
  const { id, flowchart_id, graph_version, status, executions } = row;
  return { id, flowchart_id, graph_version, status, duration_ms, executions, warning_count: run.warning_count };
}

function comparisonText(payload: z.output<typeof Compared>): string {
  const { left, right, counts } = payload;
  const shown = (milliseconds: number | null | undefined) =>
    milliseconds === null || milliseconds === undefined ? '' : duration(milliseconds);
  const facts = [
    ['flowchart', String(left.flowchart_id), String(right.flowchart_id)],
    ['version', String(left.graph_version), String(right.graph_version)],
    ['status', left.status, right.status],
    ['took', shown(left.duration_ms), shown(right.duration_ms)],
    ['warnings', String(left.warning_count), String(right.warning_count)],
    ...payload.limits.map(({ limit, left: one, right: other }) => [limit, String(one ?? ''), String(other ?? '')]),
  ];
  const rows = payload.steps.map((step) => [
    nodeName(step),
    String(step.execution_index),
    step.left?.status ?? '-',
    step.right?.status ?? '-',
    shown(step.left?.duration_ms),
    shown(step.right?.duration_ms),
    step.output === 'different'
      ? `differs: ${step.changed_keys.join(', ')}`
      : (step.output ?? `only in run ${onlyIn(step, payload)}`),
  ]);
  const rest = payload.total_count > rows.length ? [`${rows.length} shown, ${payload.total_count} in all`] : [];
  return [
    textTable(['', `RUN ${left.id}`, `RUN ${right.id}`], facts),
    '',
    rows.length === 0
      ? '(no node has run in either)'
      : textTable(['NODE', 'EXECUTION', `RUN ${left.id}`, `RUN ${right.id}`, 'TOOK', 'TOOK', 'OUTPUT'], rows),
    ...rest,
    `${counts.both} in both (${counts.output_different} with different outputs), ${counts.only_left} only in run ${left.id}, ${counts.only_right} only in run ${right.id}; the path is ${payload.same_path ? 'the same' : 'another'}`,
  ].join('\n');
}

function onlyIn(step: z.output<typeof Step>, { left, right }: z.output<typeof Compared>): number {
  return step.ran_in === 'left' ? left.id : right.id;
}
