import * as z from 'zod';
import { isoNow } from '../kernel/clock.ts';
import { refusal } from '../kernel/errors.ts';
import { type Context, defineOperation, traceOf } from '../operations/index.ts';
import { PlanTaskDeletedResponse, PlanTaskResponse } from './answers.ts';
import { isChange, newRow, PlanId, rowChange, StageId, TaskId } from './input.ts';
import { type PlanNeeds, patchLocked, planToChange, stageIn, taskIn } from './plan-changes.ts';
import type { Plan } from './plan-tree.ts';
import { taskView } from './plan-view.ts';
import { tag } from './read-operations.ts';
import { taskLine } from './render.ts';
import { savePlan } from './store.ts';

const add = defineOperation({
  name: 'plan.task_add',
  summary: 'Add a task to a stage',
  input: z.strictObject({ plan_id: PlanId, stage_id: StageId, ...newRow }),
  output: PlanTaskResponse,
  access: { can: 'write' },
  effect: 'write',
  http: { method: 'POST', path: '/api/v1/plans/{plan_id}/stages/{stage_id}/tasks', status: 201, tag },
  cli: {
    command: 'plan task-add <plan_id> <stage_id>',
    examples: ['flowright plan task-add 3 7 --name "Write the notes"'],
    render: ({ item }) => taskLine(item),
  },
  errors: ['CONFLICT'],
  audit: ({ plan_id, stage_id }, { task_id }) => ({ plan_id, stage_id, task_id }),
  handle: async (context: Context<PlanNeeds>, { plan_id, stage_id, ...task }) => {
    const before = await planToChange(context, plan_id);
    stageIn(before, stage_id);
    const patch = { stages: [{ stage_id, tasks: [task] }] };
    const { plan, touched } = await patchLocked(context, before, 'append', patch);
    const [taskId] = touched.task_ids;
    if (taskId === undefined) {
      throw refusal('CONFLICT', `Stage ${stage_id} has a task of that name. Use another name, or change that task.`);
    }
    return answer(context, plan, { plan_id, stage_id, task_id: taskId });
  },
});

const update = defineOperation({
  name: 'plan.task_update',
  summary: 'Change, move, complete or reopen a task',
  input: z
    .strictObject({ plan_id: PlanId, stage_id: StageId, task_id: TaskId, ...rowChange })
    .refine(({ plan_id: _, stage_id: __, task_id: ___, ...fields }) => isChange(fields), {
      message: 'give what is to change: name, description, position or completed',
      path: ['name'],
    }),
  output: PlanTaskResponse,
  access: { can: 'write' },
  effect: 'write',
  http: { method: 'PATCH', path: '/api/v1/plans/{plan_id}/stages/{stage_id}/tasks/{task_id}', tag },
  cli: {
    command: 'plan task-update <plan_id> <stage_id> <task_id>',
    examples: ['flowright plan task-update 3 7 12 --completed'],
    render: ({ item }) => taskLine(item),
  },
  audit: ({ plan_id, stage_id, task_id }) => ({ plan_id, stage_id, task_id }),
  handle: async (context: Context<PlanNeeds>, { plan_id, stage_id, task_id, ...fields }) => {
    const before = await planToChange(context, plan_id);
    taskIn(stageIn(before, stage_id), task_id);
    const { plan } = await patchLocked(context, before, 'update', { tasks: [{ task_id, ...fields }] });
    return answer(context, plan, { plan_id, stage_id, task_id });
  },
});

const remove = defineOperation({
  name: 'plan.task_delete',
  summary: 'Delete a task',
  input: z.strictObject({ plan_id: PlanId, stage_id: StageId, task_id: TaskId }),
  output: PlanTaskDeletedResponse,
  access: { can: 'administer' },
  effect: 'destructive',
  http: { method: 'DELETE', path: '/api/v1/plans/{plan_id}/stages/{stage_id}/tasks/{task_id}', tag },
  cli: {
    command: 'plan task-delete <plan_id> <stage_id> <task_id>',
    render: ({ stage_id, task_id }) => `Task ${task_id} of stage ${stage_id} is deleted.`,
  },
  audit: ({ plan_id, stage_id, task_id }) => ({ plan_id, stage_id, task_id }),
  handle: async (context: Context<PlanNeeds>, { plan_id, stage_id, task_id }) => {
    const { trx, database, clock } = context;
    const before = await planToChange(context, plan_id);
    const stage = stageIn(before, stage_id);
    const gone = taskIn(stage, task_id);
    const without = { ...stage, tasks: stage.tasks.filter((task) => task !== gone) };
    const stages = before.stages.map((each) => (each === stage ? without : each));
    await savePlan(trx, database.dialect, before, { ...before, stages, updated_at: isoNow(clock) });
    return { ok: true as const, deleted: true as const, plan_id, stage_id, task_id, ...traceOf(context) };
  },
});

function answer(context: Context<PlanNeeds>, plan: Plan, ids: { plan_id: number; stage_id: number; task_id: number }) {
  const stage = stageIn(plan, ids.stage_id);
  return { ok: true as const, ...ids, item: taskView(stage, taskIn(stage, ids.task_id)), ...traceOf(context) };
}

export const taskOperations = [add, update, remove];
