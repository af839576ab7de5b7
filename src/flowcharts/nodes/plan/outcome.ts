import { type AppliedPatch, planView } from '../../../plans/index.ts';
import type { Degradation } from '../modes.ts';
import type { Outcome } from '../node-type.ts';
import type { PlanConfig } from './config.ts';
import type { Json } from './config-reader.ts';
import type { Intent } from './patches.ts';

/** What a plan node tells of what it did. */
export function planOutcome(
  config: PlanConfig,
  intent: Intent,
  { plan, operation_counts, touched, warnings, action_results }: AppliedPatch,
  degradation: Degradation | null,
): Outcome {
  const route = (plan.completed_at !== null && config.route_key_on_complete) || config.route_key;
  const worked = degradation?.fallback_mode ?? config.mode;
  const lines = [
    ...(intent.patches.length === 0 ? ['No patch was supplied; the plan is as it was.'] : action_results),
    ...(worked === 'deterministic' && config.additive_prompt !== ''
      ? ['The additive prompt is kept as a note: the deterministic mode does not act on it.']
      : []),
    ...(degradation ? [fallbackLine(degradation)] : []),
  ];
  return {
    output_state: {
      mode: config.mode,
      store_mode: config.store_mode,
      additive_prompt: config.additive_prompt,
      action_results: lines,
      operation_counts,
      touched,
      warnings: [...intent.warnings, ...warnings],
      errors: [],
      execution_status: degradation ? 'success_with_warning' : 'success',
      fallback_used: degradation !== null,
      mode_fallback_used: degradation !== null,
      failed_mode: degradation?.failed_mode ?? null,
      fallback_mode: degradation?.fallback_mode ?? null,
      fallback_reason: degradation?.fallback_reason ?? null,
      fallback_message: degradation?.fallback_message ?? null,
      plan: planView(plan),
      ...(intent.llm_transform_summary === null ? {} : { llm_transform_summary: intent.llm_transform_summary }),
    },
    routing_state: {
      ...(route === '' ? {} : { route_key: route }),
      ...(degradation
        ? { fallback_used: true, mode_fallback_used: true, fallback_reason: degradation.fallback_reason }
        : {}),
    },
    ref_id: plan.id,
    ...(degradation ? { degraded_reason: degradation.fallback_reason } : {}),
  };
}

function fallbackLine({ failed_mode, fallback_mode, fallback_reason }: Degradation): string {
  return `The mode ${failed_mode} failed (${fallback_reason}); ${fallback_mode} did the work instead.`;
}

const ARTIFACT_KEYS = [
  'mode',
  'store_mode',
  'action_results',
  'additive_prompt',
  'operation_counts',
  'touched',
  'warnings',
  'errors',
  'execution_status',
  'fallback_used',
  'mode_fallback_used',
  'failed_mode',
  'fallback_mode',
  'fallback_reason',
  'fallback_message',
  'plan',
  'llm_transform_summary',
] as const;

export function planArtifact({ output_state, routing_state }: Outcome): Json {
  const kept = ARTIFACT_KEYS.filter((key) => Object.hasOwn(output_state, key)).map((key) => [key, output_state[key]]);
  return { ...Object.fromEntries(kept), routing_state };
}
