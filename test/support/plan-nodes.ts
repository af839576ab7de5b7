import type { Database } from '../../src/database/index.ts';
import type { NodeExecution, NodeType, Outcome } from '../../src/flowcharts/nodes/node-type.ts';
import { silentLog } from '../../src/kernel/log.ts';
import type { Llm } from '../../src/llm/index.ts';
import { createLlm } from '../../src/llm/index.ts';
import { applyPlanPatch, createPlan, type Plan, saveApplied } from '../../src/plans/index.ts';
import { type ExecutionOptions, executionOf, graphNode } from './node-execution.ts';
import type { ScriptedModel } from './scripted-model.ts';

export const PLAN_TIME = '2026-01-01T00:00:00.000Z';

/** A plan with two stages, whose tasks share a name: as in the worked examples. */
export function makeExamplePlan(database: Database, vault_id = 'default'): Promise<Plan> {
  return database.transaction(async (trx) => {
    const fields = { vault_id, name: 'Release', description: 'How we ship', now: PLAN_TIME };
    const empty = await createPlan(trx, database.dialect, fields);
    const stages = [
      { name: 'Build it', tasks: [{ name: 'Write code' }, { name: 'Test' }] },
      { name: 'Ship', tasks: [{ name: 'Test' }] },
    ];
    const applied = applyPlanPatch(empty, 'replace', { stages }, PLAN_TIME);
    return (await saveApplied(trx, database.dialect, empty, applied)).plan;
  });
}

/** The real client of a scripted model. */
export function llmOf(model: ScriptedModel): Llm {
  return createLlm({ config: { ...model.settings, llm_timeout_seconds: 20 }, environment: {}, log: silentLog });
}

type Options = ExecutionOptions & { ref_id?: number | null; vault_id?: string; execution_index?: number };

export function nodeExecution(type: NodeType, config: Record<string, unknown>, options: Options): NodeExecution {
  const { ref_id = null, vault_id = 'default', execution_index = 1, ...rest } = options;
  const node = { ...graphNode(type.name, config), ref_id };
  return { ...executionOf(node, rest), vault_id, execution_index };
}

/** Runs a node as the engine does: the work first, then its effects in one transaction. */
export async function runNode(type: NodeType, execution: NodeExecution): Promise<Outcome> {
  const result = await type.execute(execution);
  if ('done' in result) return result.done;
  if ('commit' in result) return execution.services.database.transaction(result.commit);
  throw new Error('the node waits');
}
