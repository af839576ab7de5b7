import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compileGraph } from '../../src/flowcharts/runtime/compiled-graph.ts';
import { executionGuard } from '../../src/flowcharts/runtime/limits.ts';
import { type RecordedNodeRun, restoreSchedule } from '../../src/flowcharts/runtime/restore.ts';
import {
  type Activation,
  begin,
  createState,
  type Outcome,
  type ScheduleState,
  type Step,
  succeed,
} from '../../src/flowcharts/runtime/scheduler.ts';
import { plainGraph } from '../support/graphs.ts';
import { type AnyWalk, anyWalk, followed } from './any-graph.ts';

const LIMIT = 40;
const MANY = { numRuns: 2_000 };

interface Seen {
  completed: Activation;
  routing: Record<string, unknown>;
  step: Step;
  state: ScheduleState;
  open: readonly Activation[];
}

interface Walked {
  activations: Activation[];
  state: ScheduleState;
  outcome: Outcome | null;
  /** The walk was cut off by the guard rail. */
  isCut: boolean;
}

/** Lets activations succeed, one at a time, in the order that the walk picks, until the end or the guard rail. */
function walk({ graph, routing, pick }: AnyWalk, look: (seen: Seen) => void = () => {}): Walked {
  const compiled = compileGraph(graph);
  const state = createState();
  const open = [begin(compiled, state, 1)];
  const activations = [...open];
  for (let step = 0; ; step += 1) {
    const startable = open.filter(
      ({ sequence }) =>
        !executionGuard(sequence, { max_node_executions: LIMIT, max_runtime_minutes: null, executions_before: 0 }),
    );
    if (startable.length === 0) return { activations, state, outcome: null, isCut: true };
    const completed = startable[pick(step, startable.length)] as Activation;
    open.splice(open.indexOf(completed), 1);
    const said = routing(completed.node_id, completed.execution_index);
    const result = succeed(compiled, state, completed.sequence, said);
    expect(result.fault).toBeNull();
    open.push(...result.activations);
    activations.push(...result.activations);
    look({ completed, routing: said, step: result, state, open });
    if (result.outcome) return { activations, state, outcome: result.outcome, isCut: false };
  }
}

function countBy<T>(items: readonly T[], keyOf: (item: T) => number): Map<number, number> {
  const counts = new Map<number, number>();
  for (const item of items) counts.set(keyOf(item), (counts.get(keyOf(item)) ?? 0) + 1);
  return new Map([...counts].sort(([a], [b]) => a - b));
}

describe('[FLR-tokens-conserved] over any graph', () => {
  it('what was delivered over a connector was either consumed or is still there: none is lost, none is doubled', () => {
    fc.assert(
      fc.property(anyWalk(), (drawn) => {
        const delivered: { edge: number; sequence: number }[] = [];
        const { activations, state } = walk(drawn, ({ completed, routing, step }) => {
          // Who ends the run, or begins it anew, delivers nothing.
          if (step.outcome && step.outcome.kind !== 'exhausted') return;
          for (const edge of followed(drawn.graph, completed.node_id, routing)) {
            delivered.push({ edge: edge.id, sequence: completed.sequence });
          }
        });
        const consumed = activations.flatMap(({ upstream }) => upstream);
        const left = [...state.waiting.values()].flatMap(({ tokens }) => [...tokens.values()].flat());
        const key = (edge: number, sequence: number) => `${edge}:${sequence}`;
        const found = [...consumed, ...left].map(({ edge_id, sequence }) => key(edge_id, sequence));
        expect(found.sort()).toEqual(delivered.map(({ edge, sequence }) => key(edge, sequence)).sort());
      }),
      MANY,
    );
  });

  it('tokens of one parent are consumed in the order in which they were delivered', () => {
    fc.assert(
      fc.property(anyWalk(), (drawn) => {
        const completions: number[] = [];
        const { activations } = walk(drawn, ({ completed }) => void completions.push(completed.sequence));
        const source = new Map(drawn.graph.edges.map((edge) => [edge.id, edge.source_node_id]));
        const queues = new Map<string, number[]>();
        for (const { node_id, upstream } of activations) {
          for (const { edge_id, sequence } of upstream) {
            const queue = `${source.get(edge_id)}>${node_id}`;
            queues.set(queue, [...(queues.get(queue) ?? []), completions.indexOf(sequence)]);
          }
        }
        for (const queue of queues.values()) expect(queue).toEqual([...queue].sort((a, b) => a - b));
      }),
      MANY,
    );
  });

  it('activations are numbered without a gap, and executions of a node are counted from 1', () => {
    fc.assert(
      fc.property(anyWalk(), (drawn) => {
        const { activations } = walk(drawn);
        expect(activations.map(({ sequence }) => sequence)).toEqual(activations.map((_, at) => at + 1));
        const seen = new Map<number, number>();
        for (const { node_id, execution_index } of activations) {
          expect(execution_index).toBe((seen.get(node_id) ?? 0) + 1);
          seen.set(node_id, execution_index);
        }
      }),
      MANY,
    );
  });
});

describe('[FLR-always-ends] over any graph', () => {
  it('a run has an end or something at work, never neither; and the guard rail lets exactly so many run', () => {
    fc.assert(
      fc.property(anyWalk(), (drawn) => {
        let completions = 0;
        const { isCut, outcome } = walk(drawn, ({ step, state, open }) => {
          completions += 1;
          if (step.outcome) return;
          expect(open.length).toBeGreaterThan(0);
          expect([...state.open].sort()).toEqual(open.map(({ sequence }) => sequence).sort());
        });
        expect(isCut).toBe(outcome === null);
        if (isCut) expect(completions).toBe(LIMIT);
        else expect(completions).toBeLessThanOrEqual(LIMIT);
      }),
      MANY,
    );
  });

  it('a run that is exhausted names the nodes that hold tokens and never ran, or wait for all their parents', () => {
    fc.assert(
      fc.property(anyWalk(), (drawn) => {
        const { outcome, state, activations } = walk(drawn);
        if (outcome?.kind !== 'exhausted') return;
        const { fanIn } = compileGraph(drawn.graph);
        // Where some parents are enough, what the others bring after it ran is no surprise.
        const isSurprising = (id: number): boolean => {
          const { need = 0, parents = [] } = fanIn.get(id) ?? {};
          return need >= parents.length || activations.every(({ node_id }) => node_id !== id);
        };
        const holding = [...state.waiting].filter(
          ([id, { tokens }]) => [...tokens.values()].some(({ length }) => length) && isSurprising(id),
        );
        expect(outcome.starved.map(({ node_id }) => node_id)).toEqual(holding.map(([id]) => id).sort((a, b) => a - b));
        for (const { missing } of outcome.starved) expect(missing.length).toBeGreaterThan(0);
      }),
      MANY,
    );
  });
});

describe('[FLR-order-free] over any graph without loops, with all and any, fixed routes and no early end', () => {
  it('who is faster changes neither which nodes run nor how often, nor who starves', () => {
    const plain = { isAcyclic: true, fanIn: ['all', 'any'], terminates: false };
    fc.assert(
      fc.property(anyWalk(plain), fc.array(fc.nat(1_000), { minLength: 24, maxLength: 24 }), (drawn, order) => {
        const other = { ...drawn, pick: (step: number, among: number) => (order[step % 24] as number) % among };
        const [one, two] = [walk(drawn), walk(other)];
        // A guard rail cuts by number, and so by who came first.
        if (one.isCut || two.isCut) return;
        const runs = ({ activations }: Walked) => countBy(activations, ({ node_id }) => node_id);
        expect(runs(two)).toEqual(runs(one));
        expect(two.outcome).toEqual(one.outcome);
      }),
      MANY,
    );
  });
});

describe('[FLR-same-story] over any graph', () => {
  it('the record of a run, told again from any moment of it, gives the very state it had then', () => {
    fc.assert(
      fc.property(anyWalk(), fc.array(fc.nat(2), { minLength: 8, maxLength: 8 }), (drawn, starts) => {
        const compiled = compileGraph(drawn.graph);
        const completed: RecordedNodeRun[] = [];
        walk(drawn, ({ completed: { sequence, node_id }, routing, step, state, open }) => {
          completed.push({
            id: sequence + 100,
            flowchart_node_id: node_id,
            sequence,
            status: 'succeeded',
            completed_order: completed.length + 1,
            routing_state_json: JSON.stringify(routing),
          });
          if (step.outcome) return;
          // Of those at work some have started, some wait, and some were never written down.
          const status = (activation: Activation) =>
            ['running', 'waiting', null][starts[activation.sequence % 8] as number] as string | null;
          const begun = open.filter((activation) => status(activation) !== null);
          const record = [
            ...begun.map((activation) => ({
              id: activation.sequence + 100,
              flowchart_node_id: activation.node_id,
              sequence: activation.sequence,
              status: status(activation) as string,
              completed_order: null,
              routing_state_json: null,
            })),
            ...completed.toReversed(),
          ].sort((a, b) => a.sequence - b.sequence);
          const restored = restoreSchedule(compiled, 1, record);
          expect(restored.state).toEqual(state);
          expect(restored.completions).toBe(completed.length);
          const bySequence = (a: Activation, b: Activation) => a.sequence - b.sequence;
          expect(restored.ready).toEqual(open.filter((each) => status(each) === null).sort(bySequence));
          expect(restored.unfinished.map(({ activation }) => activation)).toEqual([...begun].sort(bySequence));
          expect(restored.unfinished.map(({ node_run_id, isWaiting }) => [node_run_id, isWaiting])).toEqual(
            [...begun].sort(bySequence).map((each) => [each.sequence + 100, status(each) === 'waiting']),
          );
        });
      }),
      MANY,
    );
  });

  it('a record that does not fit the graph is told as such', () => {
    const compiled = compileGraph(plainGraph({ 1: 'start', 2: 'task' }, [[1, 2]]));
    const first = { id: 5, flowchart_node_id: 1, sequence: 1, completed_order: 1, routing_state_json: '{}' };
    const done = { ...first, status: 'succeeded' };
    const restore =
      (...record: RecordedNodeRun[]) =>
      () =>
        restoreSchedule(compiled, 1, record);
    expect(restore(done)).not.toThrow();
    expect(restore({ ...done, sequence: 3 })).toThrow('was never activated');
    expect(restore(done, { ...done, id: 6, sequence: 2, completed_order: 2 })).toThrow('where node 2 would be next');
    const under = { ...first, id: 6, sequence: 2, status: 'running', completed_order: null };
    expect(restore(done, under)).toThrow('where node 2 would be next');
    expect(restore(done, { ...under, flowchart_node_id: 2 })).not.toThrow();
  });
});
