import { parseStrictObject } from '../../../llm/index.ts';
import {
  type AppliedPatch,
  applyPlanPatches,
  hasPatchKey,
  type Plan,
  PlanPatchError,
  type PlanWarning,
  patchFaults,
} from '../../../plans/index.ts';
import { lookUp } from '../memory/dot-path.ts';
import { AttemptFailure, type Mode } from '../modes.ts';
import type { NodeExecution } from '../node-type.ts';
import { askModel } from './ask-model.ts';
import type { PlanConfig } from './config.ts';
import { isObject, type Json } from './config-reader.ts';
import { guidedPrompt, PATCH_SCHEMA, transformPrompt } from './prompt.ts';

/** What one attempt wants done to the plan, and what there is to say about how it came to that. */
export interface Intent {
  patches: readonly Json[];
  warnings: PlanWarning[];
  llm_transform_summary: string | null;
}

const SUMMARY_KEYS = ['summary', 'human_summary', 'text'] as const;
const MAX_SUMMARY = 4_000;

/** One attempt in one mode. Its patches have been tried on the plan as it is, so that what cannot be applied fails here. */
export async function intend(execution: NodeExecution, config: PlanConfig, plan: Plan, mode: Mode): Promise<Intent> {
  const now = execution.services.clock.now().toISOString();
  const dryRun = (patches: readonly Json[]) => applied(plan, config, patches, now);
  const intent =
    mode === 'llm_guided' ? await guided(execution, config, plan) : await determined(execution, config, dryRun);
  dryRun(intent.patches);
  return intent;
}

function applied(plan: Plan, { store_mode }: PlanConfig, patches: readonly Json[], now: string): AppliedPatch {
  try {
    return applyPlanPatches(plan, store_mode, patches, now);
  } catch (thrown) {
    if (!(thrown instanceof PlanPatchError)) throw thrown;
    const where = thrown.path === '' ? '' : ` (at ${thrown.path})`;
    throw new AttemptFailure('primary_runtime_error', `The patch cannot be applied: ${thrown.message}${where}.`, {
      cause: thrown,
    });
  }
}

async function guided(execution: NodeExecution, config: PlanConfig, plan: Plan): Promise<Intent> {
  const answer = objectIn(await askModel(execution, guidedPrompt(execution, config, plan), PATCH_SCHEMA));
  const patch = patchIn(answer, config);
  if (!patch) {
    const message = 'The model answered without a patch: none of name, description, completed, stages, tasks is there.';
    throw new AttemptFailure('llm_validation_error', message);
  }
  return { patches: [patch], warnings: [], llm_transform_summary: null };
}

function objectIn(text: string): Json {
  try {
    return parseStrictObject(text);
  } catch (thrown) {
    throw new AttemptFailure('llm_validation_error', (thrown as Error).message, { cause: thrown });
  }
}

/** First what is configured, then what came along, then what a model makes of the result. */
async function determined(
  execution: NodeExecution,
  config: PlanConfig,
  dryRun: (patches: readonly Json[]) => AppliedPatch,
): Promise<Intent> {
  const { patch_source_path: path } = config;
  const warnings: PlanWarning[] = [];
  const patches: Json[] = config.patch ? [config.patch] : [];
  const found = path === '' ? undefined : lookUp(execution.input, path);
  if (isObject(found)) {
    patches.push(found);
  } else if (found !== undefined && found !== null) {
    throw new AttemptFailure('primary_runtime_error', `What stands at ${path} is no patch: an object is wanted.`);
  } else if (path !== '') {
    const message = `There is nothing at ${path} in the input of this node.`;
    warnings.push({ code: 'missing_patch_source', message, details: { patch_source_path: path } });
  }
  if (!config.transform_with_llm || config.transform_prompt === '')
    return { patches, warnings, llm_transform_summary: null };
  const { plan } = dryRun(patches);
  const answer = looseObjectIn(await askModel(execution, transformPrompt(execution, config, plan)));
  const transformed = patchIn(answer, config);
  return {
    patches: transformed ? [...patches, transformed] : patches,
    warnings,
    llm_transform_summary: summaryIn(answer),
  };
}

/** A transform may also answer in prose: then that is its summary. */
function looseObjectIn(text: string): Json {
  try {
    return parseStrictObject(text);
  } catch {
    return { text: text.trim() };
  }
}

/** The patch of an answer, if it has one. A model that got its shape wrong may do better when it is asked again. */
function patchIn(answer: Json, { store_mode }: PlanConfig): Json | undefined {
  const patch = givenPatch(answer);
  const [fault] = patch ? patchFaults(store_mode, patch) : [];
  if (!fault) return patch;
  const where = fault.path === '' ? '' : ` (at ${fault.path})`;
  const message = `The patch of the model does not keep to the contract: ${fault.message}${where}.`;
  throw new AttemptFailure('llm_validation_error', message);
}

function givenPatch(answer: Json): Json | undefined {
  if (hasPatchKey(answer.patch)) return answer.patch;
  if (!hasPatchKey(answer)) return undefined;
  const beside: readonly string[] = [...SUMMARY_KEYS, 'patch'];
  return Object.fromEntries(Object.entries(answer).filter(([key]) => !beside.includes(key)));
}

function summaryIn(answer: Json): string | null {
  for (const key of SUMMARY_KEYS) {
    const text = answer[key];
    if (typeof text === 'string' && text.trim() !== '') return text.trim().slice(0, MAX_SUMMARY);
  }
  return null;
}
