import { describe, expect, it } from 'vitest';
import { syncDecision } from '../../src/flowcharts/graph/decision-conditions.ts';
import { diffGraphs } from '../../src/flowcharts/graph/diff-graphs.ts';
import { inOrder, matchEdges, type SentEdge } from '../../src/flowcharts/graph/match-edges.ts';
import type { GraphEdge, GraphNode } from '../../src/flowcharts/graph/model.ts';
import { picture } from '../../src/flowcharts/graph/picture.ts';
import { graphText } from '../../src/flowcharts/graph/versions.ts';

const solid = (condition_key: string | null) => ({ edge_mode: 'solid', condition_key });
const none = new Map<string, string>();

describe('[S004-decision-sync] a decision and its solid connectors', () => {
  it('[S004-decision-sync-worked] are made the same list', () => {
    const edges = [solid('left'), { edge_mode: 'dotted', condition_key: 'other' }, solid(null), solid('left')];
    const { keys, conditions } = syncDecision(edges, new Map([['left', 'a == b']]));
    expect(keys).toEqual(['left', 'other', 'connector_1', 'connector_2']);
    expect(conditions).toEqual([
      { connector_id: 'left', condition_text: 'a == b' },
      { connector_id: 'connector_1', condition_text: '' },
      { connector_id: 'connector_2', condition_text: '' },
    ]);
    const later = syncDecision([{ edge_mode: 'dotted', condition_key: 'left' }, ...edges.slice(2, 3)], none);
    expect(later.conditions.map(({ connector_id }) => connector_id)).toEqual(['connector_1']);
  });

  it('never take a key that a later connector was sent with', () => {
    expect(syncDecision([solid(null), solid('connector_1'), solid(null)], none).keys).toEqual([
      'connector_2',
      'connector_1',
      'connector_3',
    ]);
  });

  it('stay as they are when synced again', () => {
    const first = syncDecision([solid(null), solid('x'), solid('x')], new Map([['x', 'yes']]));
    const texts = new Map(first.conditions.map(({ connector_id, condition_text }) => [connector_id, condition_text]));
    expect(syncDecision(first.keys.map(solid), texts)).toEqual(first);
  });
});

function sent(source: number, target: number, more: Partial<SentEdge> = {}): SentEdge {
  return {
    id: null,
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
const stored = (id: number, ...rest: Parameters<typeof sent>) => ({ ...sent(...rest), id }) as GraphEdge;
const match = (edges: SentEdge[], known: GraphEdge[], decisions: number[] = []) =>
  matchEdges(edges, known, (id) => decisions.includes(id)).map(({ id }) => id);

describe('[FLR-graph-stable-ids] a sent connector', () => {
  const known = [stored(4, 1, 2), stored(5, 1, 2), stored(6, 2, 3, { condition_key: 'connector_1' })];

  it('is the one whose id it has, also with other ends', () => {
    expect(match([sent(7, 8, { id: 5 })], known)).toEqual([5]);
  });

  it('is else an equal one, each claimed once and in order', () => {
    expect(match([sent(1, 2), sent(1, 2), sent(1, 2)], known)).toEqual([4, 5, null]);
    expect(match([sent(1, 2, { label: 'renamed' }), sent(1, 2, { id: 4 })], known)).toEqual([5, 4]);
  });

  it('with an unknown id, or of another kind, is a new one', () => {
    expect(match([sent(1, 9, { id: 99 }), sent(1, 2, { edge_mode: 'dotted' })], known)).toEqual([null, null]);
  });

  it('of a decision keeps the key that was made for it', () => {
    expect(matchEdges([sent(2, 3)], known, () => true)).toMatchObject([{ id: 6, condition_key: 'connector_1' }]);
    expect(matchEdges([sent(2, 3, { id: 6 })], known, () => true)).toMatchObject([{ condition_key: 'connector_1' }]);
    expect(matchEdges([sent(2, 3, { id: 6 })], known, () => false)).toMatchObject([{ condition_key: null }]);
  });

  it('comes in the order of ids, new ones last', () => {
    expect(inOrder([sent(9, 9), sent(1, 1, { id: 5 }), sent(1, 1, { id: 4 })]).map(({ id }) => id)).toEqual([
      4,
      5,
      null,
    ]);
  });
});

const node = (id: number, more: Partial<GraphNode> = {}): GraphNode => ({
  id,
  node_type: 'task',
  title: null,
  ref_id: null,
  x: 0,
  y: 0,
  config: {},
  mcp_server_ids: [],
  attachment_ids: [],
  ...more,
});

describe('[FLR-graph-diff] two versions of a graph', () => {
  it('differ by what came, what went and which fields changed', () => {
    const from = { nodes: [node(1), node(2), node(3, { config: { a: 1, b: 1 } })], edges: [stored(1, 1, 2)] };
    const to = {
      nodes: [node(1), node(3, { x: 5, config: { a: 2, c: null } }), node(4)],
      edges: [stored(1, 1, 3, { label: 'x' })],
    };
    expect(diffGraphs(from, to)).toEqual({
      nodes: { added: [4], removed: [2], changed: [{ id: 3, fields: ['config.a', 'config.b', 'config.c', 'x'] }] },
      edges: { added: [], removed: [], changed: [{ id: 1, fields: ['label', 'target_node_id'] }] },
    });
    expect(diffGraphs(to, to).nodes).toEqual({ added: [], removed: [], changed: [] });
  });

  it('[FLR-graph-version] have equal texts exactly when they are equal', () => {
    const graph = { nodes: [node(1, { config: { a: 1, b: 2 } })], edges: [] };
    const same = { nodes: [node(1, { config: { b: 2, a: 1 } })], edges: [] };
    expect(graphText(same)).toEqual(graphText(graph));
    expect(graphText({ nodes: [node(1, { x: 1 })], edges: [] })).not.toEqual(graphText(graph));
  });
});

describe('[FLR-graph-picture] the picture of a graph', () => {
  it('shows each node once, with an arrow for each mode', () => {
    const nodes = [
      node(1, { node_type: 'start', title: 'Start' }),
      node(2, { node_type: 'decision', title: 'Which?' }),
      node(3, { title: 'Do' }),
      node(9, { title: 'Alone' }),
    ];
    const edges = [
      stored(1, 1, 2),
      stored(2, 2, 3, { condition_key: 'yes', label: 'sure' }),
      stored(3, 2, 1, { condition_key: 'no' }),
      stored(4, 1, 3, { edge_mode: 'dotted' }),
      stored(5, 1, 3, { edge_mode: 'dashed' }),
    ];
    expect(picture({ nodes, edges })).toBe(
      [
        '[1] start Start',
        '  ──▶ [2] decision Which?',
        '    ──▶ (yes: sure) [3] task Do',
        '    ──▶ (no) [1] start Start (above)',
        '  ┄┄▶ [3] task Do (above)',
        '  ╌╌▶ [3] task Do (above)',
        '[9] task Alone',
      ].join('\n'),
    );
  });

  it('obeys nothing that a title says, and stays short', () => {
    const nodes = Array.from({ length: 1_000 }, (_, at) => node(at + 1, { title: '\u001b[2Jgone\nnext' }));
    const text = picture({ nodes, edges: [] });
    expect(text).not.toContain('\u001b');
    expect(text.split('\n')).toHaveLength(201);
    expect(text).toContain('cut short: 1000 nodes');
  });
});
