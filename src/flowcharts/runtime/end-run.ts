import { type RunStatus, rows, type Script } from '../../database/index.ts';
import { emit, nodeEvent, type RunEvent, runEvent } from './run-events.ts';

export type EndStatus = Extract<RunStatus, 'completed' | 'failed' | 'stopped' | 'canceled'>;

export interface RunEnd {
  status: EndStatus;
  output_node_run_id?: number | null;
  error?: string | null;
  error_code?: string | null;
  warnings_json?: string;
}

interface OpenNodeRun {
  id: number;
  flowchart_node_id: number;
  node_type: string;
  execution_index: number;
}

/** Who may end a run locks the run above it first, as one that takes its subflows with it does: from above to below. */
export function* holdParent(runId: number): Script<void> {
  yield* rows(
    `update flowchart_runs set updated_at = updated_at where id =
      (select parent_run_id from flowchart_runs below where below.id = ?)`,
    runId,
  );
}

/**
 * Ends a run: what it still had open is canceled without effects, subflows it waited for are canceled with it, and a run
 * that waits for this one is told. Returns the runs that now want attention: whoever walks one that was canceled calls its
 * nodes back.
 */
export function* endRun(
  run: { id: number; flowchart_id: number; parent_run_id: number | null },
  end: RunEnd,
  now: string,
  before: readonly RunEvent[] = [],
): Script<number[]> {
  if (run.parent_run_id !== null) yield* holdParent(run.id);
  // Locks the run before its node runs, as every writer of a run does.
  yield* rows('update flowchart_runs set updated_at = ? where id = ?', now, run.id);
  const open = yield* rows<OpenNodeRun>(
    `update flowchart_run_nodes set status = 'canceled', finished_at = ?
    where flowchart_run_id = ? and status in ('queued', 'running', 'waiting')
    returning id, flowchart_node_id, node_type, execution_index`,
    now,
    run.id,
  );
  const woken: number[] = [];
  for (const { id, node_type } of open) {
    if (node_type !== 'flowchart') continue;
    const children = yield* rows<{ id: number; flowchart_id: number; parent_run_id: number }>(
      `select id, flowchart_id, parent_run_id from flowchart_runs where parent_run_id = ? and parent_node_run_id = ?
      and status in ('queued', 'running', 'pausing', 'paused', 'stopping')`,
      run.id,
      id,
    );
    for (const child of children) {
      woken.push(child.id, ...(yield* endRun({ ...child, parent_run_id: null }, { status: 'canceled' }, now)));
    }
  }
  yield* rows(
    `update flowchart_runs set status = ?, finished_at = ?, updated_at = ?, output_node_run_id = ?, error = ?,
      error_code = ?, warnings_json = coalesce(?, warnings_json), owner = null, wakes = 0,
      executions = (select count(*) from flowchart_run_nodes where flowchart_run_id = flowchart_runs.id),
      completions = (select count(completed_order) from flowchart_run_nodes where flowchart_run_id = flowchart_runs.id),
      started_at = coalesce(started_at, ?)
    where id = ?`,
    end.status,
    now,
    now,
    end.output_node_run_id ?? null,
    end.error ?? null,
    end.error_code ?? null,
    end.warnings_json ?? null,
    now,
    run.id,
  );
  const transition = end.status === 'failed' ? { transition: 'failed', failure_message: end.error ?? null } : {};
  yield* emit(run.id, now, [
    ...before,
    ...open.map((node) => nodeEvent(run, node, 'canceled')),
    runEvent(run, end.status, { transition: end.status, ...transition }),
  ]);
  if (run.parent_run_id === null) return woken;
  yield* rows('update flowchart_runs set wakes = wakes + 1 where id = ?', run.parent_run_id);
  return [...woken, run.parent_run_id];
}
