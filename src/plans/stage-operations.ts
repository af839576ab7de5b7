import * as z from 'zod';
import { isoNow } from '../kernel/clock.ts';
import { refusal } from '../kernel/errors.ts';
import { type Context, defineOperation, traceOf } from '../operations/index.ts';
import { PlanStageDeletedResponse, PlanStageResponse } from './answers.ts';
import { isChange, newRow, PlanId, rowChange, StageId } from './input.ts';
import { type PlanNeeds, patchLocked, planToChange, stageIn } from './plan-changes.ts';
import { stageView } from './plan-view.ts';
import { tag } from './read-operations.ts';
import { stageOutline } from './render.ts';
import { savePlan } from './store.ts';

const add = defineOperation({
  name: 'plan.stage_add',
  summary: 'Add a stage to a plan',
  input: z.strictObject({ plan_id: PlanId, ...newRow }),
  output: PlanStageResponse,
  access: { can: 'write' },
  effect: 'write',
  http: { method: 'POST', path: '/api/v1/plans/{plan_id}/stages', status: 201, tag },
  cli: {
    command: 'plan stage-add <plan_id>',
    examples: ['flowright plan stage-add 3 --name "Build"'],
    render: ({ item }) => stageOutline(item),
  },
  errors: ['CONFLICT'],
  audit: ({ plan_id }, { stage_id }) => ({ plan_id, stage_id }),
  handle: async (context: Context<PlanNeeds>, { plan_id, ...stage }) => {
    const before = await planToChange(context, plan_id);
    const { plan, touched, warnings } = await patchLocked(context, before, 'append', { stages: [stage] });
    const [stageId] = touched.stage_ids;
    if (warnings.length > 0 || stageId === undefined) {
      throw refusal('CONFLICT', `Plan ${plan_id} has a stage of that name. Use another name, or change that stage.`);
    }
    const item = stageView(stageIn(plan, stageId));
    return { ok: true as const, plan_id, stage_id: stageId, item, ...traceOf(context) };
  },
});

const update = defineOperation({
  name: 'plan.stage_update',
  summary: 'Change, move, complete or reopen a stage',
  input: z
    .strictObject({ plan_id: PlanId, stage_id: StageId, ...rowChange })
    .refine(({ plan_id: _, stage_id: __, ...fields }) => isChange(fields), {
      message: 'give what is to change: name, description, position or completed',
      path: ['name'],
    }),
  output: PlanStageResponse,
  access: { can: 'write' },
  effect: 'write',
  http: { method: 'PATCH', path: '/api/v1/plans/{plan_id}/stages/{stage_id}', tag },
  cli: {
    command: 'plan stage-update <plan_id> <stage_id>',
    examples: ['flowright plan stage-update 3 7 --completed', 'flowright plan stage-update 3 7 --position 1'],
    render: ({ item }) => stageOutline(item),
  },
  audit: ({ plan_id, stage_id }) => ({ plan_id, stage_id }),
  handle: async (context: Context<PlanNeeds>, { plan_id, stage_id, ...fields }) => {
    const before = await planToChange(context, plan_id);
    stageIn(before, stage_id);
    const { plan } = await patchLocked(context, before, 'update', { stages: [{ stage_id, ...fields }] });
    return { ok: true as const, plan_id, stage_id, item: stageView(stageIn(plan, stage_id)), ...traceOf(context) };
  },
});

const remove = defineOperation({
  name: 'plan.stage_delete',
  summary: 'Delete a stage with its tasks',
  input: z.strictObject({ plan_id: PlanId, stage_id: StageId }),
  output: PlanStageDeletedResponse,
  access: { can: 'administer' },
  effect: 'destructive',
  http: { method: 'DELETE', path: '/api/v1/plans/{plan_id}/stages/{stage_id}', tag },
  cli: {
    command: 'plan stage-delete <plan_id> <stage_id>',
    render: ({ plan_id, stage_id }) => `Stage ${stage_id} of plan ${plan_id} is deleted.`,
  },
  audit: ({ plan_id, stage_id }) => ({ plan_id, stage_id }),
  handle: async (context: Context<PlanNeeds>, { plan_id, stage_id }) => {
    const { trx, database, clock } = context;
    const before = await planToChange(context, plan_id);
    const gone = stageIn(before, stage_id);
    const stages = before.stages.filter((stage) => stage !== gone);
    await savePlan(trx, database.dialect, before, { ...before, stages, updated_at: isoNow(clock) });
    return { ok: true as const, deleted: true as const, plan_id, stage_id, ...traceOf(context) };
  },
});

export const stageOperations = [add, update, remove];
