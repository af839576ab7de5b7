import { completedOf, descriptionOf, type Entry, optionalName, PlanPatchError, positionOf } from './patch-entry.ts';
import {
  byPosition,
  copyOf,
  keyOf,
  MAX_STAGES,
  MAX_TASKS,
  type PlacedRow,
  type Plan,
  type PlanStage,
  type PlanTask,
  taskCount,
} from './plan-tree.ts';

/** Something a patch asked for that was not done, without being a reason to refuse it. */
export interface PlanWarning {
  code: 'missing_target' | 'existing_target' | 'invalid_payload' | 'missing_patch_source';
  message: string;
  details?: Record<string, unknown>;
}

/** A plan while patches are applied to it; the plan it began with stays as it was. */
export interface Draft {
  plan: Plan;
  now: string;
  skipped_missing: number;
  warnings: PlanWarning[];
  action_results: string[];
  /** Ids of rows that are new, from -1 downwards. */
  nextId: number;
  /** Where rows are to go, by the list they stand in; settled once the whole patch has been read. */
  wishes: Map<readonly PlacedRow[], Map<PlacedRow, number>>;
  /** Keys of names, each worked out once: a long patch compares them over and over. */
  keys: Map<string, string>;
}

export function draftOf(plan: Plan, now: string): Draft {
  return {
    plan: copyOf(plan),
    now,
    skipped_missing: 0,
    warnings: [],
    action_results: [],
    nextId: -1,
    wishes: new Map(),
    keys: new Map(),
  };
}

export function keyIn(draft: Draft, name: string): string {
  const known = draft.keys.get(name);
  if (known !== undefined) return known;
  const key = keyOf(name);
  draft.keys.set(name, key);
  return key;
}

export function addStage(draft: Draft, entry: Entry, name: string, position: number | undefined): PlanStage {
  const { stages } = draft.plan;
  if (stages.length >= MAX_STAGES) {
    throw new PlanPatchError('plan_too_large', `a plan has at most ${MAX_STAGES} stages`, entry.path);
  }
  const stage = { ...newRow(draft, entry, name, stages, position), tasks: [] };
  stages.push(stage);
  return stage;
}

export function addTask(
  draft: Draft,
  stage: PlanStage,
  entry: Entry,
  name: string,
  position: number | undefined,
): PlanTask {
  if (taskCount(draft.plan) >= MAX_TASKS) {
    throw new PlanPatchError('plan_too_large', `a plan has at most ${MAX_TASKS} tasks`, entry.path);
  }
  const task = newRow(draft, entry, name, stage.tasks, position);
  stage.tasks.push(task);
  return task;
}

function newRow(
  draft: Draft,
  entry: Entry,
  name: string,
  siblings: PlacedRow[],
  fallback: number | undefined,
): PlacedRow {
  const id = draft.nextId;
  draft.nextId -= 1;
  return {
    id,
    name,
    description: descriptionOf(entry) ?? null,
    position: freePlace(siblings, positionOf(entry) ?? fallback),
    completed_at: completedOf(entry) ? draft.now : null,
    created_at: draft.now,
    updated_at: draft.now,
  };
}

/** The first place from there on that nobody has; behind everybody when no place is named. */
function freePlace(siblings: readonly PlacedRow[], wanted: number | undefined): number {
  if (wanted === undefined) return siblings.reduce((last, { position }) => Math.max(last, position), 0) + 1;
  let place = wanted;
  while (siblings.some(({ position }) => position === place)) place += 1;
  return place;
}

/** Does what the fields of an entry say to an existing row; true when that makes a difference. */
export function changeRow(draft: Draft, row: PlacedRow, siblings: readonly PlacedRow[], entry: Entry): boolean {
  const before = { ...row };
  const name = optionalName(entry);
  const description = descriptionOf(entry);
  const position = positionOf(entry);
  const completed = completedOf(entry);
  if (name !== undefined) row.name = name;
  if (description !== undefined) row.description = description;
  if (completed !== undefined) complete(row, completed, draft.now);
  if (position === undefined) return !isSameRow(before, row);
  const wishes = draft.wishes.get(siblings) ?? new Map<PlacedRow, number>();
  draft.wishes.set(siblings, wishes.set(row, position));
  return position !== row.position || !isSameRow(before, row);
}

/** What is complete already keeps the time it has. */
export function complete(row: { completed_at: string | null }, completed: boolean, now: string): void {
  row.completed_at = completed ? (row.completed_at ?? now) : null;
}

/**
 * Moves the rows that want to go somewhere; whoever stands there moves on. Those that want one place get it in turn,
 * and where they go does not depend on where they come from: so the same wishes made again change nothing.
 */
export function settlePlaces(draft: Draft): void {
  for (const [siblings, wishes] of draft.wishes) {
    const taken = new Set<number>();
    const place = (row: PlacedRow, wanted: number) => {
      let position = wanted;
      while (taken.has(position)) position += 1;
      taken.add(position);
      row.position = position;
    };
    for (const [row, wanted] of wishes) place(row, wanted);
    const others = siblings.filter((row) => !wishes.has(row)).sort(byPosition);
    for (const row of others) place(row, row.position);
  }
  draft.wishes.clear();
}

export function isSameRow(left: PlacedRow, right: PlacedRow): boolean {
  return (
    left.name === right.name &&
    left.description === right.description &&
    left.position === right.position &&
    left.completed_at === right.completed_at
  );
}
