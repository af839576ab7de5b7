import { describe, expect, it } from 'vitest';
import { buildContext, mergeAttachments, propagatedAttachments } from '../../src/flowcharts/runtime/build-context.ts';
import { compileGraph } from '../../src/flowcharts/runtime/compiled-graph.ts';
import type { Output } from '../../src/flowcharts/runtime/outputs.ts';
import type { Activation } from '../../src/flowcharts/runtime/scheduler.ts';
import { plainGraph } from '../support/graphs.ts';

const file = (id: number) => ({ id, file_name: `${id}.txt`, content_type: 'text/plain', size_bytes: id });
const output = (sequence: number, node_id: number, ...files: number[]): Output => ({
  sequence,
  node_run_id: 100 + sequence,
  node_id,
  node_type: 'task',
  execution_index: 1,
  output_state: { node_type: 'task', said: sequence, attachments: files.map(file) },
  routing_state: { route_key: `r${sequence}` },
});

/** 2 and 3 trigger 6, 4 gives context, 5 gives files. */
const graph = compileGraph(
  plainGraph({ 1: 'start', 2: 'decision', 3: 'task', 4: 'task', 5: 'task', 6: 'task' }, [
    [2, 6, { condition_key: 'yes' }],
    [3, 6],
    [4, 6, { edge_mode: 'dotted' }],
    [5, 6, { edge_mode: 'dashed' }],
  ]),
);
const activation: Activation = {
  sequence: 8,
  node_id: 6,
  execution_index: 2,
  upstream: [
    { sequence: 7, edge_id: 1 },
    { sequence: 3, edge_id: 2 },
  ],
  dotted: [{ sequence: 4, edge_id: 3 }],
  dashed: [{ sequence: 5, edge_id: 4 }],
};
const outputs = new Map(
  [output(7, 2, 1), output(3, 3, 2, 1), output(4, 4, 3), output(5, 5, 4, 2)].map((each) => [each.sequence, each]),
);
const context = buildContext(graph, { id: 40, flowchart_id: 30 }, activation, outputs);

describe('[FLR-input-context] what a node is given', () => {
  it('names the run, the node and how many executions there were', () => {
    expect(context.flowchart).toEqual({ id: 30, run_id: 40, total_execution_count: 8 });
    expect(context.node).toEqual({ id: 6, type: 'task', execution_index: 2 });
  });

  it('has one entry for each trigger, and the latest by sequence', () => {
    expect(context.upstream_nodes.map(({ node_id, edge_mode }) => [node_id, edge_mode])).toEqual([
      [2, 'solid'],
      [3, 'solid'],
    ]);
    expect(context.latest_upstream).toEqual({
      node_id: 2,
      node_run_id: 107,
      source_edge_id: 1,
      node_type: 'task',
      condition_key: 'yes',
      execution_index: 1,
      output_state: { node_type: 'task', said: 7, attachments: [file(1)] },
      routing_state: { route_key: 'r7' },
      sequence: 7,
      edge_mode: 'solid',
    });
  });

  it('tells where everything comes from, under both names', () => {
    expect(context.trigger_sources.map(({ source_node_id, condition_key }) => [source_node_id, condition_key])).toEqual(
      [
        [2, 'yes'],
        [3, null],
      ],
    );
    expect(context.context_only_sources).toEqual(context.pulled_dotted_sources);
    expect(context.context_only_sources.map(({ source_node_id }) => source_node_id)).toEqual([4]);
    expect(context.attachment_only_sources).toEqual(context.pulled_attachment_sources);
    expect(context.attachment_only_sources.map(({ source_node_id }) => source_node_id)).toEqual([5]);
    expect([context.context_only_source_count, context.attachment_only_source_count]).toEqual([1, 1]);
  });

  it('has nothing upstream at an entry', () => {
    const first = { ...activation, upstream: [], dotted: [], dashed: [] };
    const empty = buildContext(graph, { id: 40, flowchart_id: 30 }, first, new Map());
    expect(empty).toMatchObject({ upstream_nodes: [], latest_upstream: null, propagated_attachments: [] });
  });
});

describe('[FLR-dashed-files-only] a dashed connector', () => {
  it('gives the files of its source and nothing of what it said', () => {
    expect(context.attachment_only_upstream_nodes).toMatchObject([
      { node_id: 5, output_state: { attachments: [file(4), file(2)] }, routing_state: {} },
    ]);
    expect(JSON.stringify(context.attachment_only_upstream_nodes)).not.toContain('said');
  });
});

describe('[FLR-files-carried] files', () => {
  it('come over solid and dashed connectors, each once, and not over dotted ones', () => {
    expect(context.propagated_attachments.map(({ id }) => id)).toEqual([1, 2, 4]);
    expect(propagatedAttachments(activation, outputs)).toEqual(context.propagated_attachments);
    expect(mergeAttachments([[file(2)], [file(1), file(2)]]).map(({ id }) => id)).toEqual([2, 1]);
  });
});
