import { rows, type Script } from '../../database/index.ts';
import { refusal } from '../../kernel/errors.ts';
import type { Graph } from '../graph/model.ts';
import { compileGraph } from './compiled-graph.ts';
import { insertRun } from './new-run.ts';
import { type RecordedNodeRun, restoreSchedule, StoryMismatch } from './restore.ts';
import type { RunRow } from './walk-services.ts';

export type ReplayAction = 'retry' | 'skip' | 'rewind';

export interface ReplayWarning {
  code: string;
  message: string;
  flowchart_node_id: number;
  node_run_id: number;
}

interface PastNodeRun extends RecordedNodeRun {
  node_type: string;
  started_order: number;
  reused_from_id: number | null;
}

export interface ReplayWish {
  source: RunRow;
  action: ReplayAction;
  /** The node run to go back to; only of a rewind. */
  rewindTo: number | null;
  graph: Graph;
  graphVersion: number;
  /** As the flowchart has them now: raising one is how a run that reached it goes on. */
  limits: Pick<RunRow, 'max_node_executions' | 'max_runtime_minutes' | 'max_parallel_nodes'>;
  started_by: string;
  started_as: RunRow['started_as'];
  request_id: string | null;
  correlation_id: string | null;
  now: string;
}

/** Kinds of nodes that change something beside their own output. */
const WITH_EFFECTS = ['memory', 'plan', 'milestone'];

/**
 * A new run that begins where another one was: what that run had completed by then is taken over by reference and not
 * executed again. `retry` goes on from where it failed or was stopped (or begins again, if it had completed), `skip`
 * takes the failed node as done, `rewind` goes back to the moment when a node run started.
 */
export function* replay(wish: ReplayWish): Script<{ runId: number; warnings: ReplayWarning[] }> {
  const { source, now } = wish;
  const past = yield* rows<PastNodeRun>(
    `select own.id, own.sequence, own.status, own.completed_order, own.started_order, own.flowchart_node_id,
      own.node_type, own.reused_from_id, coalesce(origin.routing_state_json, own.routing_state_json) as routing_state_json
    from flowchart_run_nodes own left join flowchart_run_nodes origin on origin.id = own.reused_from_id
    where own.flowchart_run_id = ? order by own.sequence`,
    source.id,
  );
  const kept = keptOf(wish, past);
  const skipped = wish.action === 'skip' ? skippedOf(wish, past) : null;
  assertFits(
    wish,
    skipped ? [...kept, { ...skipped, completed_order: kept.length + 1, routing_state_json: '{}' }] : kept,
  );
  const isKept = new Set(kept);
  const warnings = past.flatMap((row) => (hadEffect(row) && !isKept.has(row) ? [repeatedEffect(row)] : []));
  const runId = yield* insertRun(
    {
      vault_id: source.vault_id,
      flowchart_id: source.flowchart_id,
      graph_version: wish.graphVersion,
      entry_node_id: source.entry_node_id,
      input_json: source.input_json,
      trigger_source: 'replay',
      started_by: wish.started_by,
      started_as: wish.started_as,
      max_node_executions: wish.limits.max_node_executions,
      max_runtime_minutes: wish.limits.max_runtime_minutes,
      max_parallel_nodes: wish.limits.max_parallel_nodes,
      depth: source.depth,
      cycle: source.cycle,
      replayed_from_run_id: source.id,
      replay_action: wish.action,
      warnings_json: JSON.stringify(warnings),
      request_id: wish.request_id,
      correlation_id: wish.correlation_id,
    },
    now,
  );
  const last = kept.reduce((highest, row) => Math.max(highest, row.completed_order ?? 0), 0);
  yield* rows(
    `insert into flowchart_run_nodes (flowchart_run_id, flowchart_node_id, node_type, sequence, execution_index, status,
      started_order, completed_order, reused_from_id, input_context_json, degraded_reason, started_at, finished_at)
    select cast(? as bigint), flowchart_node_id, node_type, sequence, execution_index, status, started_order, completed_order,
      coalesce(reused_from_id, id), input_context_json, degraded_reason, started_at, finished_at
    from flowchart_run_nodes where flowchart_run_id = ? and completed_order <= ? order by sequence`,
    runId,
    source.id,
    last,
  );
  if (skipped) yield* writeSkipped(runId, skipped, last + 1, now);
  const count = kept.length + (skipped ? 1 : 0);
  yield* rows('update flowchart_runs set executions = ?, completions = ? where id = ?', count, count, runId);
  return { runId, warnings };
}

function keptOf({ source, action, rewindTo }: ReplayWish, past: readonly PastNodeRun[]): PastNodeRun[] {
  const completed = past.filter((row) => row.completed_order !== null);
  if (action === 'rewind') {
    const target = past.find((row) => row.id === rewindTo);
    if (!target)
      throw refusal(
        'NOT_FOUND',
        `Run ${source.id} has no node run ${rewindTo}. \`flowright run show ${source.id}\` lists them.`,
      );
    return completed.filter((row) => (row.completed_order as number) <= target.started_order);
  }
  // What has completed as a whole can only be done again as a whole.
  return source.status === 'completed' ? [] : completed;
}

function skippedOf({ source }: ReplayWish, past: readonly PastNodeRun[]): PastNodeRun {
  const failed = past.find((row) => row.status === 'failed');
  if (!failed)
    throw refusal('CONFLICT', `Nothing of run ${source.id} failed, so there is nothing to skip. Retry it instead.`);
  if (failed.node_type === 'decision') {
    throw refusal(
      'CONFLICT',
      'A decision cannot be skipped: nothing would say where to go. Mend its conditions and retry.',
    );
  }
  return failed;
}

function assertFits({ source, graph }: ReplayWish, story: readonly RecordedNodeRun[]): void {
  const compiled = compileGraph(graph);
  const entry = source.entry_node_id ?? compiled.startNodeId;
  try {
    if (entry === null || !compiled.nodes.has(entry)) throw new StoryMismatch('Its first node is not there.');
    restoreSchedule(compiled, entry, story);
  } catch (thrown) {
    if (!(thrown instanceof StoryMismatch)) throw thrown;
    throw refusal(
      'CONFLICT',
      `What run ${source.id} has done does not fit the graph as it is now: ${thrown.message} Replay it with the graph it walked, or start a new run.`,
    );
  }
}

function hadEffect(row: PastNodeRun): boolean {
  return row.completed_order !== null && WITH_EFFECTS.includes(row.node_type);
}

function repeatedEffect({ id, flowchart_node_id, node_type }: PastNodeRun): ReplayWarning {
  const message = `Node ${flowchart_node_id} (${node_type}) had its effect already; this run may have it again.`;
  return { code: 'effect_repeated', message, flowchart_node_id, node_run_id: id };
}

function* writeSkipped(runId: number, row: PastNodeRun, order: number, now: string): Script<void> {
  const output = JSON.stringify({ node_type: row.node_type, skipped: true, attachments: [] });
  yield* rows(
    `insert into flowchart_run_nodes (flowchart_run_id, flowchart_node_id, node_type, sequence, execution_index, status,
      started_order, completed_order, input_context_json, output_state_json, routing_state_json, degraded_reason,
      started_at, finished_at)
    select cast(? as bigint), flowchart_node_id, node_type, sequence, execution_index, 'succeeded', started_order,
      cast(? as bigint), input_context_json, cast(? as text), '{}', 'skipped', cast(? as text), cast(? as text) from flowchart_run_nodes where id = ?`,
    runId,
    order,
    output,
    now,
    now,
    row.id,
  );
}
