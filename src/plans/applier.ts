import { complete, type Draft, draftOf, isSameRow, type PlanWarning } from './draft.ts';
import {
  completedOf,
  descriptionOf,
  type Entry,
  isObject,
  type Json,
  optionalName,
  PlanPatchError,
} from './patch-entry.ts';
import { byPosition, keyOf, type PlacedRow, type Plan, type PlanStage } from './plan-tree.ts';
import { appendStructure, replaceStructure, type StoreMode, updateStructure } from './store-modes.ts';

export const PATCH_KEYS = ['name', 'description', 'completed', 'stages', 'tasks'] as const;

export interface OperationCounts {
  created: number;
  updated: number;
  replaced: number;
  skipped_missing: number;
}

/** The rows that are new or changed, and the stages of such tasks. */
export interface Touched {
  stage_ids: number[];
  task_ids: number[];
  stages: { id: number; name: string; stage_key: string }[];
  tasks: { id: number; plan_stage_id: number; name: string; stage_key: string; task_key: string }[];
}

export interface AppliedPatch {
  /** The plan afterwards; rows that are new have ids below zero until they are stored. */
  plan: Plan;
  operation_counts: OperationCounts;
  touched: Touched;
  warnings: PlanWarning[];
  action_results: string[];
}

/**
 * What becomes of a plan when a patch is applied to it. Nothing is stored, and the plan given stays as it is. A patch
 * that cannot be applied as a whole is a PlanPatchError.
 */
export function applyPlanPatch(plan: Plan, storeMode: StoreMode, patch: unknown, now: string): AppliedPatch {
  return applyPlanPatches(plan, storeMode, [patch], now);
}

/** Several, each on what the one before left. Counts and lists say what changed from the first to the last. */
export function applyPlanPatches(
  plan: Plan,
  storeMode: StoreMode,
  patches: readonly unknown[],
  now: string,
): AppliedPatch {
  const draft = draftOf(plan, now);
  let fields = 0;
  for (const patch of patches) {
    if (!isObject(patch)) throw new PlanPatchError('invalid_type', 'a patch must be an object', '');
    fields += applyOne(draft, storeMode, { values: patch, path: '' });
  }
  return outcomeOf(plan, draft, fields);
}

export function hasPatchKey(value: unknown): value is Json {
  return isObject(value) && PATCH_KEYS.some((key) => Object.hasOwn(value, key));
}

function applyOne(draft: Draft, storeMode: StoreMode, patch: Entry): number {
  const stray = Object.keys(patch.values).filter((key) => !PATCH_KEYS.some((known) => known === key));
  if (stray.length > 0) {
    draft.warnings.push({
      code: 'invalid_payload',
      message: `A patch has the keys ${PATCH_KEYS.join(', ')}; others were ignored.`,
      details: { keys: stray.slice(0, 20) },
    });
  }
  const fields = changePlan(draft, patch);
  if (storeMode === 'replace') replaceStructure(draft, patch);
  else if (storeMode === 'append') appendStructure(draft, patch);
  else updateStructure(draft, patch);
  return fields;
}

/** The plan's own fields change in every mode. */
function changePlan(draft: Draft, patch: Entry): number {
  const { plan } = draft;
  const before = { ...plan };
  const name = optionalName(patch);
  const description = descriptionOf(patch);
  const completed = completedOf(patch);
  if (name !== undefined) plan.name = name;
  if (description !== undefined) plan.description = description;
  if (completed !== undefined) complete(plan, completed, draft.now);
  const lines = [
    ...(plan.name === before.name ? [] : [`Renamed the plan to ${JSON.stringify(plan.name)}.`]),
    ...(plan.description === before.description ? [] : ["Changed the plan's description."]),
    ...(plan.completed_at === before.completed_at ? [] : [completed ? 'Completed the plan.' : 'Reopened the plan.']),
  ];
  draft.action_results.push(...lines);
  return lines.length;
}

/** Counted from what differs, not along the way: so that the numbers are what happened to the rows. */
function outcomeOf(before: Plan, draft: Draft, fields: number): AppliedPatch {
  const { plan, now, skipped_missing, warnings, action_results } = draft;
  plan.stages.sort(byPosition);
  for (const stage of plan.stages) stage.tasks.sort(byPosition);
  const old = new Map(
    before.stages.flatMap((stage) => [rowOf('s', stage), ...stage.tasks.map((task) => rowOf('t', task))]),
  );
  const touched: Touched = { stage_ids: [], task_ids: [], stages: [], tasks: [] };
  let created = 0;
  let updated = fields;
  let kept = 0;
  const isTouched = (kind: 's' | 't', row: PlacedRow): boolean => {
    const earlier = old.get(`${kind}${row.id}`);
    if (!earlier) created += 1;
    else kept += 1;
    if (earlier && isSameRow(earlier, row)) return false;
    if (earlier) updated += 1;
    row.updated_at = now;
    return true;
  };
  for (const stage of plan.stages) {
    const isStageTouched = isTouched('s', stage);
    const tasks = stage.tasks.filter((task) => isTouched('t', task));
    if (!isStageTouched && tasks.length === 0) continue;
    touched.stage_ids.push(stage.id);
    touched.stages.push({ id: stage.id, name: stage.name, stage_key: keyOf(stage.name) });
    touched.task_ids.push(...tasks.map(({ id }) => id));
    touched.tasks.push(...tasks.map((task) => touchedTask(stage, task)));
  }
  const replaced = old.size - kept;
  if (created + updated + replaced > 0) plan.updated_at = now;
  return { plan, operation_counts: { created, updated, replaced, skipped_missing }, touched, warnings, action_results };
}

function rowOf(kind: 's' | 't', row: PlacedRow): [string, PlacedRow] {
  return [`${kind}${row.id}`, row];
}

function touchedTask(stage: PlanStage, task: PlacedRow): Touched['tasks'][number] {
  return {
    id: task.id,
    plan_stage_id: stage.id,
    name: task.name,
    stage_key: keyOf(stage.name),
    task_key: keyOf(task.name),
  };
}
