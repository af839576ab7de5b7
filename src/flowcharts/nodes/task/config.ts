import type { Issue } from '../../../kernel/errors.ts';
import type { GraphNode } from '../../graph/model.ts';
import { schemaFault } from './answer-schema.ts';

type Json = Record<string, unknown>;

export const EXECUTORS = ['llm', 'human', 'static'] as const;
export type Executor = (typeof EXECUTORS)[number];

export const DEFAULT_SCHEMA_ATTEMPTS = 2;
export const MAX_SCHEMA_ATTEMPTS = 10;
const MAX_PROMPT_LENGTH = 32_768;
const MAX_NAME_LENGTH = 200;
const MAX_OUTPUT_LENGTH = 65_536;
const MODEL = /^(openai|anthropic):\S{1,200}$/;

export interface TaskConfig {
  executor: Executor;
  task_prompt: string;
  task_name: string | undefined;
  model: string | undefined;
  answer_schema: Json | null;
  attempts: number;
  allow_agents: boolean;
  output: Json;
  timeout_seconds: number | undefined;
}

/** Own keys in order, every other key as it came. A key that says nothing is left out. */
export function normaliseTask(raw: Json): { config: Json; issues: Issue[] } {
  const { route_key_path: _older, ...config } = raw;
  const issues: Issue[] = [];
  const refuse = (key: string, code: string, message: string) => void issues.push({ code, message, path: `/${key}` });
  const executor = isBlank(config.executor) ? 'llm' : config.executor;
  config.executor = executor;
  if (!EXECUTORS.includes(executor as Executor)) {
    refuse('executor', 'executor_invalid', `must be ${EXECUTORS.join(', ')}`);
  }
  for (const [key, maximum] of [
    ['task_prompt', MAX_PROMPT_LENGTH],
    ['task_name', MAX_NAME_LENGTH],
    ['model', MAX_NAME_LENGTH + 20],
  ] as const) {
    const text = config[key];
    if (text === undefined || text === null) delete config[key];
    else if (typeof text !== 'string' || text.length > maximum) {
      refuse(key, `${key}_invalid`, `must be a text of at most ${maximum} characters`);
    } else if (key !== 'task_prompt') {
      config[key] = text.trim();
      if (text.trim() === '') delete config[key];
    }
  }
  if (typeof config.model === 'string' && !MODEL.test(config.model)) {
    refuse('model', 'model_invalid', 'must be provider:model with the provider openai or anthropic');
  }
  const { integration_keys } = config;
  if (integration_keys !== undefined && !(Array.isArray(integration_keys) && integration_keys.length === 0)) {
    refuse('integration_keys', 'integration_keys_invalid', 'must be left out or empty: there are no integrations');
  }
  if (isBlank(config.answer_schema)) delete config.answer_schema;
  else {
    const fault = schemaFault(config.answer_schema);
    if (fault !== null) refuse('answer_schema', 'answer_schema_invalid', fault);
  }
  if (executor === 'llm') {
    const attempts = wholeNumber(config.task_schema_retry_attempts ?? DEFAULT_SCHEMA_ATTEMPTS);
    if (attempts === undefined || attempts < 1 || attempts > MAX_SCHEMA_ATTEMPTS) {
      const message = `must be a whole number from 1 to ${MAX_SCHEMA_ATTEMPTS}`;
      refuse('task_schema_retry_attempts', 'task_schema_retry_attempts_invalid', message);
    } else {
      config.task_schema_retry_attempts = attempts;
    }
  }
  if (executor === 'human') {
    config.allow_agents ??= false;
    if (typeof config.allow_agents !== 'boolean') {
      refuse('allow_agents', 'allow_agents_invalid', 'must be true or false');
    }
  }
  if (executor === 'static') {
    config.output ??= {};
    if (!isObject(config.output) || JSON.stringify(config.output).length > MAX_OUTPUT_LENGTH) {
      refuse('output', 'output_invalid', `must be an object of at most ${MAX_OUTPUT_LENGTH} characters`);
    }
  }
  return { config, issues };
}

/** An older config becomes one of today: what has no meaning any more goes, the rest stays. */
export function migrateTask(raw: Json): Json {
  const { route_key_path: _older, integration_keys: _integrations, ...config } = raw;
  const attempts = wholeNumber(config.task_schema_retry_attempts ?? DEFAULT_SCHEMA_ATTEMPTS) ?? DEFAULT_SCHEMA_ATTEMPTS;
  return {
    ...config,
    executor: EXECUTORS.includes(config.executor as Executor) ? config.executor : 'llm',
    task_schema_retry_attempts: Math.min(Math.max(attempts, 1), MAX_SCHEMA_ATTEMPTS),
  };
}

/** A task without a prompt is saved, so that a person can go on later, but does not run. */
export function checkTask({ config }: GraphNode): Issue[] {
  if (config.executor === 'static') return [];
  if (typeof config.task_prompt === 'string' && config.task_prompt.trim() !== '') return [];
  const whom = config.executor === 'human' ? 'the person' : 'the model';
  return [{ code: 'task_prompt_required', message: `must tell ${whom} what to do`, path: '/config/task_prompt' }];
}

/** The config as its own code reads it; a row that nobody normalised gets the defaults. */
export function taskConfig(config: Json): TaskConfig {
  const text = (key: string) => (typeof config[key] === 'string' && config[key] !== '' ? config[key] : undefined);
  return {
    executor: EXECUTORS.find((executor) => executor === config.executor) ?? 'llm',
    task_prompt: text('task_prompt')?.trim() ?? '',
    task_name: text('task_name'),
    model: text('model'),
    answer_schema: isObject(config.answer_schema) ? config.answer_schema : null,
    attempts: Math.max(1, wholeNumber(config.task_schema_retry_attempts) ?? DEFAULT_SCHEMA_ATTEMPTS),
    allow_agents: config.allow_agents === true,
    output: isObject(config.output) ? config.output : {},
    timeout_seconds: wholeNumber(config.timeout_seconds),
  };
}

function isBlank(value: unknown): boolean {
  return value === undefined || value === null || value === '';
}

export function isObject(value: unknown): value is Json {
  return value !== null && typeof value === 'object' && !Array.isArray(value);
}

function wholeNumber(value: unknown): number | undefined {
  const number = typeof value === 'string' && /^\d{1,9}$/.test(value.trim()) ? Number(value) : value;
  return typeof number === 'number' && Number.isInteger(number) ? number : undefined;
}
