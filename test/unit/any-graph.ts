import fc from 'fast-check';
import type { Graph, GraphEdge } from '../../src/flowcharts/graph/model.ts';
import { plainGraph } from '../support/graphs.ts';

type Json = Record<string, unknown>;

/** A graph, what each node will say when it succeeds, and in which order the activations at work succeed. */
export interface AnyWalk {
  graph: Graph;
  /** By node and execution index, so that it does not depend on who is faster. */
  routing(nodeId: number, executionIndex: number): Json;
  /** Picks one of so many at the given step. */
  pick(step: number, count: number): number;
}

export interface AnyWalkOptions {
  /** Connectors only lead to nodes with higher ids. */
  isAcyclic?: boolean;
  fanIn?: readonly string[];
  terminates?: boolean;
}

const MODES = ['solid', 'solid', 'solid', 'dotted', 'dashed'] as const;

export function anyWalk(options: AnyWalkOptions = {}): fc.Arbitrary<AnyWalk> {
  const { isAcyclic = false, fanIn = ['all', 'any', 'custom'], terminates = true } = options;
  return fc.integer({ min: 1, max: 8 }).chain((count) =>
    fc
      .record({
        kinds: fc.array(fc.constantFrom('task', 'task', 'decision'), { minLength: count, maxLength: count }),
        modes: fc.array(fc.constantFrom(...fanIn), { minLength: count, maxLength: count }),
        customs: fc.array(fc.integer({ min: 1, max: 4 }), { minLength: count, maxLength: count }),
        edges: fc.array(
          fc.tuple(fc.integer({ min: 1, max: count }), fc.integer({ min: 1, max: count }), fc.constantFrom(...MODES)),
          { maxLength: 20 },
        ),
        choices: fc.array(fc.integer({ min: 0, max: 255 }), { minLength: 16, maxLength: 16 }),
        order: fc.array(fc.nat(1_000), { minLength: 24, maxLength: 24 }),
      })
      .map(({ kinds, modes, customs, edges, choices, order }) => {
        const configs = Object.fromEntries(
          modes.map((fan_in_mode, at) => [
            at + 1,
            { fan_in_mode, fan_in_custom_count: customs[at], no_match_policy: 'end' },
          ]),
        );
        const drawn = edges.filter(([source, target]) => !isAcyclic || source < target);
        const hasSolid = (id: number) => drawn.some(([source, , mode]) => source === id && mode === 'solid');
        const kindOf = (kind: string, id: number) => (id === 1 ? 'start' : hasSolid(id) ? kind : 'task');
        const types = Object.fromEntries(kinds.map((kind, at) => [at + 1, kindOf(kind, at + 1)]));
        const graph = plainGraph(
          types,
          drawn.map(([source, target, edge_mode], at) => {
            const isKeyed = types[source] === 'decision' && edge_mode === 'solid';
            return [source, target, { edge_mode, condition_key: isKeyed ? `k${at + 1}` : null }] as const;
          }),
          configs,
        );
        const choice = (nodeId: number, executionIndex: number) =>
          choices[(nodeId * 5 + executionIndex) % choices.length] as number;
        return {
          graph,
          routing: (nodeId: number, executionIndex: number) => {
            const bits = choice(nodeId, executionIndex);
            if (terminates && bits > 240) return { terminate_run: true };
            if (types[nodeId] !== 'decision') return {};
            const own = solidFrom(graph, nodeId);
            return {
              matched_connector_ids: own
                .filter((_, at) => (bits >> (at % 8)) % 2 === 1)
                .map((edge) => edge.condition_key),
            };
          },
          pick: (step: number, among: number) => (order[step % order.length] as number) % among,
        };
      }),
  );
}

export function solidFrom(graph: Graph, nodeId: number): GraphEdge[] {
  return graph.edges.filter((edge) => edge.source_node_id === nodeId && edge.edge_mode === 'solid');
}

/** Which connectors a success is delivered over, by the plainest reading of the rules. */
export function followed(graph: Graph, nodeId: number, routing: Json): GraphEdge[] {
  if (routing.terminate_run === true) return [];
  const own = solidFrom(graph, nodeId);
  const matched = routing.matched_connector_ids as (string | null)[] | undefined;
  if (!matched) return own;
  return own.filter((edge) => matched.includes(edge.condition_key));
}
