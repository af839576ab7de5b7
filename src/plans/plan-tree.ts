/** A plan with everything in it. Stages and tasks are in the order of their positions. */
export interface Plan extends PlanRow {
  vault_id: string;
  stages: PlanStage[];
}

export interface PlanStage extends PlacedRow {
  tasks: PlanTask[];
}

export type PlanTask = PlacedRow;

interface PlanRow {
  /** Below zero: not stored yet. */
  id: number;
  name: string;
  description: string | null;
  completed_at: string | null;
  created_at: string;
  updated_at: string;
}

/** A stage or a task: one of several, in a place of its own. */
export interface PlacedRow extends PlanRow {
  position: number;
}

export const MAX_NAME = 255;
export const MAX_DESCRIPTION = 20_000;
export const MAX_POSITION = 1_000_000;
/** Of one plan; a loop that appends must come to an end somewhere. */
export const MAX_STAGES = 200;
export const MAX_TASKS = 2_000;

/**
 * What a stage or task is called by in a patch: its name in small letters, everything but letters and digits as one
 * underscore. A name without any letter or digit stands for itself, so that two such names are not taken for one.
 */
export function keyOf(name: string): string {
  const small = name.normalize('NFKC').trim().toLowerCase();
  const key = small.replace(/[^\p{L}\p{M}\p{N}]+/gu, '_').replace(/^_+|_+$/g, '');
  return key === '' ? small : key;
}

export function byPosition(left: PlacedRow, right: PlacedRow): number {
  return left.position - right.position || left.id - right.id;
}

export function copyOf(plan: Plan): Plan {
  return {
    ...plan,
    stages: plan.stages.map((stage) => ({ ...stage, tasks: stage.tasks.map((task) => ({ ...task })) })),
  };
}

export function taskCount(plan: Plan): number {
  return plan.stages.reduce((sum, { tasks }) => sum + tasks.length, 0);
}
