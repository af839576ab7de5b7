import { type Draft, keyIn } from './draft.ts';
import { type Entry, idOf, keyAt, PlanPatchError } from './patch-entry.ts';
import type { PlacedRow, PlanStage, PlanTask } from './plan-tree.ts';

/** How an entry names the row it means. An id, where there is one, decides alone. */
export interface Target {
  id: number | null;
  key: string | null;
}

export function stageTarget(entry: Entry): Target {
  return { id: idOf(entry, 'stage_id', 'id'), key: keyAt(entry, 'stage_key') };
}

export function taskTarget(entry: Entry): Target {
  return { id: idOf(entry, 'task_id', 'id'), key: keyAt(entry, 'task_key') };
}

export function isNamed({ id, key }: Target): boolean {
  return id !== null || key !== null;
}

/** The one row that is meant, or null. Several that a key fits are no answer but an error. */
export function findRow<Row extends PlacedRow>(
  draft: Draft,
  rows: readonly Row[],
  target: Target,
  what: string,
  path: string,
): Row | null {
  if (target.id !== null) return rows.find(({ id }) => id === target.id) ?? null;
  return target.key === null ? null : findByKey(draft, rows, target.key, what, path);
}

export function findByKey<Row extends PlacedRow>(
  draft: Draft,
  rows: readonly Row[],
  text: string,
  what: string,
  path: string,
): Row | null {
  const key = keyIn(draft, text);
  const found = rows.filter(({ name }) => keyIn(draft, name) === key);
  if (found.length <= 1) return found[0] ?? null;
  const ids = found.map(({ id }) => id).join(', ');
  throw new PlanPatchError(
    'ambiguous_target',
    `the ${what} key ${JSON.stringify(key)} is ambiguous: it fits ${ids}; name one by id`,
    path,
  );
}

/** A task with the stage it is in. */
export interface PlacedTask {
  stage: PlanStage;
  task: PlanTask;
}

/** `task_id` over all stages, whatever is said about the stage; else the key in the named stage or the whole plan. */
export function findTask(draft: Draft, entry: Entry, within: PlanStage | null): PlacedTask | null {
  const { stages } = draft.plan;
  const target = taskTarget(entry);
  if (target.id !== null)
    return placed(
      stages,
      stages.flatMap(({ tasks }) => tasks).find(({ id }) => id === target.id),
    );
  const scope = within ? [within] : scopeOf(draft, entry);
  const task = findRow(
    draft,
    scope.flatMap(({ tasks }) => tasks),
    target,
    'task',
    entry.path,
  );
  return placed(scope, task ?? undefined);
}

function scopeOf(draft: Draft, entry: Entry): readonly PlanStage[] {
  const { stages } = draft.plan;
  const target = { id: idOf(entry, 'stage_id'), key: keyAt(entry, 'stage_key') };
  if (!isNamed(target)) return stages;
  const stage = findRow(draft, stages, target, 'stage', entry.path);
  return stage ? [stage] : [];
}

function placed(stages: readonly PlanStage[], task: PlanTask | undefined): PlacedTask | null {
  const stage = task && stages.find(({ tasks }) => tasks.includes(task));
  return stage && task ? { stage, task } : null;
}

export function missingStage(draft: Draft, { id, key }: Target, path: string): void {
  draft.skipped_missing += 1;
  draft.warnings.push({
    code: 'missing_target',
    message: `There is no stage ${id ?? JSON.stringify(key)}; the entry was skipped.`,
    details: { resolution: id === null ? 'stage_key' : 'stage_id', stage_id: id, stage_key: key, path },
  });
}

export function missingTask(draft: Draft, entry: Entry, within: PlanStage | null): void {
  const { id, key } = taskTarget(entry);
  draft.skipped_missing += 1;
  draft.warnings.push({
    code: 'missing_target',
    message: `There is no task ${id ?? JSON.stringify(key)} where it was looked for; the entry was skipped.`,
    details: {
      resolution: id === null ? 'task_key' : 'task_id',
      task_id: id,
      task_key: key,
      stage_id: within?.id ?? idOf(entry, 'stage_id'),
      stage_key: keyAt(entry, 'stage_key'),
      path: entry.path,
    },
  });
}
