import { wholeNumber } from '../common-config.ts';
import { DEFAULT_RETRY_COUNT, MAX_RETRY_COUNT } from '../failure-fields.ts';
import { STORE_MODE_NAMES } from './config.ts';
import { flagOf, isBlank, isObject, type Json } from './config-reader.ts';

/** Actions of the old contract that completed one item; every other one created or updated. */
const COMPLETING = ['complete_plan_item', 'mark_plan_item_complete', 'mark_task_complete'];
const OLD_KEYS = ['action', 'plan_item_id', 'stage_key', 'task_key', 'completion_source_path'];

/** The hard cut: mode, store mode and failure controls get values of today, and old actions become what they meant. */
export function migratePlanConfig(raw: Json): Json {
  const store_mode = storeModeOf(raw);
  const retries = wholeNumber(raw.retry_count);
  const path = isBlank(raw.patch_source_path) ? raw.completion_source_path : raw.patch_source_path;
  const patch = store_mode === 'update' ? patchOf(raw) : raw.patch;
  const kept = Object.fromEntries(Object.entries(raw).filter(([key]) => !OLD_KEYS.includes(key)));
  return {
    ...kept,
    mode: word(raw.mode) === 'llm_guided' ? 'llm_guided' : 'deterministic',
    store_mode,
    retry_count: retries === null ? DEFAULT_RETRY_COUNT : Math.min(MAX_RETRY_COUNT, Math.max(0, retries)),
    fallback_enabled: flagOf(raw.fallback_enabled) ?? true,
    ...(isBlank(path) ? {} : { patch_source_path: path }),
    ...(isBlank(patch) ? {} : { patch }),
  };
}

function storeModeOf(raw: Json): string {
  const known = STORE_MODE_NAMES.get(word(raw.store_mode));
  if (known !== undefined) return known;
  const action = word(raw.action).replace(/[\s-]+/g, '_');
  return COMPLETING.includes(action) ? 'update' : 'append';
}

/** The item that was to be completed, as a task of the patch. An id says it better than keys. */
function patchOf(raw: Json): unknown {
  const target = itemOf(raw);
  if (!target) return raw.patch;
  const patch = isObject(raw.patch) ? raw.patch : {};
  const tasks = Array.isArray(patch.tasks) ? patch.tasks : [];
  return { ...patch, tasks: [...tasks, { ...target, completed: true }] };
}

function itemOf({ plan_item_id, stage_key, task_key }: Json): Json | undefined {
  const id = wholeNumber(plan_item_id);
  if (id !== null && id > 0) return { task_id: id };
  const stage = typeof stage_key === 'string' ? stage_key.trim() : '';
  const task = typeof task_key === 'string' ? task_key.trim() : '';
  return stage !== '' && task !== '' ? { stage_key: stage, task_key: task } : undefined;
}

function word(value: unknown): string {
  return typeof value === 'string' ? value.trim().toLowerCase() : '';
}
