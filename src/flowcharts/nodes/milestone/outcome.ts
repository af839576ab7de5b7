import type { Milestone } from '../../../milestones/index.ts';
import type { Outcome } from '../node-type.ts';
import type { Json } from '../plan/config-reader.ts';
import type { MilestoneConfig } from './config.ts';

/** What a milestone node tells of what it did, and whether the run goes on from here. */
export function milestoneOutcome(
  config: MilestoneConfig,
  executionIndex: number,
  change: { before: Milestone; after: Milestone; action_results: string[] },
): Outcome {
  const { before, after, action_results } = change;
  const { loop_checkpoint_every: every, loop_exit_after_runs: last } = config;
  const checkpoint_hit = every > 0 && executionIndex % every === 0;
  const isOver =
    config.terminate_always ||
    (config.terminate_on_complete && after.completed) ||
    (config.terminate_on_checkpoint && checkpoint_hit) ||
    (last > 0 && executionIndex >= last);
  const route = (isOver && config.route_key_on_terminate) || config.route_key;
  return {
    output_state: {
      action: config.action,
      additive_prompt: config.additive_prompt,
      execution_index: executionIndex,
      checkpoint_hit,
      action_results: [
        ...action_results,
        ...(checkpoint_hit ? [`Reached the checkpoint of execution ${executionIndex}.`] : []),
        ...(isOver ? ['Ended the run.'] : []),
      ],
      before_milestone: before,
      milestone: after,
    },
    routing_state: {
      ...(route === '' ? {} : { route_key: route }),
      ...(isOver ? { terminate_run: true } : {}),
    },
    ref_id: after.id,
  };
}

const ARTIFACT_KEYS = [
  'action',
  'action_results',
  'additive_prompt',
  'checkpoint_hit',
  'before_milestone',
  'milestone',
] as const;

export function milestoneArtifact({ output_state, routing_state }: Outcome): Json {
  return { ...Object.fromEntries(ARTIFACT_KEYS.map((key) => [key, output_state[key]])), routing_state };
}
