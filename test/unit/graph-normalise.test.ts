import { describe, expect, it } from 'vitest';
import { normaliseGraph } from '../../src/flowcharts/graph/normalise-graph.ts';
import { nodeTypes } from '../../src/flowcharts/nodes/registry.ts';
import { workedGraph } from '../support/flowcharts.ts';

const normalise = (raw: object, startNodeId: number | null = null) =>
  normaliseGraph(raw, { types: nodeTypes, startNodeId });
const codes = (raw: object) => normalise(raw).issues.map(({ code, path }) => `${code} ${path}`);
const node = (more: object = {}) => ({ client_id: 'a', node_type: 'start', ...more });
const graph = (nodes: unknown[], edges: unknown[] = []) => ({ nodes, edges });

describe('[FLR-graph-all-mistakes] a sent graph', () => {
  it('that is in good form has no issues', () => {
    expect(codes(workedGraph())).toEqual([]);
  });

  it('is told everything that is wrong with it at once', () => {
    const raw = {
      nodes: [
        7,
        { node_type: 'wizard' },
        { client_id: 'a', id: 'x', node_type: 'start', x: 'left', ref_id: 1.5, colour: 'red' },
        { client_id: 'a', node_type: 'end', config: [] },
        { client_id: 'm', node_type: 'memory', config: { mode: 'psychic' } },
      ],
      edges: [
        null,
        { source: 'a', target: 'nobody', edge_mode: 'solid' },
        { source: 'a', target: 'm', source_handle_id: '1r', control_points: [{ x: 1 }], control_point_style: 'wild' },
        { source: 'a', target: 'm', edge_mode: 'wavy' },
      ],
    };
    expect(codes(raw)).toEqual([
      'node_not_object /nodes/0',
      'node_type_invalid /nodes/1/node_type',
      'unknown_key /nodes/2/colour',
      'field_not_integer /nodes/2/id',
      'field_not_integer /nodes/2/ref_id',
      'field_not_number /nodes/2/x',
      'config_not_object /nodes/3/config',
      'node_id_duplicate /nodes/3/client_id',
      'memory_config_invalid /nodes/4/config/action',
      'memory_config_invalid /nodes/4/config/mode',
      'edge_invalid /edges/0',
      'edge_endpoint_invalid /edges/1/target',
      'handle_invalid /edges/2/source_handle_id',
      'edge_mode_required /edges/2/edge_mode',
      'control_points_invalid /edges/2/control_points/0',
      'control_points_invalid /edges/2/control_point_style',
      'edge_mode_invalid /edges/3/edge_mode',
    ]);
  });

  it('[S004-save-structural-400] must have its two lists', () => {
    expect(codes({})).toEqual(['graph_shape_invalid /nodes', 'graph_shape_invalid /edges']);
    expect(codes({ nodes: {}, edges: 'none' })).toEqual(['graph_shape_invalid /nodes', 'graph_shape_invalid /edges']);
  });

  it.each([undefined, null, '', 'Solid', 'wavy', 3])(
    '[S004-save-edge-mode] is refused with the edge mode %j',
    (edge_mode) => {
      const raw = graph(
        [node(), node({ client_id: 'b', node_type: 'end' })],
        [{ source: 'a', target: 'b', edge_mode }],
      );
      expect(codes(raw)).toHaveLength(1);
      expect(codes(raw)[0]).toMatch(/^edge_mode_(required|invalid) \/edges\/0\/edge_mode$/);
    },
  );

  it.each([0, -1, 1.5, 'x', '1x', true, {}])('[S004-save-ids] is refused with the node id %j', (id) => {
    expect(codes(graph([node({ id })]))).toEqual(['field_not_integer /nodes/0/id']);
  });

  it('[S004-save-ids] takes ids as text, and ends by id or client id', () => {
    const nodes = [node({ id: '12' }), { id: 13, client_id: 'end', node_type: 'end' }];
    const edges = [
      { source_node_id: 12, target_node_id: '13', edge_mode: 'solid' },
      { source: 'a', target: 'end', edge_mode: 'dashed' },
    ];
    const { draft, issues } = normalise(graph(nodes, edges));
    expect(issues).toEqual([]);
    expect(draft.edges.map(({ source, target }) => [source, target])).toEqual([
      [0, 1],
      [0, 1],
    ]);
  });

  it('takes a client id that is the id of another node for a mistake', () => {
    expect(codes(graph([node({ id: 12 }), { client_id: '12', node_type: 'end' }]))).toEqual([
      'node_id_duplicate /nodes/1/client_id',
    ]);
  });

  it('may call the start node by the id it has', () => {
    const raw = graph([node(), { client_id: 'b', node_type: 'end' }], [{ source: 5, target: 'b', edge_mode: 'solid' }]);
    expect(normalise(raw, 5).issues).toEqual([]);
    expect(normalise(raw, 6).issues).toHaveLength(1);
  });

  it('keeps texts trimmed, handles small, and the first 24 bends with two decimals', () => {
    const points = Array.from({ length: 30 }, (_, at) => ({ x: at + 0.126, y: -0.001 }));
    const edge = {
      source: 'a',
      target: 'a',
      edge_mode: 'dotted',
      source_handle_id: 'R2',
      label: '  why ',
      condition_key: ' ',
      control_points: points,
      control_point_style: 'curved',
    };
    const { draft, issues } = normalise(graph([node({ title: '  Begin ' })], [edge]));
    expect(issues).toEqual([]);
    expect(draft.nodes[0]?.title).toBe('Begin');
    expect(draft.edges[0]).toMatchObject({
      source_handle_id: 'r2',
      label: 'why',
      condition_key: null,
      control_point_style: 'curved',
    });
    expect(draft.edges[0]?.control_points).toHaveLength(24);
    expect(draft.edges[0]?.control_points[0]).toEqual({ x: 0.13, y: 0 });
  });

  it('[FLR-graph-bindings] is held to what each type may be bound to', () => {
    const bound = { mcp_server_ids: [1], attachment_ids: [1] };
    expect(codes(graph([node(bound)]))).toEqual([
      'binding_unsupported /nodes/0/mcp_server_ids',
      'binding_unsupported /nodes/0/attachment_ids',
    ]);
    expect(codes(graph([node({ ...bound, node_type: 'decision' })]))).toEqual([
      'binding_unsupported /nodes/0/mcp_server_ids',
    ]);
    expect(codes(graph([node({ ...bound, node_type: 'task' })]))).toEqual([]);
    expect(codes(graph([node({ node_type: 'task', mcp_server_ids: [2], attachment_ids: [3, 3, 'x'] })]))).toEqual([
      'binding_ids_invalid /nodes/0/attachment_ids/1',
      'binding_ids_invalid /nodes/0/attachment_ids/2',
      'binding_ids_invalid /nodes/0/mcp_server_ids',
    ]);
    expect(codes(graph([node({ skill_ids: [], model_id: 3, script_ids: [] })]))).toEqual([
      'skill_ids_not_writable /nodes/0/skill_ids',
      'binding_unsupported /nodes/0/model_id',
    ]);
  });

  it('[FLR-graph-limits] is refused beyond its limits', () => {
    expect(codes(graph(Array.from({ length: 10_001 }, () => node())))).toEqual(['graph_too_large /nodes']);
    expect(
      codes(
        graph(
          [],
          Array.from({ length: 40_001 }, () => ({})),
        ),
      ),
    ).toEqual(['graph_too_large /edges']);
    expect(codes(graph([node({ title: 'x'.repeat(256) })]))).toEqual(['text_invalid /nodes/0/title']);
    expect(codes(graph([node({ title: 'a\u0000b' })]))).toEqual(['text_invalid /nodes/0/title']);
    expect(codes(graph([node({ title: '\ud800' })]))).toEqual(['text_invalid /nodes/0/title']);
    expect(codes(graph([node({ x: 1e300 })]))).toEqual(['field_not_number /nodes/0/x']);
    expect(codes(graph([node({ config: { note: 'x'.repeat(65_536) } })]))).toEqual([
      'config_too_large /nodes/0/config',
    ]);
    expect(normalise(graph(Array.from({ length: 9_000 }, () => ({})))).issues).toHaveLength(500);
  });

  it('keeps keys with dangerous names as keys', () => {
    const raw = JSON.parse('{"client_id":"a","node_type":"start","config":{"__proto__":{"polluted":true}}}');
    const { draft } = normalise(graph([raw]));
    expect(Object.keys(draft.nodes[0]?.config ?? {})).toEqual(['__proto__']);
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
    expect(codes(graph([JSON.parse('{"__proto__":{},"node_type":"toString"}')]))).toEqual([
      'unknown_key /nodes/0/__proto__',
      'node_type_invalid /nodes/0/node_type',
    ]);
  });
});

describe('specialised nodes of a sent graph', () => {
  const config = (node_type: string, raw: object) => normalise(graph([{ node_type, config: raw }]));

  it('[S004-save-memory-action] memory needs an action', () => {
    expect(config('memory', {}).issues).toMatchObject([
      { code: 'memory_config_invalid', path: '/nodes/0/config/action' },
    ]);
    expect(config('memory', { action: 'forget' }).issues).toHaveLength(1);
  });

  it('[S004-save-memory-defaults] memory gets its defaults, and retries are clamped', () => {
    const { draft } = config('memory', { action: 'store' });
    expect(draft.nodes[0]?.config).toMatchObject({
      action: 'add',
      mode: 'llm_guided',
      store_mode: 'replace',
      additive_prompt: '',
      retry_count: 1,
      fallback_enabled: true,
      retention_mode: 'ttl',
      retention_ttl_seconds: 3_600,
      retention_max_count: 25,
    });
    expect(config('memory', { action: 'add', retry_count: 9 }).draft.nodes[0]?.config.retry_count).toBe(5);
  });

  it('[S004-save-memory-mode] memory refuses an unknown mode', () => {
    expect(config('memory', { action: 'add', mode: 'psychic' }).issues).toMatchObject([
      { path: '/nodes/0/config/mode' },
    ]);
    expect(config('memory', { action: 'add', mode: '' }).draft.nodes[0]?.config.mode).toBe('llm_guided');
  });

  it('[S004-save-memory-mcp] memory is bound to the system server whatever was sent', () => {
    for (const mcp_server_ids of [undefined, [], [7], [1]]) {
      const { draft, issues } = normalise(graph([{ node_type: 'memory', config: { action: 'add' }, mcp_server_ids }]));
      expect(issues).toEqual([]);
      expect(draft.nodes[0]?.mcp_server_ids).toEqual([1]);
    }
  });

  it('[S004-save-plan-required] plan needs mode and store_mode', () => {
    expect(
      config('plan', {})
        .issues.map(({ path }) => path)
        .sort(),
    ).toEqual(['/nodes/0/config/mode', '/nodes/0/config/store_mode']);
    expect(config('plan', { mode: 'llm_guided', store_mode: 'shred' }).issues).toHaveLength(1);
    for (const store_mode of ['append', 'replace', 'update']) {
      expect(config('plan', { mode: 'llm_guided', store_mode }).issues).toEqual([]);
    }
  });

  it('[S004-save-plan-defaults] plan gets one retry and fallback', () => {
    const { draft } = config('plan', { mode: 'deterministic', store_mode: 'update' });
    expect(draft.nodes[0]?.config).toMatchObject({ retry_count: 1, fallback_enabled: true });
  });
});
