import { applyPlanPatches, loadPlan, lockPlan, type Plan, PlanPatchError, saveApplied } from '../../../plans/index.ts';
import { attemptModes } from '../modes.ts';
import { type NodeExecution, NodeFailure, type NodeResult, type NodeType } from '../node-type.ts';
import { normalisePlanConfig, readPlanConfig } from './config.ts';
import { PLAN_INSPECTOR } from './inspector.ts';
import { migratePlanConfig } from './migrate.ts';
import { planArtifact, planOutcome } from './outcome.ts';
import { intend } from './patches.ts';

/** Changes a plan: by a patch that is configured or handed on, or by one that a model writes. */
export const planNode: NodeType = {
  name: 'plan',
  binds: { ref: 'auto', mcp: true, attachments: true },
  normaliseConfig: normalisePlanConfig,
  migrateConfig: migratePlanConfig,
  inspector: PLAN_INSPECTOR,
  execute,
  artifactPayload: planArtifact,
};

/**
 * Modes are tried on a copy of the plan, outside any transaction: models are slow and may fail. What they decided is
 * applied again to the plan as it is when the node run completes.
 */
async function execute(execution: NodeExecution): Promise<NodeResult> {
  const { services, vault_id, node, signal } = execution;
  const { database, clock } = services;
  const config = readPlanConfig(node.config);
  const planId = node.ref_id;
  const seen = planId === null ? null : await loadPlan(database.queries, vault_id, planId);
  const plan = present(seen, planId);
  const { value: intent, degradation } = await attemptModes({
    mode: config.mode,
    retryCount: config.retry_count,
    fallbackEnabled: config.fallback_enabled,
    signal,
    attempt: (mode) => intend(execution, config, plan, mode),
  });
  return {
    commit: async (trx) => {
      const before = present(await lockPlan(trx, database.dialect, vault_id, plan.id), planId);
      const now = clock.now().toISOString();
      const applied = stillApplied(() => applyPlanPatches(before, config.store_mode, intent.patches, now));
      return planOutcome(config, intent, await saveApplied(trx, database.dialect, before, applied), degradation);
    },
  };
}

function present(plan: Plan | null, planId: number | null): Plan {
  if (plan) return plan;
  const what = planId === null ? 'The node has no plan' : `There is no plan ${planId} any more`;
  throw new NodeFailure('ref_missing', `${what}. Save the flowchart again, so that the node gets one.`);
}

/** Somebody else may have changed the plan since the patch was tried. */
function stillApplied<T>(apply: () => T): T {
  try {
    return apply();
  } catch (thrown) {
    if (!(thrown instanceof PlanPatchError)) throw thrown;
    const message = `The plan has changed meanwhile, and the patch no longer fits: ${thrown.message}. Run the node again.`;
    throw new NodeFailure('primary_runtime_error', message, { cause: thrown });
  }
}
