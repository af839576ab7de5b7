import { type Row, type RunStatus, rows, type Script } from '../../database/index.ts';
import { refusal } from '../../kernel/errors.ts';
import { endRun } from './end-run.ts';
import { emit, runEvent } from './run-events.ts';
import type { RunRow } from './walk-services.ts';

/**
 * What people may ask of a run that is under way, by its status:
 *
 *   status    cancel     cancel by force   pause      resume
 *   queued    stopped    canceled          paused     noop
 *   running   stopping   canceled          pausing    running
 *   pausing   stopping   canceled          pausing    running
 *   paused    stopping   canceled          paused     running
 *   stopping  stopping   canceled          refused    noop
 *   ended     none       none              noop       noop
 *
 * `stopping` and `pausing` let the nodes at work finish; `canceled` does not.
 */
export type ControlAction = 'cancel' | 'pause' | 'resume';

export interface Controlled {
  applied_action: string;
  updated: boolean;
  /** Runs that now want attention. */
  woken: number[];
}

const ENDED: readonly RunStatus[] = ['completed', 'failed', 'stopped', 'canceled'];

export function isEnded(status: RunStatus): boolean {
  return ENDED.includes(status);
}

export function* control(run: RunRow, action: ControlAction, force: boolean, now: string): Script<Controlled> {
  if (isEnded(run.status) && action === 'cancel') {
    // A flowchart that leads back to its start is on to the next run by now; it is the whole that is to stop.
    const [next] = yield* rows<RunRow & Row>(
      // Asked in this way it is also locked.
      `update flowchart_runs set updated_at = updated_at where chain_run_id = ? and finished_at is null returning *`,
      run.chain_run_id ?? run.id,
    );
    if (next) return yield* cancel(next, force, now);
  }
  if (isEnded(run.status)) return { applied_action: action === 'cancel' ? 'none' : 'noop', updated: false, woken: [] };
  if (action === 'cancel') return yield* cancel(run, force, now);
  return action === 'pause' ? yield* pause(run, now) : yield* resume(run, now);
}

function* cancel(run: RunRow, force: boolean, now: string): Script<Controlled> {
  if (force || run.status === 'queued') {
    const status = force ? 'canceled' : 'stopped';
    const woken = yield* endRun(run, { status }, now);
    return { applied_action: status, updated: true, woken: [run.id, ...woken] };
  }
  if (run.status === 'stopping') return { applied_action: 'stopping', updated: false, woken: [] };
  return yield* become(run, 'stopping', 'cancel', now);
}

function* pause(run: RunRow, now: string): Script<Controlled> {
  if (run.status === 'stopping') {
    throw refusal('CONFLICT', `Run ${run.id} is being stopped and cannot be paused. Wait until it has stopped.`);
  }
  if (run.status === 'pausing' || run.status === 'paused') return unchanged(run);
  return yield* become(run, run.status === 'queued' ? 'paused' : 'pausing', 'pause', now);
}

function* resume(run: RunRow, now: string): Script<Controlled> {
  if (run.status === 'running') return unchanged(run);
  if (run.status !== 'paused' && run.status !== 'pausing') return { applied_action: 'noop', updated: false, woken: [] };
  return yield* become(run, 'running', 'resume', now);
}

function unchanged(run: RunRow): Controlled {
  return { applied_action: run.status, updated: false, woken: [] };
}

const TRANSITIONS: Partial<Record<RunStatus, string>> = { running: 'resumed', paused: 'paused' };

function* become(run: RunRow, status: RunStatus, requested: string, now: string): Script<Controlled> {
  yield* rows(
    `update flowchart_runs set status = ?, updated_at = ?, wakes = wakes + 1,
      started_at = case when ? = 'running' then coalesce(started_at, ?) else started_at end where id = ?`,
    status,
    now,
    status,
    now,
    run.id,
  );
  const transition = TRANSITIONS[status] ?? status;
  yield* emit(run.id, now, [
    runEvent(run, status, { transition, requested_action: requested, status_before: run.status, status_after: status }),
  ]);
  const woken = [run.id];
  if (requested === 'cancel') return { applied_action: status, updated: true, woken };
  for (const child of yield* subflowsOf(run.id)) {
    if (requested === 'pause' && child.status === 'stopping') continue;
    woken.push(...(yield* control(child, requested as ControlAction, false, now)).woken);
  }
  return { applied_action: status, updated: true, woken };
}

/** Those that the run waits for: they pause and go on with it. */
function* subflowsOf(runId: number): Script<RunRow[]> {
  return yield* rows<RunRow & Row>(
    `select child.* from flowchart_runs child
      join flowchart_run_nodes waiting on waiting.id = child.parent_node_run_id and waiting.status = 'waiting'
    where child.parent_run_id = ? and child.finished_at is null order by child.id`,
    runId,
  );
}
