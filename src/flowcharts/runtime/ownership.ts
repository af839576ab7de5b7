import { type Row, rows, type Script } from '../../database/index.ts';
import { emit, runEvent } from './run-events.ts';
import { LostRun } from './step.ts';
import type { RunRow } from './walk-services.ts';

/**
 * Who walks a run. A run without an owner wants one when `wakes` was raised; taking it raises its fence, and a step that
 * carries an older number is refused. An owner lets go when nothing is left to do, unless it was woken meanwhile.
 */

/** In the words of the index that holds just these. */
const IS_ACTIVE = "status in ('queued', 'running', 'pausing', 'paused', 'stopping')";
const LOOK_AT_ONCE = 256;

/**
 * Ours from here on: whoever had it before cannot commit any more. One that is ours already, and is not being walked, has
 * stumbled; it may have been unable to leave word of that.
 */
export function* claim(runId: number, owner: string): Script<RunRow | null> {
  const [run] = yield* rows<RunRow & Row>(
    `update flowchart_runs set owner = ?, fence = fence + 1, wakes = 0
    where id = ? and finished_at is null and (owner = ? or (owner is null and wakes > 0)) returning *`,
    owner,
    runId,
    owner,
  );
  return run ?? null;
}

/** The first thing an owner does with a run that nobody has walked yet. */
export function* beginRun(run: RunRow, now: string): Script<void> {
  const begun = yield* rows(
    `update flowchart_runs set status = 'running', started_at = coalesce(started_at, ?), updated_at = ?
    where id = ? and fence = ? and status = 'queued'`,
    now,
    now,
    run.id,
    run.fence,
  );
  if (begun.length === 0) throw new LostRun();
  yield* emit(run.id, now, [runEvent(run, 'running', { transition: 'started' })]);
}

/** Lets go of a run at which nothing is under way; false when it was woken. Whoever looks at it finds it told in full. */
export function* shelveRun(
  run: RunRow,
  progress: { executions: number; completions: number; active_ms: number },
  now: string,
): Script<boolean> {
  const pausing = yield* rows(
    "update flowchart_runs set status = 'paused', updated_at = ? where id = ? and fence = ? and status = 'pausing'",
    now,
    run.id,
    run.fence,
  );
  if (pausing.length > 0) yield* emit(run.id, now, [runEvent(run, 'paused', { transition: 'paused' })]);
  const shelved = yield* rows(
    `update flowchart_runs set owner = null, executions = ?, completions = ?, active_ms = ?
    where id = ? and fence = ? and wakes = 0 and finished_at is null`,
    progress.executions,
    progress.completions,
    progress.active_ms,
    run.id,
    run.fence,
  );
  return shelved.length > 0;
}

/** Everything a process owns, when it ends or has died: the next one finds it. */
export function* releaseRuns(owner: string): Script<number[]> {
  const released = yield* rows<{ id: number }>(
    'update flowchart_runs set owner = null, wakes = wakes + 1 where owner = ? and finished_at is null returning id',
    owner,
  );
  return released.map(({ id }) => id);
}

/** Runs of this owner that were woken and, if it takes others too, those that nobody owns. */
export function* wantingRuns(owner: string, takesOthers: boolean): Script<number[]> {
  const wanting = yield* rows<{ id: number }>(
    `select id from flowchart_runs where ${IS_ACTIVE} and wakes > 0 and (owner = ? or (owner is null and ? = 1))
    order by id limit ${LOOK_AT_ONCE}`,
    owner,
    takesOthers ? 1 : 0,
  );
  return wanting.map(({ id }) => id);
}

export function* otherOwners(owner: string): Script<string[]> {
  const others = yield* rows<{ owner: string }>(
    `select distinct owner from flowchart_runs where ${IS_ACTIVE} and owner is not null and owner <> ?`,
    owner,
  );
  return others.map((other) => other.owner);
}

/** Whoever waits for people or subflows is in nobody's memory; those that have waited for too long are woken here. */
export function* wakeOverdue(now: string): Script<number[]> {
  const woken = yield* rows<{ id: number }>(
    `update flowchart_runs set wakes = wakes + 1 where status = 'running' and owner is null and wakes = 0 and id in
      (select flowchart_run_id from flowchart_run_nodes where status = 'waiting' and wait_until <= ?) returning id`,
    now,
  );
  return woken.map(({ id }) => id);
}

/** Those of the runs that somebody has ended. */
export function* endedAmong(runIds: readonly number[]): Script<number[]> {
  const ended: number[] = [];
  for (const runId of runIds) {
    const found = yield* rows('select 1 from flowchart_runs where id = ? and finished_at is not null', runId);
    if (found.length > 0) ended.push(runId);
  }
  return ended;
}
