import type { Selectable } from 'kysely';
import * as z from 'zod';
import type { ContextSources, NodeRunRow, NodeRunState } from '../../artifacts/index.ts';
import type { FlowchartRunsTable, RunStatus } from '../../database/index.ts';

const id = z.int().positive();
const time = z.string();
const state = z.record(z.string(), z.unknown());

export const RUN_STATUSES = [
  'queued',
  'running',
  'pausing',
  'paused',
  'stopping',
  'stopped',
  'completed',
  'failed',
  'canceled',
] as const satisfies readonly RunStatus[];

export const NODE_RUN_STATUSES = ['queued', 'running', 'waiting', 'succeeded', 'failed', 'canceled'] as const;

const TERMINAL: readonly RunStatus[] = ['stopped', 'completed', 'failed', 'canceled'];

export function isTerminal(status: RunStatus): boolean {
  return TERMINAL.includes(status);
}

const runShape = {
  id: id.describe('Id of the run'),
  flowchart_id: id.describe('The flowchart it walks'),
  graph_version: z.int().describe('The version of the graph it walks, whatever is saved later'),
  status: z.enum(RUN_STATUSES).describe('Where it stands'),
  entry_node_id: z.int().nullable().describe('The node it began at, where that was not the start node'),
  input: z.unknown().describe('What it was started with'),
  output: z.unknown().describe('What it came to; null until it has ended'),
  error: z.string().nullable().describe('Why it failed'),
  error_code: z.string().nullable().describe('The same as a word'),
  warnings: z.array(state).describe('What went on, but not as it should have'),
  warning_count: z.int().describe('How many warnings there are'),
  trigger_source: z.enum(['manual', 'subflow', 'loop', 'replay']).describe('What made it'),
  started_by: z.string().describe('Who started it'),
  started_as: z.enum(['user', 'agent', 'local']).describe('As what'),
  parent_run_id: z.int().nullable().describe('The run of which it is a subflow'),
  parent_node_run_id: z.int().nullable().describe('The node run that waits for it'),
  depth: z.int().describe('How many subflows deep'),
  cycle: z.int().describe('How many times the flowchart has come back to its start'),
  follows_run_id: z.int().nullable().describe('The run that led back to the start'),
  replayed_from_run_id: z.int().nullable().describe('The run that it repeats'),
  replay_action: z.string().nullable().describe('retry, skip or rewind'),
  max_node_executions: z.int().nullable().describe('Limit as it was when the run was made'),
  max_runtime_minutes: z.int().nullable().describe('Limit as it was when the run was made'),
  max_parallel_nodes: z.int().describe('Limit as it was when the run was made'),
  executions: z.int().describe('Node runs started so far'),
  completions: z.int().describe('Node runs completed so far'),
  active_ms: z.int().describe('Milliseconds during which a node was at work'),
  request_id: z.string().nullable().describe('The request that started it'),
  correlation_id: z.string().nullable().describe('What ties several requests together'),
  created_at: time,
  started_at: time.nullable(),
  finished_at: time.nullable(),
  updated_at: time,
};

/** A run as every door sends it. */
export const FlowchartRun = z.strictObject(runShape).meta({ id: 'FlowchartRun' });
export type FlowchartRun = z.output<typeof FlowchartRun>;
export type RunRow = Selectable<FlowchartRunsTable>;

export const FlowchartRunWithCounts = z
  .strictObject({
    ...runShape,
    node_run_count: z.int().describe('Node runs in it'),
    cycle_count: z.int().describe('Times that its start node was executed'),
  })
  .meta({ id: 'FlowchartRunWithCounts' });

/** What a run came to lives on a node run: who has read it hands it in. */
export function flowchartRun(row: RunRow, extra: { output?: unknown } = {}): FlowchartRun {
  const warnings = JSON.parse(row.warnings_json) as Record<string, unknown>[];
  return {
    id: row.id,
    flowchart_id: row.flowchart_id,
    graph_version: row.graph_version,
    status: row.status,
    entry_node_id: row.entry_node_id,
    input: row.input_json === null ? null : (JSON.parse(row.input_json) as unknown),
    output: isTerminal(row.status) ? (extra.output ?? null) : null,
    error: row.error,
    error_code: row.error_code,
    warnings,
    warning_count: warnings.length,
    trigger_source: row.trigger_source,
    started_by: row.started_by,
    started_as: row.started_as,
    parent_run_id: row.parent_run_id,
    parent_node_run_id: row.parent_node_run_id,
    depth: row.depth,
    cycle: row.cycle,
    follows_run_id: row.follows_run_id,
    replayed_from_run_id: row.replayed_from_run_id,
    replay_action: row.replay_action,
    max_node_executions: row.max_node_executions,
    max_runtime_minutes: row.max_runtime_minutes,
    max_parallel_nodes: row.max_parallel_nodes,
    executions: row.executions,
    completions: row.completions,
    active_ms: row.active_ms,
    request_id: row.request_id,
    correlation_id: row.correlation_id,
    created_at: row.created_at,
    started_at: row.started_at,
    finished_at: row.finished_at,
    updated_at: row.updated_at,
  };
}

const Source = z
  .strictObject({
    source_edge_id: z.int(),
    source_node_id: z.int(),
    source_node_type: z.string(),
    condition_key: z.string().nullable(),
    execution_index: z.int(),
    sequence: z.int(),
    edge_mode: z.enum(['solid', 'dotted', 'dashed']),
  })
  .meta({ id: 'ContextSource' });

/** One execution of one node, as every door sends it. */
export const NodeRun = z
  .strictObject({
    id: id.describe('Id of the node run'),
    flowchart_run_id: id.describe('The run it belongs to'),
    flowchart_node_id: id.describe('The node that was executed'),
    node_type: z.string().describe('Kind of the node'),
    node_title: z.string().nullable().describe('Title of the node in the version of the graph that the run walks'),
    sequence: z.int().describe('Order of activation within the run, from 1'),
    execution_index: z.int().describe('Which execution of this node within the run, from 1'),
    cycle_index: z.int().describe('How often the start node had been executed by then'),
    status: z.enum(NODE_RUN_STATUSES).describe('Where it stands'),
    reused_from_id: z.int().nullable().describe('The node run whose output it took instead of executing again'),
    trigger_sources: z.array(Source).describe('What triggered it'),
    context_only_sources: z.array(Source).describe('What dotted connectors added'),
    attachment_only_sources: z.array(Source).describe('What dashed connectors added'),
    input_context: state.nullable().describe('What it was given, in excerpts; null in lists'),
    output_state: state.nullable().describe('What it made; an excerpt in lists when it is long'),
    routing_state: state.nullable().describe('Where it sent the run'),
    output_contract_version: z.literal('v1'),
    routing_contract_version: z.literal('v1'),
    degraded_status: z.boolean().describe('It succeeded, but only with a warning'),
    degraded_reason: z.string().nullable().describe('Why'),
    idempotency_key: z.string().describe('The same for every attempt at this execution'),
    error: z.string().nullable().describe('Why it failed'),
    error_code: z.string().nullable().describe('The same as a word'),
    waits_for: state.nullable().describe('What a waiting node run waits for'),
    answer: z.unknown().describe('What a person answered'),
    answered_by: z.string().nullable(),
    answered_at: time.nullable(),
    started_at: time,
    finished_at: time.nullable(),
  })
  .meta({ id: 'NodeRun' });
export type NodeRun = z.output<typeof NodeRun>;

export interface NodeRunParts extends NodeRunState {
  node_title: string | null;
  cycle_index: number;
  sources: ContextSources | undefined;
  input_context: Record<string, unknown> | null;
}

export function nodeRun(row: NodeRunRow, parts: NodeRunParts): NodeRun {
  return {
    id: row.id,
    flowchart_run_id: row.flowchart_run_id,
    flowchart_node_id: row.flowchart_node_id,
    node_type: row.node_type,
    node_title: parts.node_title,
    sequence: row.sequence,
    execution_index: row.execution_index,
    cycle_index: parts.cycle_index,
    status: row.status,
    reused_from_id: row.reused_from_id,
    trigger_sources: parts.sources?.trigger_sources ?? [],
    context_only_sources: parts.sources?.context_only_sources ?? [],
    attachment_only_sources: parts.sources?.attachment_only_sources ?? [],
    input_context: parts.input_context,
    output_state: parts.output_state,
    routing_state: parts.routing_state,
    output_contract_version: 'v1',
    routing_contract_version: 'v1',
    degraded_status: row.degraded_reason !== null,
    degraded_reason: row.degraded_reason,
    idempotency_key: nodeRunKey(row),
    error: row.error,
    error_code: row.error_code,
    waits_for: row.wait_json === null ? null : (JSON.parse(row.wait_json) as Record<string, unknown>),
    answer: row.answer_json === null ? null : (JSON.parse(row.answer_json) as unknown),
    answered_by: row.answered_by,
    answered_at: row.answered_at,
    started_at: row.started_at,
    finished_at: row.finished_at,
  };
}

function nodeRunKey(row: NodeRunRow): string {
  return `flowchart_run:${row.flowchart_run_id}:flowchart_node:${row.flowchart_node_id}:execution:${row.execution_index}`;
}
