import { describe, expect, it } from 'vitest';
import type { Graph, GraphEdge, GraphNode } from '../../src/flowcharts/graph/model.ts';
import { type RefFacts, validateGraph } from '../../src/flowcharts/graph/validate-graph.ts';
import { nodeTypes } from '../../src/flowcharts/nodes/registry.ts';

const REFS: RefFacts = { isThere: () => true, returns: () => false };
const CONFIGS: Record<string, Record<string, unknown>> = {
  task: { executor: 'static', output: {} },
  memory: { action: 'add' },
  plan: { mode: 'deterministic', store_mode: 'append' },
  milestone: { action: 'create_or_update' },
};

function node(id: number, node_type: string, more: Partial<GraphNode> = {}): GraphNode {
  const auto = ['plan', 'milestone', 'flowchart', 'memory'].includes(node_type);
  return {
    id,
    node_type,
    title: null,
    ref_id: auto ? 1 : null,
    x: 0,
    y: 0,
    config: CONFIGS[node_type] ?? {},
    mcp_server_ids: node_type === 'memory' ? [1] : [],
    attachment_ids: [],
    ...more,
  };
}

function edge(id: number, source: number, target: number, more: Partial<GraphEdge> = {}): GraphEdge {
  return {
    id,
    source_node_id: source,
    target_node_id: target,
    source_handle_id: null,
    target_handle_id: null,
    edge_mode: 'solid',
    condition_key: null,
    label: null,
    control_points: [],
    control_point_style: 'hard',
    ...more,
  };
}

const judge = (nodes: GraphNode[], edges: GraphEdge[], refs = REFS) =>
  validateGraph({ nodes, edges } as Graph, { types: nodeTypes, refs });
const codes = (nodes: GraphNode[], edges: GraphEdge[], refs = REFS) =>
  judge(nodes, edges, refs).errors.map(({ code }) => code);
const any = { config: { ...CONFIGS.task, fan_in_mode: 'any' } };

describe('[FLR-graph-semantics] a graph', () => {
  it('of a start and an end can run', () => {
    expect(judge([node(1, 'start'), node(2, 'end')], [edge(1, 1, 2)])).toEqual({
      valid: true,
      errors: [],
      warnings: [],
    });
  });

  it.each([0, 2])('cannot run with %i start nodes', (count) => {
    const nodes = Array.from({ length: count }, (_, at) => node(at + 1, 'start'));
    expect(judge(nodes, [])).toMatchObject({
      valid: false,
      errors: [{ code: 'start_node_count', message: expect.stringContaining(`${count} start`), path: '/nodes' }],
    });
  });

  it('names node, place and code of what is wrong', () => {
    const { errors } = judge([node(1, 'start'), node(7, 'task', { config: {} })], [edge(1, 1, 7)]);
    expect(errors).toEqual([
      {
        code: 'task_prompt_required',
        message: expect.stringContaining('Node 7 (task)'),
        path: '/nodes/1/config/task_prompt',
        node_id: 7,
      },
    ]);
  });

  it.each([
    ['unknown_node_type', node(2, 'rag')],
    ['missing_ref_id', node(2, 'plan', { ref_id: null })],
    ['missing_ref_id', node(2, 'flowchart', { ref_id: null })],
    ['unexpected_ref_id', node(2, 'task', { ref_id: 4 })],
    ['memory_config_invalid', node(2, 'memory', { config: {} })],
    ['plan_config_invalid', node(2, 'plan', { config: { mode: 'deterministic' } })],
    ['routing_config_invalid', node(2, 'task', { config: { ...CONFIGS.task, fan_in_mode: 'few' } })],
    ['binding_unsupported', node(2, 'flowchart', { mcp_server_ids: [1] })],
    ['binding_unsupported', node(2, 'end', { attachment_ids: [1] })],
    ['system_mcp_missing', node(2, 'memory', { mcp_server_ids: [] })],
    [
      'fan_in_custom_count_range',
      node(2, 'task', { config: { ...CONFIGS.task, fan_in_mode: 'custom', fan_in_custom_count: 2 } }),
    ],
    ['decision_missing_solid_outgoing', node(2, 'decision')],
  ])('tells %s', (code, second) => {
    expect(codes([node(1, 'start'), second], [edge(1, 1, 2)])).toEqual([code]);
  });

  it('lets a memory that only retrieves look through all of them', () => {
    const recall = node(2, 'memory', { ref_id: null, config: { action: 'retrieve' } });
    expect(codes([node(1, 'start'), recall], [edge(1, 1, 2)])).toEqual([]);
  });

  it.each([
    ['edge_source_missing', edge(2, 99, 2)],
    ['edge_target_missing', edge(2, 1, 99)],
    ['edge_mode_invalid', edge(2, 2, 1, { edge_mode: 'wavy' as 'solid' })],
    ['non_decision_condition_key', edge(2, 1, 2, { condition_key: 'x' })],
    ['non_solid_condition_key', edge(2, 2, 1, { edge_mode: 'dotted', condition_key: 'x' })],
    ['mixed_edge_modes', edge(2, 1, 2, { edge_mode: 'dashed' })],
  ])('tells %s of a connector', (code, second) => {
    const { errors } = judge([node(1, 'start'), node(2, 'task')], [edge(1, 1, 2), second]);
    expect(errors).toMatchObject([{ code, edge_id: 2 }]);
  });

  it('lets several connectors of one mode join two nodes', () => {
    expect(codes([node(1, 'start'), node(2, 'task')], [edge(1, 1, 2), edge(2, 1, 2)])).toEqual([]);
  });

  it('tells what is wrong with a decision', () => {
    const config = { fallback_condition_key: 'gone', no_match_policy: 'fallback' };
    const nodes = [node(1, 'start'), node(2, 'decision', { config }), node(3, 'task'), node(4, 'task')];
    const edges = [
      edge(1, 1, 2),
      edge(2, 2, 3, { condition_key: 'a' }),
      edge(3, 2, 4, { condition_key: 'a' }),
      edge(4, 2, 4),
    ];
    expect(codes(nodes, edges)).toEqual([
      'decision_condition_key_required',
      'decision_duplicate_condition_keys',
      'decision_fallback_missing_connector',
    ]);
  });

  it('ends at its end nodes', () => {
    const nodes = [node(1, 'start'), node(2, 'end'), node(3, 'task')];
    expect(codes(nodes, [edge(1, 1, 2), edge(2, 1, 3), edge(3, 2, 3, { edge_mode: 'dotted' })])).toEqual([
      'end_node_outgoing_edges',
    ]);
  });

  it('counts custom fan-in in nodes, not in connectors', () => {
    const config = { ...CONFIGS.task, fan_in_mode: 'custom', fan_in_custom_count: 2 };
    const nodes = [node(1, 'start'), node(2, 'task'), node(3, 'task', { config })];
    expect(codes(nodes, [edge(1, 1, 2), edge(2, 2, 3), edge(3, 2, 3)])).toEqual(['fan_in_custom_count_range']);
    expect(codes(nodes, [edge(1, 1, 2), edge(2, 2, 3), edge(3, 1, 3)])).toEqual([]);
    expect(codes(nodes, [edge(1, 1, 2), edge(2, 2, 3, { edge_mode: 'dotted' })])).toEqual([
      'fan_in_custom_without_parents',
      'unreachable_nodes',
    ]);
  });

  it('tells all of it in the order of the checks, each once', () => {
    const nodes = [node(2, 'end'), node(3, 'plan', { ref_id: null }), node(4, 'plan')];
    const edges = [edge(1, 2, 3), edge(2, 9, 3)];
    expect(codes(nodes, edges, { ...REFS, isThere: () => false })).toEqual([
      'missing_ref_id',
      'start_node_count',
      'edge_source_missing',
      'end_node_outgoing_edges',
      'ref_missing',
    ]);
  });
});

describe('[FLR-graph-reach] every node', () => {
  it('must be reached over solid connectors; those that are not are told in one error', () => {
    const nodes = [node(1, 'start'), node(2, 'task'), node(3, 'task'), node(4, 'task')];
    const edges = [edge(1, 1, 2), edge(2, 2, 3, { edge_mode: 'dotted' }), edge(3, 3, 4)];
    const { errors } = judge(nodes, edges);
    expect(errors).toHaveLength(1);
    expect(errors[0]).toMatchObject({ code: 'unreachable_nodes', message: expect.stringMatching(/Node 3 .*Node 4/) });
  });

  it('is looked at without recursion, however long the chain', () => {
    const length = 9_000;
    const nodes = [node(1, 'start'), ...Array.from({ length }, (_, at) => node(at + 2, 'task'))];
    const edges = Array.from({ length }, (_, at) => edge(at + 1, at + 1, at + 2));
    expect(judge(nodes, edges).valid).toBe(true);
  });
});

describe('[FLR-graph-loops] a loop', () => {
  const nodes = (config: Partial<GraphNode> = {}) => [
    node(1, 'start'),
    node(2, 'task', config),
    node(3, 'task'),
    node(4, 'task'),
  ];
  const edges = [edge(1, 1, 2), edge(2, 2, 3), edge(3, 3, 2), edge(4, 3, 4)];

  it('into a node that waits for all is warned about', () => {
    const { valid, warnings } = judge(nodes(), edges);
    expect(valid).toBe(true);
    expect(warnings).toMatchObject([{ code: 'fan_in_cycle', node_id: 2, path: '/nodes/1/config/fan_in_mode' }]);
  });

  it('into a node that any may trigger is not', () => {
    expect(judge(nodes(any), edges).warnings).toEqual([]);
    const one = { config: { ...CONFIGS.task, fan_in_mode: 'custom', fan_in_custom_count: 1 } };
    expect(judge(nodes(one), edges).warnings).toEqual([]);
  });

  it('that splits and joins again inside is not', () => {
    const inside = [edge(1, 1, 2), edge(2, 2, 3), edge(3, 2, 4), edge(4, 3, 5), edge(5, 4, 5), edge(6, 5, 2)];
    expect(judge([...nodes(any), node(5, 'task')], inside).warnings).toEqual([]);
  });

  it('[FLR-graph-loop-to-start] back to the start is warned about, at the solid connector alone', () => {
    const returning = [edge(1, 1, 2), edge(7, 2, 1)];
    expect(judge([node(1, 'start'), node(2, 'task')], returning)).toMatchObject({
      valid: true,
      warnings: [
        {
          code: 'loop_to_start',
          edge_id: 7,
          path: '/edges/1/target_node_id',
          message: expect.stringMatching(/each pass is a new run, and the limits count over all of them/),
        },
      ],
    });
    const dotted = [edge(1, 1, 2), edge(7, 2, 1, { edge_mode: 'dotted' })];
    expect(judge([node(1, 'start'), node(2, 'task')], dotted).warnings).toEqual([]);
  });
});

describe('[FLR-graph-subflow-cycle] a flowchart that comes back to itself', () => {
  it('is an error at the node that leads there', () => {
    const nodes = [node(1, 'start'), node(2, 'flowchart', { ref_id: 5 }), node(3, 'flowchart', { ref_id: 6 })];
    const refs = { ...REFS, returns: ({ ref_id }: GraphNode) => ref_id === 6 };
    expect(judge(nodes, [edge(1, 1, 2), edge(2, 2, 3)], refs).errors).toMatchObject([
      { code: 'subflow_cycle', node_id: 3, path: '/nodes/2/ref_id' },
    ]);
  });
});
