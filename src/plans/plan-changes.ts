import type { Database } from '../database/index.ts';
import { type Clock, isoNow } from '../kernel/clock.ts';
import { badRequest, ERRORS, refusal } from '../kernel/errors.ts';
import type { Context } from '../operations/index.ts';
import { type AppliedPatch, applyPlanPatch } from './applier.ts';
import { saveApplied } from './change.ts';
import { PlanPatchError } from './patch-entry.ts';
import type { Plan, PlanStage, PlanTask } from './plan-tree.ts';
import { lockPlan } from './store.ts';
import type { StoreMode } from './store-modes.ts';

export interface PlanNeeds {
  database: Database;
  clock: Clock;
}

/** Applies a patch to a stored plan within the transaction of the call. */
export async function patchPlan(
  context: Context<PlanNeeds>,
  planId: number,
  storeMode: StoreMode,
  patch: Record<string, unknown>,
): Promise<AppliedPatch> {
  const before = await planToChange(context, planId);
  return patchLocked(context, before, storeMode, patch);
}

export async function planToChange({ trx, database, principal }: Context<PlanNeeds>, planId: number): Promise<Plan> {
  const plan = await lockPlan(trx, database.dialect, principal.vault_id, planId);
  if (!plan) throw unknownPlan(planId);
  return plan;
}

export function patchLocked(
  { trx, database, clock }: Context<PlanNeeds>,
  before: Plan,
  storeMode: StoreMode,
  patch: Record<string, unknown>,
): Promise<AppliedPatch> {
  return saveApplied(trx, database.dialect, before, applied(before, storeMode, patch, isoNow(clock)));
}

/** What the applier refuses is the caller's to mend. */
function applied(before: Plan, storeMode: StoreMode, patch: unknown, now: string): AppliedPatch {
  try {
    return applyPlanPatch(before, storeMode, patch, now);
  } catch (thrown) {
    if (!(thrown instanceof PlanPatchError)) throw thrown;
    const { code, message, path } = thrown;
    throw badRequest([{ code, message, path: `/patch${path}` }], 'The patch');
  }
}

export function stageIn(plan: Plan, stageId: number): PlanStage {
  const stage = plan.stages.find(({ id }) => id === stageId);
  if (!stage) throw refusal('NOT_FOUND', `Plan ${plan.id} has no stage ${stageId}. ${ERRORS.NOT_FOUND.next}`);
  return stage;
}

export function taskIn(stage: PlanStage, taskId: number): PlanTask {
  const task = stage.tasks.find(({ id }) => id === taskId);
  if (!task) throw refusal('NOT_FOUND', `Stage ${stage.id} has no task ${taskId}. ${ERRORS.NOT_FOUND.next}`);
  return task;
}

export function unknownPlan(planId: number) {
  return refusal('NOT_FOUND', `There is no plan ${planId} in this vault. ${ERRORS.NOT_FOUND.next}`);
}
