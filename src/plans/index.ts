export {
  type AppliedPatch,
  applyPlanPatch,
  applyPlanPatches,
  hasPatchKey,
  type OperationCounts,
  PATCH_KEYS,
  type Touched,
} from './applier.ts';
export { saveApplied } from './change.ts';
export type { PlanWarning } from './draft.ts';
export { PlanPatchError } from './patch-entry.ts';
export { patchFaults } from './patch-shape.ts';
export { keyOf, type Plan, type PlanStage, type PlanTask } from './plan-tree.ts';
export { type PlanView, planView } from './plan-view.ts';
export { createPlan, loadPlan, lockPlan, savePlan } from './store.ts';
export { STORE_MODES, type StoreMode } from './store-modes.ts';
