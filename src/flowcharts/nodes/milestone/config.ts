import type { Issue } from '../../../kernel/errors.ts';
import { readChange } from '../../../milestones/index.ts';
import { NodeFailure } from '../node-type.ts';
import { type ConfigReader, configReader, isBlank, type Json, names } from '../plan/config-reader.ts';

export type Action = 'create_or_update' | 'mark_complete';

/** What a milestone node does. */
export interface MilestoneConfig {
  action: Action;
  additive_prompt: string;
  patch: Json | undefined;
  completion_source_path: string;
  mark_complete: boolean;
  terminate_always: boolean;
  terminate_on_complete: boolean;
  terminate_on_checkpoint: boolean;
  /** 0: never. */
  loop_checkpoint_every: number;
  loop_exit_after_runs: number;
  route_key: string;
  route_key_on_terminate: string;
}

export const CODE = 'milestone_config_invalid';
const MAX_LOOPS = 1_000_000;
const ACTIONS = names<Action>({
  create_or_update: ['update', 'checkpoint', 'read', 'create', 'create/update'],
  mark_complete: ['complete', 'mark milestone complete', 'mark_milestone_complete'],
});
const FLAGS = ['mark_complete', 'terminate_always', 'terminate_on_complete', 'terminate_on_checkpoint'] as const;
const COUNTS = ['loop_checkpoint_every', 'loop_exit_after_runs'] as const;
const TEXTS = ['completion_source_path', 'route_key', 'route_key_on_terminate'] as const;

/** As a save stores it. Keys that are not of milestone nodes stay as they came. */
export function normaliseMilestoneConfig(raw: Json): { config: Json; issues: Issue[] } {
  const { reader, config } = understand(raw);
  const stored: Json = { ...raw, ...config };
  for (const key of [...FLAGS, ...COUNTS]) if (isBlank(raw[key])) delete stored[key];
  for (const key of ['patch', ...TEXTS]) if (isBlank(stored[key])) delete stored[key];
  return { config: stored, issues: reader.issues };
}

/** As a run understands it. */
export function readMilestoneConfig(raw: Json): MilestoneConfig {
  const { reader, config } = understand(raw);
  const { action } = config;
  const [first] = reader.issues;
  if (first || !action) {
    throw new NodeFailure(CODE, `The config of the node is not valid: ${first?.path} ${first?.message}.`);
  }
  return { ...config, action };
}

type Understood = Omit<MilestoneConfig, 'action'> & { action: Action | undefined };

function understand(raw: Json): { reader: ConfigReader; config: Understood } {
  const reader = configReader(raw, CODE);
  if (isBlank(raw.action)) reader.refuse('action', 'is required: create_or_update or mark_complete');
  const patch = reader.object('patch');
  for (const { path, message } of patch ? readChange(patch).issues : []) reader.refuse(`patch${path}`, message);
  return {
    reader,
    config: {
      action: reader.word('action', ACTIONS),
      additive_prompt: reader.text('additive_prompt'),
      patch,
      completion_source_path: reader.text('completion_source_path'),
      mark_complete: reader.flag('mark_complete', false),
      terminate_always: reader.flag('terminate_always', false),
      terminate_on_complete: reader.flag('terminate_on_complete', false),
      terminate_on_checkpoint: reader.flag('terminate_on_checkpoint', false),
      loop_checkpoint_every: countOf(reader, raw, 'loop_checkpoint_every'),
      loop_exit_after_runs: countOf(reader, raw, 'loop_exit_after_runs'),
      route_key: reader.text('route_key'),
      route_key_on_terminate: reader.text('route_key_on_terminate'),
    },
  };
}

function countOf(reader: ConfigReader, raw: Json, key: string): number {
  const count = reader.number(key, 0, { minimum: -1, maximum: MAX_LOOPS });
  if (count < 0) reader.refuse(key, `must not be below 0; it is ${String(raw[key])}`);
  return Math.max(0, count);
}
