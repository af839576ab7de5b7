import * as z from 'zod';
import { nodeUsing } from '../database/index.ts';
import { isoNow } from '../kernel/clock.ts';
import { refusal } from '../kernel/errors.ts';
import { type Context, defineOperation, traceOf } from '../operations/index.ts';
import { PlanDeletedResponse, PlanPatchResponse, PlanResponse } from './answers.ts';
import { Description, isChange, Name, NewStages, PlanId } from './input.ts';
import { type PlanNeeds, patchLocked, patchPlan, planToChange } from './plan-changes.ts';
import { planView } from './plan-view.ts';
import { tag } from './read-operations.ts';
import { patchReport, planOutline } from './render.ts';
import { createPlan, deletePlan } from './store.ts';
import { STORE_MODES } from './store-modes.ts';

const create = defineOperation({
  name: 'plan.create',
  summary: 'Make a plan',
  description: 'Makes a plan, with its stages and their tasks where they are given.',
  input: z.strictObject({
    name: Name,
    description: Description.optional(),
    stages: NewStages.optional().describe('Its stages in their order, each with its tasks'),
  }),
  output: PlanResponse,
  access: { can: 'write' },
  effect: 'write',
  http: { method: 'POST', path: '/api/v1/plans', status: 201, tag },
  mcp: { tool: 'plan_create' },
  cli: {
    command: 'plan create',
    examples: ['flowright plan create --name "Release 2.0" --description "What has to happen before we ship"'],
    render: ({ item }) => planOutline(item),
  },
  audit: (_input, { plan_id }) => ({ plan_id }),
  handle: async (context: Context<PlanNeeds>, { name, description, stages = [] }) => {
    const { trx, database, clock, principal } = context;
    const made = await createPlan(trx, database.dialect, {
      vault_id: principal.vault_id,
      name: name.trim(),
      description: description?.trim() ? description : null,
      now: isoNow(clock),
    });
    const { plan } = stages.length > 0 ? await patchLocked(context, made, 'replace', { stages }) : { plan: made };
    return { ok: true as const, plan_id: plan.id, item: planView(plan), ...traceOf(context) };
  },
});

const update = defineOperation({
  name: 'plan.update',
  summary: 'Rename, describe, complete or reopen a plan',
  description: 'Changes what is given and leaves the rest. Stages and tasks change with plan_patch.',
  input: z
    .strictObject({
      plan_id: PlanId,
      name: Name.optional(),
      description: Description.optional(),
      completed: z.boolean().optional().describe('true: complete now; false: open again'),
    })
    .refine(({ plan_id: _, ...fields }) => isChange(fields), {
      message: 'give a name, a description or completed',
      path: ['name'],
    }),
  output: PlanResponse,
  access: { can: 'write' },
  effect: 'write',
  http: { method: 'PATCH', path: '/api/v1/plans/{plan_id}', tag },
  mcp: { tool: 'plan_update' },
  cli: {
    command: 'plan update <plan_id>',
    examples: ['flowright plan update 3 --name "Release 2.1"', 'flowright plan update 3 --completed'],
    render: ({ item }) => planOutline(item),
  },
  audit: ({ plan_id }) => ({ plan_id }),
  handle: async (context: Context<PlanNeeds>, { plan_id, ...fields }) => {
    const { plan } = await patchPlan(context, plan_id, 'update', fields);
    return { ok: true as const, plan_id, item: planView(plan), ...traceOf(context) };
  },
});

const patch = defineOperation({
  name: 'plan.patch',
  summary: 'Apply a patch to a plan: append, replace or update stages and tasks',
  description:
    'A patch has the keys name, description, completed, stages and tasks. append adds stages and tasks and leaves those there are; replace writes all stages anew; update changes stages and tasks that it names by stage_id or task_id, else by stage_key or task_key. What is not there is skipped with a warning; a key that fits several is refused and nothing is changed.',
  input: z.strictObject({
    plan_id: PlanId,
    store_mode: z
      .enum(STORE_MODES)
      .describe('append adds, replace writes all stages anew, update changes existing ones'),
    patch: z.record(z.string(), z.unknown()).describe('name, description, completed, stages, tasks'),
  }),
  output: PlanPatchResponse,
  access: { can: 'write' },
  effect: 'write',
  http: { method: 'POST', path: '/api/v1/plans/{plan_id}/patch', tag },
  mcp: { tool: 'plan_patch' },
  cli: {
    command: 'plan patch <plan_id>',
    examples: [
      `flowright plan patch 3 --store-mode append --patch '{"stages": [{"name": "Build", "tasks": [{"name": "Compile"}]}]}'`,
      `flowright plan patch 3 --store-mode update --patch '{"tasks": [{"task_key": "compile", "completed": true}]}'`,
      `flowright plan patch 3 --store-mode update --patch '{"completed": false}'`,
    ],
    render: patchReport,
  },
  audit: ({ plan_id, store_mode }, { operation_counts }) => ({ plan_id, store_mode, ...operation_counts }),
  handle: async (context: Context<PlanNeeds>, { plan_id, store_mode, patch: given }) => {
    const { plan, ...report } = await patchPlan(context, plan_id, store_mode, given);
    return { ok: true as const, plan_id, store_mode, ...report, item: planView(plan), ...traceOf(context) };
  },
});

const remove = defineOperation({
  name: 'plan.delete',
  summary: 'Delete a plan with its stages and tasks',
  description: 'Removes a plan that no node works on any more. What node runs recorded about it stays with the runs.',
  input: z.strictObject({ plan_id: PlanId }),
  output: PlanDeletedResponse,
  access: { can: 'administer' },
  effect: 'destructive',
  http: { method: 'DELETE', path: '/api/v1/plans/{plan_id}', tag },
  cli: { command: 'plan delete <plan_id>', render: ({ plan_id }) => `Plan ${plan_id} is deleted.` },
  errors: ['CONFLICT'],
  audit: ({ plan_id }) => ({ plan_id }),
  handle: async (context: Context<PlanNeeds>, { plan_id }) => {
    const { trx, database } = context;
    await planToChange(context, plan_id);
    const node = await nodeUsing(trx, 'plan', plan_id);
    if (node) {
      throw refusal(
        'CONFLICT',
        `Node ${node.flowchart_node_id} of flowchart ${node.flowchart_id} (${node.flowchart_name}) works on plan ${plan_id}. Remove the node first.`,
        { ...node },
      );
    }
    await deletePlan(trx, database.dialect, plan_id);
    return { ok: true as const, deleted: true as const, plan_id, ...traceOf(context) };
  },
});

export const writeOperations = [create, update, patch, remove];
