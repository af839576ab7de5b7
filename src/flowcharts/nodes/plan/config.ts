import type { Issue } from '../../../kernel/errors.ts';
import { patchFaults, type StoreMode } from '../../../plans/index.ts';
import { DEFAULT_RETRY_COUNT, MAX_RETRY_COUNT } from '../failure-fields.ts';
import type { Mode } from '../modes.ts';
import { NodeFailure } from '../node-type.ts';
import { type ConfigReader, configReader, isBlank, type Json, names } from './config-reader.ts';

/** What a plan node does. */
export interface PlanConfig {
  mode: Mode;
  store_mode: StoreMode;
  additive_prompt: string;
  retry_count: number;
  fallback_enabled: boolean;
  patch: Json | undefined;
  patch_source_path: string;
  transform_with_llm: boolean;
  transform_prompt: string;
  route_key: string;
  route_key_on_complete: string;
}

const CODE = 'plan_config_invalid';
const MODES = names<Mode>({ llm_guided: [], deterministic: [] });
export const STORE_MODE_NAMES = names<StoreMode>({
  append: ['add', 'additive', 'create', 'create_or_update'],
  replace: ['overwrite', 'set'],
  update: ['patch', 'mutate'],
});

/** Keys that are left out of what is stored when they say nothing. */
const OPTIONAL = ['patch', 'patch_source_path', 'transform_prompt', 'route_key', 'route_key_on_complete'] as const;

/** As a save stores it. Keys that are not of plan nodes stay as they came. */
export function normalisePlanConfig(raw: Json): { config: Json; issues: Issue[] } {
  const { reader, config } = understand(raw);
  const stored: Json = { ...raw, ...config };
  for (const key of OPTIONAL) if (isBlank(stored[key])) delete stored[key];
  if (!Object.hasOwn(raw, 'transform_with_llm')) delete stored.transform_with_llm;
  return { config: stored, issues: reader.issues };
}

/** As a run understands it. Nothing is retried for a config that is wrong: it stays wrong. */
export function readPlanConfig(raw: Json): PlanConfig {
  const { reader, config } = understand(raw);
  const { mode, store_mode } = config;
  const [first] = reader.issues;
  if (first || !mode || !store_mode) {
    throw new NodeFailure(CODE, `The config of the node is not valid: ${first?.path} ${first?.message}.`);
  }
  return { ...config, mode, store_mode };
}

type Understood = Omit<PlanConfig, 'mode' | 'store_mode'> & {
  mode: Mode | undefined;
  store_mode: StoreMode | undefined;
};

function understand(raw: Json): { reader: ConfigReader; config: Understood } {
  const reader = configReader(raw, CODE);
  for (const [key, words] of [
    ['mode', MODES],
    ['store_mode', STORE_MODE_NAMES],
  ] as const) {
    if (isBlank(raw[key])) reader.refuse(key, `is required: ${[...new Set<string>(words.values())].join(', ')}`);
  }
  const retries = { minimum: 0, maximum: MAX_RETRY_COUNT };
  const config = {
    mode: reader.word('mode', MODES),
    store_mode: reader.word('store_mode', STORE_MODE_NAMES),
    additive_prompt: reader.text('additive_prompt'),
    retry_count: reader.number('retry_count', DEFAULT_RETRY_COUNT, retries),
    fallback_enabled: reader.flag('fallback_enabled', true),
    patch: reader.object('patch'),
    patch_source_path: reader.text('patch_source_path'),
    transform_with_llm: reader.flag('transform_with_llm', false),
    transform_prompt: reader.text('transform_prompt'),
    route_key: reader.text('route_key'),
    route_key_on_complete: reader.text('route_key_on_complete'),
  };
  const { store_mode, patch } = config;
  if (store_mode && patch) {
    for (const { path, message } of patchFaults(store_mode, patch)) reader.refuse(`patch${path}`, message);
  }
  return { reader, config };
}
