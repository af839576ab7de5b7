import { NodeFailure, type NodeType } from '../node-type.ts';
import {
  checkTask,
  DEFAULT_SCHEMA_ATTEMPTS,
  EXECUTORS,
  isObject,
  MAX_SCHEMA_ATTEMPTS,
  migrateTask,
  normaliseTask,
  taskConfig,
} from './config.ts';
import { taskOutcome } from './outcome.ts';

/** Work that a model does, that a person does, or whose result is known beforehand. */
export const taskNode: NodeType = {
  name: 'task',
  binds: { ref: 'none', mcp: true, attachments: true },
  normaliseConfig: normaliseTask,
  migrateConfig: migrateTask,
  check: checkTask,
  inspector: [
    { key: 'executor', label: 'Done by', control: 'choice', options: EXECUTORS, default: 'llm' },
    {
      key: 'task_prompt',
      label: 'Task',
      control: 'prompt',
      required: true,
      help: 'What the model or the person should do',
    },
    { key: 'task_name', label: 'Name', control: 'text' },
    { key: 'model', label: 'Model', control: 'text', help: 'provider:model; the configured one when left out' },
    { key: 'answer_schema', label: 'Form of the answer', control: 'json', help: 'A JSON schema' },
    {
      key: 'task_schema_retry_attempts',
      label: 'Attempts until the answer is JSON',
      control: 'number',
      default: DEFAULT_SCHEMA_ATTEMPTS,
      minimum: 1,
      maximum: MAX_SCHEMA_ATTEMPTS,
    },
    { key: 'allow_agents', label: 'Agents may answer', control: 'switch', default: false },
    { key: 'output', label: 'Output', control: 'json', default: {}, help: 'What a static task gives' },
    { key: 'timeout_seconds', label: 'Time limit in seconds', control: 'number', minimum: 1, maximum: 86_400 },
  ],
  execute: (execution) => {
    const config = taskConfig(execution.node.config);
    switch (config.executor) {
      case 'static':
        return { done: taskOutcome(execution, config, config.output, { structured_output: config.output }) };
      case 'human':
        if (config.task_prompt === '') throw new NodeFailure('task_prompt_required', 'The task has no task_prompt.');
        return {
          wait: {
            for: 'person',
            prompt: config.task_prompt,
            answer_schema: config.answer_schema,
            allow_agents: config.allow_agents,
          },
        };
      case 'llm':
        // What asks models is loaded by the runs that do.
        return import('./llm.ts').then(async ({ askModel }) => ({ done: await askModel(execution, config) }));
    }
  },
  answered: (execution, answer) => {
    const config = taskConfig(execution.node.config);
    const structured = isObject(answer) ? answer : null;
    const output = { answer, answered: true, ...(structured === null ? {} : { structured_output: structured }) };
    return { done: taskOutcome(execution, config, structured, output) };
  },
};
