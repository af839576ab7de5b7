import type { DialectName, Trx } from '../database/index.ts';
import type { AppliedPatch, Touched } from './applier.ts';
import type { Plan } from './plan-tree.ts';
import { type SavedIds, savePlan } from './store.ts';

/** Stores what a patch made of a plan. The answer speaks of stored ids throughout. */
export async function saveApplied(
  trx: Trx,
  dialect: DialectName,
  before: Plan,
  applied: AppliedPatch,
): Promise<AppliedPatch> {
  const { plan, ids } = await savePlan(trx, dialect, before, applied.plan);
  return { ...applied, plan, touched: storedIds(applied.touched, ids) };
}

function storedIds(touched: Touched, ids: SavedIds): Touched {
  const stageId = (id: number) => ids.stages.get(id) ?? id;
  const taskId = (id: number) => ids.tasks.get(id) ?? id;
  return {
    stage_ids: touched.stage_ids.map(stageId),
    task_ids: touched.task_ids.map(taskId),
    stages: touched.stages.map((stage) => ({ ...stage, id: stageId(stage.id) })),
    tasks: touched.tasks.map((task) => ({ ...task, id: taskId(task.id), plan_stage_id: stageId(task.plan_stage_id) })),
  };
}
