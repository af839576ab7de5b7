import { type FlowchartRunsTable, rows, type Script } from '../../database/index.ts';
import { emit, openStream, runEvent } from './run-events.ts';

/** Everything about a run that is decided when it is made. */
export interface NewRun {
  vault_id: string;
  flowchart_id: number;
  graph_version: number;
  entry_node_id: number | null;
  input_json: string | null;
  trigger_source: FlowchartRunsTable['trigger_source'];
  started_by: string;
  started_as: FlowchartRunsTable['started_as'];
  max_node_executions: number | null;
  max_runtime_minutes: number | null;
  max_parallel_nodes: number;
  parent_run_id?: number;
  parent_node_run_id?: number;
  depth?: number;
  cycle?: number;
  follows_run_id?: number;
  chain_run_id?: number;
  executions_before?: number;
  replayed_from_run_id?: number;
  replay_action?: string;
  warnings_json?: string;
  request_id?: string | null;
  correlation_id?: string | null;
}

/** A queued run with its stream of events. It wants attention: whoever walks runs will find it. */
export function* insertRun(run: NewRun, now: string): Script<number> {
  const [row] = yield* rows<{ id: number }>(
    `insert into flowchart_runs (vault_id, flowchart_id, graph_version, status, entry_node_id, input_json, warnings_json,
      trigger_source, started_by, started_as, parent_run_id, parent_node_run_id, depth, cycle, follows_run_id,
      chain_run_id, executions_before, replayed_from_run_id, replay_action, max_node_executions, max_runtime_minutes, max_parallel_nodes, executions,
      completions, active_ms, fence, wakes, request_id, correlation_id, created_at, updated_at)
    values (?, ?, ?, 'queued', ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0, 0, 0, 0, 1, ?, ?, ?, ?) returning id`,
    run.vault_id,
    run.flowchart_id,
    run.graph_version,
    run.entry_node_id,
    run.input_json,
    run.warnings_json ?? '[]',
    run.trigger_source,
    run.started_by,
    run.started_as,
    run.parent_run_id ?? null,
    run.parent_node_run_id ?? null,
    run.depth ?? 0,
    run.cycle ?? 1,
    run.follows_run_id ?? null,
    run.chain_run_id ?? null,
    run.executions_before ?? 0,
    run.replayed_from_run_id ?? null,
    run.replay_action ?? null,
    run.max_node_executions,
    run.max_runtime_minutes,
    run.max_parallel_nodes,
    run.request_id ?? null,
    run.correlation_id ?? null,
    now,
    now,
  );
  const id = row?.id as number;
  yield* openStream(id);
  yield* emit(id, now, [runEvent({ id, flowchart_id: run.flowchart_id }, 'queued', { transition: 'queued' })]);
  return id;
}
