import { describe, expect, it } from 'vitest';
import { taskNode } from '../../src/flowcharts/nodes/task/index.ts';
import { graphNode } from '../support/node-execution.ts';

const issuesOf = (raw: Record<string, unknown>) =>
  taskNode.normaliseConfig(raw).issues.map(({ code, path }) => [code, path]);

describe('[FLR-task-config] the config of a task', () => {
  it.each([
    [{}, { executor: 'llm', task_schema_retry_attempts: 2 }],
    [{ executor: 'human' }, { executor: 'human', allow_agents: false }],
    [{ executor: 'static' }, { executor: 'static', output: {} }],
    [
      { task_name: '  ', model: '', answer_schema: null, task_prompt: ' Do it ', integration_keys: [] },
      { executor: 'llm', task_schema_retry_attempts: 2, task_prompt: ' Do it ', integration_keys: [] },
    ],
    [
      { task_schema_retry_attempts: '3', route_key_path: 'a.b', fan_in_mode: 'any', retention_mode: 'ttl', mine: 1 },
      { executor: 'llm', task_schema_retry_attempts: 3, fan_in_mode: 'any', retention_mode: 'ttl', mine: 1 },
    ],
  ])('%j becomes %j', (raw, expected) => {
    const { config, issues } = taskNode.normaliseConfig(raw);
    expect(issues).toEqual([]);
    expect(config).toEqual(expected);
    expect(taskNode.normaliseConfig(config), 'nothing more to do').toEqual({ config, issues: [] });
  });

  it.each([
    [{ executor: 'robot' }, 'executor_invalid', '/executor'],
    [{ task_prompt: 7 }, 'task_prompt_invalid', '/task_prompt'],
    [{ task_name: 'x'.repeat(201) }, 'task_name_invalid', '/task_name'],
    [{ model: 'gpt-5' }, 'model_invalid', '/model'],
    [{ model: 'ollama:llama' }, 'model_invalid', '/model'],
    [{ integration_keys: ['github'] }, 'integration_keys_invalid', '/integration_keys'],
    [{ integration_keys: null }, 'integration_keys_invalid', '/integration_keys'],
    [{ task_schema_retry_attempts: 0 }, 'task_schema_retry_attempts_invalid', '/task_schema_retry_attempts'],
    [{ task_schema_retry_attempts: 1.5 }, 'task_schema_retry_attempts_invalid', '/task_schema_retry_attempts'],
    [{ executor: 'human', allow_agents: 'yes' }, 'allow_agents_invalid', '/allow_agents'],
    [{ executor: 'static', output: [1] }, 'output_invalid', '/output'],
    [{ answer_schema: 'object' }, 'answer_schema_invalid', '/answer_schema'],
    [{ answer_schema: { type: 'nonsense' } }, 'answer_schema_invalid', '/answer_schema'],
    [{ answer_schema: { $ref: 'https://example.org/x' } }, 'answer_schema_invalid', '/answer_schema'],
    [{ answer_schema: { type: 'string', pattern: '(' } }, 'answer_schema_invalid', '/answer_schema'],
  ])('%j is refused', (raw, code, path) => {
    expect(issuesOf(raw)).toEqual([[code, path]]);
  });

  it('of an older contract keeps what still has a meaning', () => {
    const older = { task_prompt: 'Do', route_key_path: 'x', integration_keys: null, task_schema_retry_attempts: 99 };
    expect(taskNode.migrateConfig?.(older)).toEqual({
      task_prompt: 'Do',
      executor: 'llm',
      task_schema_retry_attempts: 10,
    });
  });
});

describe('[FLR-task-prompt-required] a task without a prompt', () => {
  it.each([
    [{ executor: 'llm' }, true],
    [{}, true],
    [{ executor: 'human', task_prompt: ' \n' }, true],
    [{ executor: 'human', task_prompt: 'Look' }, false],
    [{ executor: 'static' }, false],
  ])('%j is unfit to run: %s', (config, isUnfit) => {
    const issues = taskNode.check?.(graphNode('task', config)) ?? [];
    expect(issues.map(({ code, path }) => [code, path])).toEqual(
      isUnfit ? [['task_prompt_required', '/config/task_prompt']] : [],
    );
    expect(taskNode.normaliseConfig(config).issues).toEqual([]);
  });
});
