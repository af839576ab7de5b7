import { describe, expect, it } from 'vitest';
import { excerptOf } from '../../src/flowcharts/history/excerpt.ts';
import { CONTEXT_BYTES, contextOf } from '../../src/flowcharts/history/hydrate-context.ts';
import { graphEdge, graphNode } from '../support/run-rows.ts';

const RUN = { id: 9, flowchart_id: 3 };
const NODE = { flowchart_node_id: 2, node_type: 'task', execution_index: 1 };
const GRAPH = {
  nodes: [graphNode(1, 'task'), graphNode(2, 'task')],
  edges: [graphEdge(5, 1, 2, { condition_key: 'k' })],
};

// biome-ignore lint/suspicious/noExplicitAny: only the columns that the function reads
const source = (id: number, output: Record<string, unknown>): any => ({
  row: { id, flowchart_node_id: 1, node_type: 'task', execution_index: id, sequence: id },
  output_state: output,
  routing_state: { route_key: 'k' },
});

describe('an excerpt', () => {
  it('is the value itself while it is short, and never longer than its limit [FLR-context-bounded]', () => {
    expect(excerptOf({ a: 1 })).toEqual({ a: 1 });
    expect(excerptOf(null)).toBeNull();
    for (const text of ['x'.repeat(5_000), '"'.repeat(5_000), '😀'.repeat(5_000), '\u0001'.repeat(5_000)]) {
      const excerpt = excerptOf({ text });
      expect(excerpt).toHaveProperty('truncated', true);
      expect(Buffer.byteLength(JSON.stringify(excerpt))).toBeLessThanOrEqual(2_048);
      expect(JSON.stringify(excerpt)).not.toMatch(/\\ud[89a-f]/i);
    }
  });
});

describe('the input context of a node run', () => {
  it('has every key of the contract, from references alone [S004-context-shape]', () => {
    const sources = new Map([
      [1, source(1, { text: 'one' })],
      [2, source(2, { text: 'two' })],
    ]);
    const references = {
      upstream: [
        [1, 5],
        [2, 5],
      ],
      dotted: [[1, 5]],
      dashed: [],
      total: 4,
    } as const;
    const context = contextOf(
      RUN,
      NODE,
      {
        ...references,
        upstream: [
          [1, 5],
          [2, 5],
        ],
        dotted: [[1, 5]],
        dashed: [],
      },
      GRAPH,
      sources,
    );
    expect(Object.keys(context)).toEqual([
      'flowchart',
      'node',
      'upstream_nodes',
      'latest_upstream',
      'context_only_upstream_nodes',
      'dotted_upstream_nodes',
      'attachment_only_upstream_nodes',
      'trigger_sources',
      'context_only_sources',
      'pulled_dotted_sources',
      'attachment_only_sources',
      'pulled_attachment_sources',
      'context_only_source_count',
      'attachment_only_source_count',
      'propagated_attachments',
    ]);
    expect(context.latest_upstream?.output_state).toEqual({ text: 'two' });
    expect(context.trigger_sources[0]).toEqual({
      source_edge_id: 5,
      source_node_id: 1,
      source_node_type: 'task',
      condition_key: 'k',
      execution_index: 1,
      sequence: 1,
      edge_mode: 'solid',
    });
    expect(context.dotted_upstream_nodes).toEqual(context.context_only_upstream_nodes);
  });

  it('stays within its bound however much led to it, and says how much was left out [FLR-context-bounded]', () => {
    const count = 3_000;
    const sources = new Map(
      Array.from({ length: count }, (_, at) => [at + 1, source(at + 1, { text: 'x'.repeat(1_500) })]),
    );
    const upstream = Array.from({ length: count }, (_, at) => [at + 1, 5] as const);
    const context = contextOf(
      RUN,
      NODE,
      { upstream: [...upstream], dotted: [], dashed: [], total: count },
      GRAPH,
      sources,
    );
    expect(Buffer.byteLength(JSON.stringify(context))).toBeLessThanOrEqual(CONTEXT_BYTES);
    expect(context.omitted).toBe(count - context.upstream_nodes.length);
    expect(context.latest_upstream?.sequence).toBe(count);
  });
});
