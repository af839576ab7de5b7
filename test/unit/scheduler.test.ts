import { describe, expect, it } from 'vitest';
import { compileGraph, requiredParents } from '../../src/flowcharts/runtime/compiled-graph.ts';
import { type Activation, begin, createState, type Step, succeed } from '../../src/flowcharts/runtime/scheduler.ts';
import { plainGraph } from '../support/graphs.ts';

type Json = Record<string, unknown>;

/** Begins at a node; `done` tells that an activation succeeded and returns what follows. */
function walk(graph: ReturnType<typeof plainGraph>, entry = 1) {
  const compiled = compileGraph(graph);
  const state = createState();
  const first = begin(compiled, state, entry);
  return { first, done: (sequence: number, routing: Json = {}): Step => succeed(compiled, state, sequence, routing) };
}

/** `node#sequence < sequences of what triggered it`. */
const shown = ({ activations }: Step) =>
  activations.map(
    ({ node_id, sequence, upstream }: Activation) =>
      `${node_id}#${sequence} < ${upstream.map((reference) => reference.sequence).join(',')}`,
  );

/** Start 1, parents 2 to n + 1, target 9. */
const parentsOf9 = (count: number, config: Json = {}) => {
  const parents = Array.from({ length: count }, (_, at) => at + 2);
  const types = Object.fromEntries([[1, 'start'], ...parents.map((id) => [id, 'task']), [9, 'task']]);
  return plainGraph(types, [...parents.map((id) => [1, id] as const), ...parents.map((id) => [id, 9] as const)], {
    9: config,
  });
};

describe('[FLR-fan-in-count] how many parents a node needs', () => {
  it.each([
    ['all', {}, 3, 3],
    ['any', { fan_in_mode: 'any' }, 3, 1],
    ['custom', { fan_in_mode: 'custom', fan_in_custom_count: 2 }, 3, 2],
    ['custom above the number of parents', { fan_in_mode: 'custom', fan_in_custom_count: 9 }, 3, 3],
    ['custom without a usable count', { fan_in_mode: 'custom', fan_in_custom_count: 0 }, 3, 3],
    ['custom with a text', { fan_in_mode: 'custom', fan_in_custom_count: '2' }, 3, 3],
    ['any with one parent', { fan_in_mode: 'any' }, 1, 1],
    ['no parent', {}, 0, 0],
  ])('%s', (_name, config, parents, need) => {
    expect(requiredParents(config, parents)).toBe(need);
  });

  it('counts distinct sources of solid connectors', () => {
    const graph = plainGraph({ 1: 'start', 2: 'task', 3: 'task', 4: 'task' }, [
      [1, 2],
      [3, 4],
      [2, 4],
      [2, 4],
      [1, 4, { edge_mode: 'dotted' }],
      [1, 4, { edge_mode: 'dashed' }],
    ]);
    expect(compileGraph(graph).fanIn.get(4)).toEqual({ parents: [2, 3], need: 2 });
  });
});

describe('[FLR-fan-in-all] all', () => {
  it('waits for each parent and takes one token of each, in the order of their ids', () => {
    const { done } = walk(parentsOf9(2));
    expect(shown(done(1))).toEqual(['2#2 < 1', '3#3 < 1']);
    expect(shown(done(3))).toEqual([]);
    expect(shown(done(2))).toEqual(['9#4 < 2,3']);
  });

  it('keeps a second token of one parent until the other has delivered again', () => {
    const graph = plainGraph({ 1: 'start', 2: 'task', 3: 'task', 9: 'task' }, [
      [1, 2],
      [1, 2],
      [1, 3],
      [2, 9],
      [3, 9],
    ]);
    const { done } = walk(graph);
    expect(shown(done(1))).toEqual(['2#2 < 1', '2#3 < 1', '3#4 < 1']);
    done(2);
    done(3);
    expect(shown(done(4))).toEqual(['9#5 < 2,4']);
    expect(done(5).outcome).toEqual({
      kind: 'exhausted',
      starved: [{ node_id: 9, delivered_by: [2], missing: [3] }],
    });
  });

  it('activates once for each connector of a single parent', () => {
    const { done } = walk(
      plainGraph({ 1: 'start', 2: 'task' }, [
        [1, 2],
        [1, 2],
      ]),
    );
    const { activations } = done(1);
    expect(activations.map(({ execution_index, upstream }) => [execution_index, upstream])).toEqual([
      [1, [{ sequence: 1, edge_id: 1 }]],
      [2, [{ sequence: 1, edge_id: 2 }]],
    ]);
  });
});

describe('[FLR-fan-in-any] any', () => {
  it.each([
    ['any', { fan_in_mode: 'any' }],
    ['custom 1', { fan_in_mode: 'custom', fan_in_custom_count: 1 }],
  ])('%s activates once for each token', (_name, config) => {
    const { done } = walk(parentsOf9(2, config));
    done(1);
    expect(shown(done(3))).toEqual(['9#4 < 3']);
    expect(shown(done(2))).toEqual(['9#5 < 2']);
  });
});

describe('[FLR-fan-in-custom] custom', () => {
  it('with as many as there are parents is all', () => {
    const { done } = walk(parentsOf9(2, { fan_in_mode: 'custom', fan_in_custom_count: 2 }));
    done(1);
    expect(shown(done(3))).toEqual([]);
    expect(shown(done(2))).toEqual(['9#4 < 2,3']);
  });

  it('takes the heads that were activated first', () => {
    const { done } = walk(parentsOf9(4, { fan_in_mode: 'custom', fan_in_custom_count: 3 }));
    done(1);
    expect(shown(done(5))).toEqual([]);
    expect(shown(done(4))).toEqual([]);
    expect(shown(done(2))).toEqual(['9#6 < 2,4,5']);
    expect(shown(done(3))).toEqual([]);
    // One that comes late, where not all are needed, is no starvation.
    expect(done(6).outcome).toMatchObject({ starved: [] });
  });
});

describe('[FLR-order] the order of activations', () => {
  it('is that of the connectors, numbered from 1', () => {
    const graph = plainGraph({ 1: 'start', 2: 'task', 3: 'task', 4: 'task' }, [
      [1, 4],
      [1, 2],
      [1, 3],
    ]);
    expect(shown(walk({ ...graph, edges: graph.edges.toReversed() }).done(1))).toEqual([
      '4#2 < 1',
      '2#3 < 1',
      '3#4 < 1',
    ]);
  });

  it('lets a branch go on while another is at work', () => {
    const graph = plainGraph({ 1: 'start', 2: 'task', 3: 'task', 4: 'task', 5: 'task' }, [
      [1, 2],
      [1, 3],
      [3, 4],
      [4, 5],
    ]);
    const { done } = walk(graph);
    done(1);
    expect(shown(done(3))).toEqual(['4#4 < 3']);
    expect(shown(done(4))).toEqual(['5#5 < 4']);
    expect(done(5).outcome, 'node 2 has not completed').toBeNull();
    expect(done(2).outcome).toEqual({ kind: 'exhausted', starved: [] });
  });

  it('pulls the latest success over dotted and dashed connectors, and waits for none', () => {
    const graph = plainGraph(
      { 1: 'start', 2: 'task', 3: 'task' },
      [
        [1, 2],
        [2, 3],
        [3, 2],
        [3, 2, { edge_mode: 'dotted' }],
        [1, 2, { edge_mode: 'dashed' }],
        [2, 1, { edge_mode: 'dotted' }],
      ],
      { 2: { fan_in_mode: 'any' } },
    );
    const { done } = walk(graph);
    const [first] = done(1).activations;
    expect(first).toMatchObject({ dotted: [], dashed: [{ sequence: 1, edge_id: 5 }] });
    done(2);
    const [second] = done(3).activations;
    expect(second).toMatchObject({ execution_index: 2, dotted: [{ sequence: 3, edge_id: 4 }] });
  });
});

describe('[FLR-loops] loops', () => {
  const loop = (config: Json) =>
    plainGraph(
      { 1: 'start', 2: 'task', 3: 'decision', 4: 'task' },
      [
        [1, 2],
        [2, 3],
        [3, 2, { condition_key: 'again' }],
        [3, 4, { condition_key: 'on' }],
      ],
      { 2: config },
    );
  const again = { matched_connector_ids: ['again'] };

  it('go round within a run when the node takes any', () => {
    const { done } = walk(loop({ fan_in_mode: 'any' }));
    done(1);
    done(2);
    expect(shown(done(3, again))).toEqual(['2#4 < 3']);
    expect(shown(done(4))).toEqual(['3#5 < 4']);
    expect(shown(done(5, { matched_connector_ids: ['on'] }))).toEqual(['4#6 < 5']);
    expect(done(6).outcome).toEqual({ kind: 'exhausted', starved: [] });
  });

  it('starve where all are needed, and the end names the node and whom it waited for', () => {
    const { done } = walk(loop({}));
    expect(done(1).outcome).toEqual({
      kind: 'exhausted',
      starved: [{ node_id: 2, delivered_by: [1], missing: [3] }],
    });
  });

  it('back to the start end the run, and other connectors of that node are not followed', () => {
    const graph = plainGraph({ 1: 'start', 2: 'task', 3: 'task' }, [
      [1, 2],
      [2, 3],
      [2, 1],
    ]);
    const { done } = walk(graph);
    done(1);
    const step = done(2);
    expect(step).toMatchObject({ activations: [], outcome: { kind: 'looped', sequence: 2 } });
  });
});

describe('[FLR-end-terminates] the end of a run', () => {
  it('comes with the first node that asks for it; its connectors are not followed', () => {
    const { done } = walk(parentsOf9(2, { fan_in_mode: 'any' }));
    done(1);
    expect(done(2, { terminate_run: true })).toEqual({
      activations: [],
      outcome: { kind: 'terminated', sequence: 2 },
      fault: null,
    });
  });

  it('comes when nothing is left to do', () => {
    expect(walk(plainGraph({ 1: 'start' }, [])).done(1).outcome).toEqual({ kind: 'exhausted', starved: [] });
  });

  it('is not told twice: what has completed cannot complete again', () => {
    const { done } = walk(parentsOf9(2));
    done(1);
    expect(done(1).fault?.code).toBe('activation_unknown');
    expect(done(99).fault?.code).toBe('activation_unknown');
  });
});

describe('[FLR-entry-override] another entry than the start', () => {
  it('is activated without upstream, whatever its fan-in', () => {
    const { first, done } = walk(parentsOf9(3), 9);
    expect(first).toMatchObject({ node_id: 9, sequence: 1, execution_index: 1, upstream: [] });
    expect(done(1).outcome).toEqual({ kind: 'exhausted', starved: [] });
  });
});
