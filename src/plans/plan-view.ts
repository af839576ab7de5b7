import * as z from 'zod';
import { keyOf, type Plan, type PlanStage, type PlanTask } from './plan-tree.ts';

const Time = z.string().describe('ISO-8601, UTC');
const Completed = z.string().nullable().describe('When it was completed; null while it is not');

const row = {
  id: z.int(),
  name: z.string(),
  description: z.string().nullable(),
  completed_at: Completed,
  created_at: Time,
  updated_at: Time,
};

export const PlanTaskRecord = z
  .strictObject({
    ...row,
    plan_stage_id: z.int().describe('The stage it is in'),
    task_key: z.string().describe('What a patch may call it by: its name in small letters, joined by underscores'),
    position: z.int(),
  })
  .meta({ id: 'PlanTask' });

export const PlanStageRecord = z
  .strictObject({
    ...row,
    stage_key: z.string().describe('What a patch may call it by: its name in small letters, joined by underscores'),
    position: z.int(),
    tasks: z.array(PlanTaskRecord).optional().describe('In their order; left out when not asked for'),
  })
  .meta({ id: 'PlanStage' });

const counts = {
  stage_count: z.int(),
  task_count: z.int(),
  completed_task_count: z.int(),
};

export const PlanSummaryRecord = z.strictObject({ ...row, ...counts }).meta({ id: 'PlanSummary' });

export const PlanRecord = z
  .strictObject({
    ...row,
    ...counts,
    stages: z.array(PlanStageRecord).optional().describe('In their order; left out when not asked for'),
  })
  .meta({ id: 'Plan' });

export type PlanView = z.output<typeof PlanRecord>;

/** A plan as every door and every node run shows it. */
export function planView(
  plan: Plan,
  show: { stages: boolean; tasks: boolean } = { stages: true, tasks: true },
): PlanView {
  const tasks = plan.stages.flatMap((stage) => stage.tasks);
  const { id, name, description, completed_at, created_at, updated_at } = plan;
  return {
    id,
    name,
    description,
    completed_at,
    created_at,
    updated_at,
    stage_count: plan.stages.length,
    task_count: tasks.length,
    completed_task_count: tasks.filter((task) => task.completed_at !== null).length,
    ...(show.stages ? { stages: plan.stages.map((stage) => stageView(stage, show.tasks)) } : {}),
  };
}

export function stageView(stage: PlanStage, withTasks = true): z.output<typeof PlanStageRecord> {
  const { id, name, description, completed_at, created_at, updated_at, position, tasks } = stage;
  return {
    id,
    name,
    description,
    completed_at,
    created_at,
    updated_at,
    stage_key: keyOf(name),
    position,
    ...(withTasks ? { tasks: tasks.map((task) => taskView(stage, task)) } : {}),
  };
}

export function taskView(stage: PlanStage, task: PlanTask): z.output<typeof PlanTaskRecord> {
  const { id, name, description, completed_at, created_at, updated_at, position } = task;
  return {
    id,
    name,
    description,
    completed_at,
    created_at,
    updated_at,
    plan_stage_id: stage.id,
    task_key: keyOf(name),
    position,
  };
}
