import { type DialectName, type RunStatus, rows, type Script } from '../../database/index.ts';
import { endRun, holdParent, type RunEnd } from './end-run.ts';
import { insertRun, type NewRun } from './new-run.ts';
import { artifactEvent, emit, nodeEvent, type RunEvent, runEvent } from './run-events.ts';

/** The run has another owner now, or was canceled: nothing more may be written for it. */
export class LostRun extends Error {
  constructor() {
    super('this run is no longer ours to walk');
    this.name = 'LostRun';
  }
}

interface NodeRunIdentity {
  id: number;
  flowchart_node_id: number;
  node_type: string;
  execution_index: number;
}

export interface CompletedNode extends NodeRunIdentity {
  completed_order: number;
  output_json: string;
  routing_json: string;
  degraded_reason: string | null;
  artifact: NewArtifact;
}

export interface NewArtifact {
  ref_id: number | null;
  retention_mode: string;
  expires_at: string | null;
  /** How many of this node are kept, newest first; null keeps all. */
  keep: number | null;
  request_id: string | null;
  correlation_id: string | null;
  payload_json: string | null;
}

export interface WaitingNode extends NodeRunIdentity {
  wait_json: string;
  /** When waiting becomes a failure; null: never. */
  wait_until: string | null;
  /** The subflow to wait for, made in this same step. */
  child: NewRun | null;
}

/** A subflow that nobody waits for: the node completes with the number of the run it began. */
export interface FiredNode {
  child: NewRun;
  complete(childRunId: number): CompletedNode;
}

export interface FailedNode extends NodeRunIdentity {
  error: string;
  error_code: string;
  /** What it had made, where it failed only because nothing could follow from that. */
  output_json: string | null;
  routing_json: string | null;
}

export interface StartingNode {
  flowchart_node_id: number;
  node_type: string;
  sequence: number;
  execution_index: number;
  started_order: number;
  input_context_json: string;
  /** Set when a guard rail forbids it: it is recorded as failed and never executed. */
  refused: { error: string; error_code: string } | null;
}

/** All that one step of a run changes; it happens as a whole or not at all. */
export interface StepWrites {
  dialect: DialectName;
  run: { id: number; flowchart_id: number; fence: number; parent_run_id: number | null };
  now: string;
  /** Sequence of the last event of the run, where the walker knows that nobody else has told any. */
  lastEvent: number | null;
  /** How far the run is before `starting`, when it is time to write that down; the node runs tell it anyway. */
  progress: { executions: number; completions: number; active_ms: number } | null;
  completed: readonly CompletedNode[];
  fired: readonly FiredNode[];
  waiting: readonly WaitingNode[];
  failed: readonly FailedNode[];
  starting: readonly StartingNode[];
  /** Of a run that is over; then nothing starts. */
  end: RunEnd | null;
  /** The run that follows one whose connectors lead back to the start. */
  followUp: NewRun | null;
  warnings: readonly RunEvent[];
}

export interface StepResult {
  status: RunStatus;
  wakes: number;
  isOver: boolean;
  /** Node run ids of `starting`, in order; empty when the run may not start anything now. */
  started: readonly number[];
  /** Runs that want attention because of this step. */
  woken: readonly number[];
  children: readonly number[];
  lastEvent: number | null;
}

/** SQLite has one writer; PostgreSQL must keep the row from whoever else would change it. */
const GUARD_SQL = 'select status, wakes from flowchart_runs where id = ? and fence = ? and finished_at is null';
const GUARD: Record<DialectName, string> = { sqlite: GUARD_SQL, postgres: `${GUARD_SQL} for update` };

const COMPLETE = `update flowchart_run_nodes set status = 'succeeded', completed_order = ?, output_state_json = ?,
  routing_state_json = ?, degraded_reason = ?, finished_at = ? where id = ?`;
const ADD_ARTIFACT = `insert into node_artifacts (id, flowchart_id, flowchart_node_id, flowchart_run_id,
  flowchart_run_node_id, node_type, artifact_type, ref_id, execution_index, retention_mode, expires_at, request_id,
  correlation_id, payload_json, created_at) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`;
const START = `insert into flowchart_run_nodes (flowchart_run_id, flowchart_node_id, node_type, sequence, execution_index,
  status, started_order, input_context_json, error, error_code, started_at, finished_at)
  values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) returning id`;

export function* writeStep(step: StepWrites): Script<StepResult> {
  const { run, now } = step;
  if (step.end && run.parent_run_id !== null) yield* holdParent(run.id);
  const [row] = yield { sql: GUARD[step.dialect], values: [run.id, run.fence] };
  const guard = row as { status: RunStatus; wakes: number } | undefined;
  if (!guard) throw new LostRun();
  if (step.progress) {
    const { executions, completions, active_ms } = step.progress;
    yield* rows(
      'update flowchart_runs set executions = ?, completions = ?, active_ms = ?, updated_at = ? where id = ?',
      guard.status === 'running' ? executions + step.starting.length : executions,
      completions,
      active_ms,
      now,
      run.id,
    );
  }
  const events: RunEvent[] = [];
  const children: number[] = [];
  const woken: number[] = [];
  for (const node of step.completed) yield* complete(run, node, now, events);
  for (const { child, complete: completed } of step.fired) {
    const childId = yield* insertRun(child, now);
    woken.push(childId);
    yield* complete(run, completed(childId), now, events);
  }
  for (const node of step.waiting) {
    const childId = node.child ? yield* insertRun(node.child, now) : null;
    if (childId !== null) {
      children.push(childId);
      woken.push(childId);
    }
    yield* rows(
      "update flowchart_run_nodes set status = 'waiting', wait_json = ?, wait_until = ? where id = ?",
      node.wait_json,
      node.wait_until,
      node.id,
    );
    events.push(nodeEvent(run, node, 'waiting'));
  }
  for (const node of step.failed) {
    yield* fail(node, now);
    events.push(nodeEvent(run, node, 'failed'));
  }
  const mayStart = guard.status === 'running';
  const started: number[] = [];
  for (const node of mayStart ? step.starting : []) started.push(yield* start(run, node, now, events));
  events.push(...step.warnings);
  // What a guard rail refuses is not refused before its turn to start.
  const isHeld = !mayStart && step.starting.some(({ refused }) => refused);
  if (!step.end || isHeld) {
    // Whoever else tells news of a run also wakes it.
    const known = guard.wakes === 0 ? step.lastEvent : null;
    const lastEvent = yield* emit(run.id, now, events, known);
    return { status: guard.status, wakes: guard.wakes, isOver: false, started, woken, children, lastEvent };
  }
  // A stop that was asked for while the last nodes were at work is what happened; nothing follows it.
  const isStopped = guard.status === 'stopping' && step.end.status === 'completed';
  const end: RunEnd = isStopped ? { ...step.end, status: 'stopped' } : step.end;
  woken.push(...(yield* endRun(run, end, now, events)));
  if (step.followUp && !isStopped) woken.push(yield* insertRun(step.followUp, now));
  return { status: end.status, wakes: 0, isOver: true, started, woken, children, lastEvent: null };
}

function* complete(
  run: { id: number; flowchart_id: number },
  node: CompletedNode,
  now: string,
  events: RunEvent[],
): Script<void> {
  yield {
    sql: COMPLETE,
    values: [node.completed_order, node.output_json, node.routing_json, node.degraded_reason, now, node.id],
  };
  const { artifact } = node;
  yield {
    sql: ADD_ARTIFACT,
    values: [
      node.id,
      run.flowchart_id,
      node.flowchart_node_id,
      run.id,
      node.id,
      node.node_type,
      node.node_type,
      artifact.ref_id,
      node.execution_index,
      artifact.retention_mode,
      artifact.expires_at,
      artifact.request_id,
      artifact.correlation_id,
      artifact.payload_json,
      now,
    ],
  };
  if (artifact.keep !== null) {
    yield* rows(
      `delete from node_artifacts where flowchart_node_id = ? and retention_mode in ('max_count', 'ttl_max_count')
        and id <= coalesce((select id from node_artifacts where flowchart_node_id = ?
          and retention_mode in ('max_count', 'ttl_max_count') order by id desc limit 1 offset ?), 0)`,
      node.flowchart_node_id,
      node.flowchart_node_id,
      artifact.keep,
    );
  }
  events.push(nodeEvent(run, node, 'succeeded'));
  if (node.degraded_reason !== null) {
    events.push(
      runEvent(run, 'running', {
        transition: 'warning',
        flowchart_node_id: node.flowchart_node_id,
        flowchart_node_run_id: node.id,
        warning_message: node.degraded_reason,
      }),
    );
  }
  events.push(artifactEvent(run, node));
}

function* fail(node: FailedNode, now: string): Script<void> {
  yield* rows(
    `update flowchart_run_nodes set status = 'failed', error = ?, error_code = ?, output_state_json = ?,
      routing_state_json = ?, finished_at = ? where id = ?`,
    node.error,
    node.error_code,
    node.output_json,
    node.routing_json,
    now,
    node.id,
  );
}

function* start(
  run: { id: number; flowchart_id: number },
  node: StartingNode,
  now: string,
  events: RunEvent[],
): Script<number> {
  const [row] = yield {
    sql: START,
    values: [
      run.id,
      node.flowchart_node_id,
      node.node_type,
      node.sequence,
      node.execution_index,
      node.refused ? 'failed' : 'running',
      node.started_order,
      node.input_context_json,
      node.refused?.error ?? null,
      node.refused?.error_code ?? null,
      now,
      node.refused ? now : null,
    ],
  };
  const id = row?.id as number;
  events.push(nodeEvent(run, { ...node, id }, node.refused ? 'failed' : 'running'));
  return id;
}
