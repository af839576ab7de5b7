import { describe, expect, it } from 'vitest';
import { endNode } from '../../src/flowcharts/nodes/end/index.ts';
import { flowchartNode } from '../../src/flowcharts/nodes/flowchart/index.ts';
import type { NodeExecution } from '../../src/flowcharts/nodes/node-type.ts';
import { nodeTypes } from '../../src/flowcharts/nodes/registry.ts';
import { startNode } from '../../src/flowcharts/nodes/start/index.ts';

const execution = (more: { config?: object; ref_id?: number | null; run_input?: unknown; latest?: object | null }) =>
  ({
    run_input: more.run_input,
    node: { ref_id: more.ref_id === undefined ? 5 : more.ref_id, config: more.config ?? {} },
    input: { latest_upstream: more.latest ? { output_state: more.latest } : null },
  }) as unknown as NodeExecution;

describe('[FLR-start-end-nodes] start and end', () => {
  it('hand on what the run was started with, and end it', async () => {
    expect(await startNode.execute(execution({ run_input: { a: 1 } }))).toEqual({
      done: { output_state: { message: expect.any(String), input: { a: 1 } }, routing_state: {} },
    });
    expect(await startNode.execute(execution({}))).toMatchObject({ done: { output_state: { input: null } } });
    expect(await endNode.execute(execution({}))).toEqual({
      done: { output_state: { message: expect.any(String) }, routing_state: { terminate_run: true } },
    });
  });
});

describe('[FLR-subflow-node] a flowchart node', () => {
  it('waits for the other run, with its own input or what came before', async () => {
    const input = { a: 1 };
    const wait = (given: unknown) => ({ wait: { for: 'run', flowchart_id: 5, input: given } });
    expect(await flowchartNode.execute(execution({ config: { input } }))).toEqual(wait(input));
    expect(await flowchartNode.execute(execution({ latest: { b: 2 } }))).toEqual(wait({ b: 2 }));
    expect(await flowchartNode.execute(execution({ config: { wait: false } }))).toEqual(wait(null));
    expect(() => flowchartNode.execute(execution({ ref_id: null }))).toThrow(
      expect.objectContaining({ code: 'missing_ref_id' }),
    );
  });

  it('returns what the other run gave, and fails with it', async () => {
    const answer = { flowchart_run_id: 9, flowchart_name: 'Other', status: 'completed', output: { route_key: 'x' } };
    expect(await flowchartNode.answered?.(execution({}), answer)).toMatchObject({
      done: {
        output_state: {
          triggered_flowchart_id: 5,
          triggered_flowchart_name: 'Other',
          triggered_flowchart_run_id: 9,
          output: { route_key: 'x' },
          structured_output: { route_key: 'x' },
        },
        routing_state: {},
      },
    });
    const failed = { flowchart_run_id: 9, status: 'failed', error: 'It broke.' };
    expect(() => flowchartNode.answered?.(execution({}), failed)).toThrow(
      expect.objectContaining({ code: 'subflow_failed', message: expect.stringContaining('It broke.') }),
    );
  });

  it('waits unless it is told not to, and takes an object as input', () => {
    expect(flowchartNode.normaliseConfig({})).toEqual({ config: { wait: true }, issues: [] });
    expect(flowchartNode.normaliseConfig({ wait: 'no', input: {}, other: 1 })).toEqual({
      config: { wait: false, input: {}, other: 1 },
      issues: [],
    });
    expect(flowchartNode.normaliseConfig({ wait: 'perhaps', input: [] }).issues.map(({ path }) => path)).toEqual([
      '/wait',
      '/input',
    ]);
  });
});

describe('[S004-inspector] the controls of a type', () => {
  const field = (type: string, key: string) => nodeTypes.get(type)?.inspector.find((each) => each.key === key);

  it.each([
    ['memory', 'action', ['add', 'retrieve']],
    ['memory', 'mode', ['llm_guided', 'deterministic']],
    ['plan', 'mode', ['llm_guided', 'deterministic']],
    ['plan', 'store_mode', ['append', 'replace', 'update']],
    ['milestone', 'action', ['create_or_update', 'mark_complete']],
  ])('%s requires %s', (type, key, options) => {
    expect(field(type, key)).toMatchObject({ required: true });
    expect([...(field(type, key)?.options ?? [])].sort()).toEqual([...options].sort());
  });

  it.each([
    ['memory', ['additive_prompt', 'retry_count', 'fallback_enabled', 'retention_mode']],
    ['plan', ['additive_prompt', 'patch', 'patch_source_path', 'retry_count', 'fallback_enabled', 'retention_mode']],
    ['milestone', ['additive_prompt', 'retention_mode', 'retention_ttl_seconds', 'retention_max_count']],
    ['decision', ['decision_conditions']],
  ])('%s offers %j', (type, keys) => {
    expect(nodeTypes.get(type)?.inspector.map(({ key }) => key)).toEqual(expect.arrayContaining(keys));
  });
});
