import { addStage, addTask, changeRow, type Draft, keyIn, settlePlaces } from './draft.ts';
import {
  findByKey,
  findRow,
  findTask,
  isNamed,
  missingStage,
  missingTask,
  stageTarget,
  type Target,
  taskTarget,
} from './match.ts';
import { type Entry, entriesAt, nameOf, PlanPatchError } from './patch-entry.ts';
import { keyOf, type PlacedRow, type PlanStage, taskCount } from './plan-tree.ts';

export const STORE_MODES = ['append', 'replace', 'update'] as const;
export type StoreMode = (typeof STORE_MODES)[number];

/** The whole structure is written anew. It must be given: a patch that only renames a plan must not empty it. */
export function replaceStructure(draft: Draft, patch: Entry): void {
  assertReplaces(patch);
  const stages = entriesAt(patch, 'stages');
  draft.plan.stages = [];
  stages.forEach((entry, at) => {
    const name = nameOf(entry, 'a stage');
    warnOfTwin(draft, draft.plan.stages, name, entry);
    const stage = addStage(draft, entry, name, at + 1);
    entriesAt(entry, 'tasks').forEach((below, place) => {
      const taskName = nameOf(below, 'a task');
      warnOfTwin(draft, stage.tasks, taskName, below);
      addTask(draft, stage, below, taskName, place + 1);
    });
  });
  if (stages.length === 0) draft.action_results.push('Emptied the plan.');
  else
    draft.action_results.push(
      `Replaced the plan's structure with ${stages.length} stages and ${taskCount(draft.plan)} tasks.`,
    );
}

/** What `replace` wants of a patch before it looks into the stages. */
export function assertReplaces(patch: Entry): void {
  if (entriesAt(patch, 'tasks').length > 0) {
    throw new PlanPatchError(
      'tasks_not_allowed',
      'replace takes tasks inside their stages only',
      `${patch.path}/tasks`,
    );
  }
  if (patch.values.stages !== undefined) return;
  const message = 'replace needs the new `stages`; use append or update to change the plan alone, or [] to empty it';
  throw new PlanPatchError('stages_required', message, `${patch.path}/stages`);
}

/** Both are kept, as they were given; but from now on their key means neither. */
function warnOfTwin(draft: Draft, siblings: readonly PlacedRow[], name: string, { path }: Entry): void {
  const key = keyIn(draft, name);
  if (!siblings.some((sibling) => keyIn(draft, sibling.name) === key)) return;
  draft.warnings.push({
    code: 'invalid_payload',
    message: `${JSON.stringify(name)} has the key of another one beside it; updates will have to name them by id.`,
    details: { key, path },
  });
}

/** Adds and never changes: what is there already is left as it is, with a warning. */
export function appendStructure(draft: Draft, patch: Entry): void {
  for (const entry of entriesAt(patch, 'stages')) appendStage(draft, entry);
  if (entriesAt(patch, 'tasks').length === 0) return;
  draft.warnings.push({
    code: 'invalid_payload',
    message: 'append takes tasks inside their stages only; the list of tasks was ignored.',
    details: { path: `${patch.path}/tasks` },
  });
}

function appendStage(draft: Draft, entry: Entry): void {
  const target = stageTarget(entry);
  const isExplicit = isNamed(target);
  const existing = isExplicit
    ? findRow(draft, draft.plan.stages, target, 'stage', entry.path)
    : findByKey(draft, draft.plan.stages, nameOf(entry, 'a stage'), 'stage', entry.path);
  if (!existing && isExplicit) {
    missingStage(draft, target, entry.path);
    return;
  }
  if (existing) warnOfExisting(draft, 'stage', existing, entry);
  const stage = existing ?? addStage(draft, entry, nameOf(entry, 'a stage'), undefined);
  if (!existing) draft.action_results.push(`Added stage ${JSON.stringify(stage.name)}.`);
  for (const below of entriesAt(entry, 'tasks')) appendTask(draft, stage, below);
}

function appendTask(draft: Draft, stage: PlanStage, entry: Entry): void {
  const target = taskTarget(entry);
  const isExplicit = isNamed(target);
  const existing = isExplicit
    ? findRow(draft, stage.tasks, target, 'task', entry.path)
    : findByKey(draft, stage.tasks, nameOf(entry, 'a task'), 'task', entry.path);
  if (existing) {
    warnOfExisting(draft, 'task', existing, entry);
  } else if (isExplicit) {
    missingTask(draft, entry, stage);
  } else {
    const task = addTask(draft, stage, entry, nameOf(entry, 'a task'), undefined);
    draft.action_results.push(`Added task ${JSON.stringify(task.name)} to ${JSON.stringify(stage.name)}.`);
  }
}

function warnOfExisting(draft: Draft, what: 'stage' | 'task', row: PlacedRow, { path }: Entry): void {
  // A row of this very patch has no id that anybody could use.
  const id = row.id > 0 ? row.id : null;
  draft.warnings.push({
    code: 'existing_target',
    message: `There is a ${what} ${JSON.stringify(row.name)} already; append leaves it as it is.`,
    details: { [`${what}_id`]: id, [`${what}_key`]: keyOf(row.name), path },
  });
}

/** Changes what is there and never adds. */
export function updateStructure(draft: Draft, patch: Entry): void {
  for (const entry of entriesAt(patch, 'stages')) updateStage(draft, entry);
  for (const entry of entriesAt(patch, 'tasks')) updateTask(draft, entry, null);
  settlePlaces(draft);
}

export function assertNamed(target: Target, what: 'stage' | 'task', { path }: Entry): void {
  if (isNamed(target)) return;
  throw new PlanPatchError('target_required', `an update of a ${what} needs \`${what}_id\` or \`${what}_key\``, path);
}

function updateStage(draft: Draft, entry: Entry): void {
  const { stages } = draft.plan;
  const target = stageTarget(entry);
  assertNamed(target, 'stage', entry);
  const stage = findRow(draft, stages, target, 'stage', entry.path);
  if (!stage) {
    missingStage(draft, target, entry.path);
    return;
  }
  if (changeRow(draft, stage, stages, entry)) draft.action_results.push(`Updated stage ${JSON.stringify(stage.name)}.`);
  for (const below of entriesAt(entry, 'tasks')) updateTask(draft, below, stage);
}

function updateTask(draft: Draft, entry: Entry, within: PlanStage | null): void {
  assertNamed(taskTarget(entry), 'task', entry);
  const found = findTask(draft, entry, within);
  if (!found) {
    missingTask(draft, entry, within);
    return;
  }
  const { task, stage } = found;
  if (changeRow(draft, task, stage.tasks, entry))
    draft.action_results.push(`Updated task ${JSON.stringify(task.name)}.`);
}
