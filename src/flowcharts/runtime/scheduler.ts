import type { CompiledGraph } from './compiled-graph.ts';
import { type RoutingCode, selectEdges } from './routing.ts';

/**
 * Decides what runs next, and nothing else: no clock, no database, no node code.
 *
 * A node that succeeds delivers one token over each solid connector it follows. A node is activated as soon as enough of
 * its parents have delivered (`all` of them, `any` one, or a `custom` number), and takes one token of each; tokens of one
 * parent keep their order. Activations are numbered from 1 in the order in which they arise and start in that order.
 * Nothing waits for anything else, so a branch goes on while another is slow.
 *
 * The run is over when a node ends it, when a connector leads back to the start (then a new run follows), or when nothing
 * is left to do; tokens that never found enough company are reported.
 *
 * The state follows from the graph and the successes in their order alone: recovery and replays tell it the same story
 * again. It is advanced in place, because a copy a step would make long runs quadratic.
 */
export interface ScheduleState {
  lastSequence: number;
  /** Activated and not yet completed. */
  open: Set<number>;
  activated: Map<number, Activation>;
  executions: Map<number, number>;
  waiting: Map<number, FanInState>;
  /** Latest success of nodes that others pull from. */
  latest: Map<number, number>;
}

export interface Reference {
  /** The activation whose output is meant. */
  sequence: number;
  edge_id: number;
}

export interface Activation {
  sequence: number;
  node_id: number;
  execution_index: number;
  /** What triggered it, then what it pulls. */
  upstream: readonly Reference[];
  dotted: readonly Reference[];
  dashed: readonly Reference[];
}

interface Token extends Reference {
  parent: number;
}

interface FanInState {
  tokens: Map<number, Token[]>;
  /** Parents with at least one token. */
  ready: Set<number>;
}

export interface Starved {
  node_id: number;
  delivered_by: number[];
  missing: number[];
}

export type Outcome =
  | { kind: 'terminated'; sequence: number }
  | { kind: 'looped'; sequence: number }
  | { kind: 'exhausted'; starved: Starved[] };

export interface Step {
  activations: Activation[];
  outcome: Outcome | null;
  fault: { code: RoutingCode | 'activation_unknown'; message: string } | null;
}

export function createState(): ScheduleState {
  return {
    lastSequence: 0,
    open: new Set(),
    activated: new Map(),
    executions: new Map(),
    waiting: new Map(),
    latest: new Map(),
  };
}

/** The first activation: the start node, or the one that a run was told to begin with, whatever its fan-in. */
export function begin(graph: CompiledGraph, state: ScheduleState, nodeId: number): Activation {
  return activate(graph, state, nodeId, []);
}

/** One activation has succeeded: who is next? */
export function succeed(
  graph: CompiledGraph,
  state: ScheduleState,
  sequence: number,
  routing: Readonly<Record<string, unknown>>,
): Step {
  const activation = state.activated.get(sequence);
  const node = activation && graph.nodes.get(activation.node_id);
  if (!activation || !node || !state.open.delete(sequence)) {
    return failed('activation_unknown', `Nothing was activated as number ${sequence}.`);
  }
  state.activated.delete(sequence);
  if (graph.pulled.has(node.id)) state.latest.set(node.id, sequence);
  if (routing.terminate_run === true)
    return { activations: [], outcome: { kind: 'terminated', sequence }, fault: null };
  const routed = selectEdges(node, graph.solidFrom.get(node.id) ?? [], routing);
  if ('fault' in routed) return { activations: [], outcome: null, fault: routed.fault };
  if (routed.edges.some((edge) => edge.target_node_id === graph.startNodeId)) {
    return { activations: [], outcome: { kind: 'looped', sequence }, fault: null };
  }
  const activations: Activation[] = [];
  for (const edge of routed.edges) {
    deliver(graph, state, edge.target_node_id, { sequence, edge_id: edge.id, parent: node.id }, activations);
  }
  const isExhausted = activations.length === 0 && state.open.size === 0;
  return {
    activations,
    outcome: isExhausted ? { kind: 'exhausted', starved: starvedIn(graph, state) } : null,
    fault: null,
  };
}

function failed(code: 'activation_unknown', message: string): Step {
  return { activations: [], outcome: null, fault: { code, message } };
}

function deliver(
  graph: CompiledGraph,
  state: ScheduleState,
  target: number,
  token: Token,
  activations: Activation[],
): void {
  const fanIn = graph.fanIn.get(target);
  if (!fanIn || fanIn.parents.length <= 1) {
    activations.push(activate(graph, state, target, [token]));
    return;
  }
  let waiting = state.waiting.get(target);
  if (!waiting) {
    waiting = { tokens: new Map(), ready: new Set() };
    state.waiting.set(target, waiting);
  }
  const queue = waiting.tokens.get(token.parent);
  if (queue) queue.push(token);
  else waiting.tokens.set(token.parent, [token]);
  waiting.ready.add(token.parent);
  while (waiting.ready.size >= fanIn.need) activations.push(activate(graph, state, target, take(waiting, fanIn)));
}

/** One token of each parent when all are needed, in the order of their ids; else of those that delivered first. */
function take(waiting: FanInState, fanIn: { parents: readonly number[]; need: number }): Token[] {
  const headOf = (parent: number) => waiting.tokens.get(parent)?.[0] as Token;
  const chosen =
    fanIn.need >= fanIn.parents.length
      ? fanIn.parents
      : [...waiting.ready].sort((a, b) => headOf(a).sequence - headOf(b).sequence || a - b).slice(0, fanIn.need);
  return chosen.map((parent) => {
    const queue = waiting.tokens.get(parent) as Token[];
    const token = queue.shift() as Token;
    if (queue.length === 0) waiting.ready.delete(parent);
    return token;
  });
}

function activate(
  graph: CompiledGraph,
  state: ScheduleState,
  nodeId: number,
  upstream: readonly Reference[],
): Activation {
  state.lastSequence += 1;
  const execution_index = (state.executions.get(nodeId) ?? 0) + 1;
  state.executions.set(nodeId, execution_index);
  const pull = (edges: readonly { id: number; source_node_id: number }[] | undefined): Reference[] =>
    (edges ?? []).flatMap((edge) => {
      const sequence = state.latest.get(edge.source_node_id);
      return sequence === undefined ? [] : [{ sequence, edge_id: edge.id }];
    });
  const activation: Activation = {
    sequence: state.lastSequence,
    node_id: nodeId,
    execution_index,
    upstream: upstream.map(({ sequence, edge_id }) => ({ sequence, edge_id })),
    dotted: pull(graph.dottedInto.get(nodeId)),
    dashed: pull(graph.dashedInto.get(nodeId)),
  };
  state.open.add(activation.sequence);
  state.activated.set(activation.sequence, activation);
  return activation;
}

/** Where not all parents are needed, tokens that come after enough of them have are no surprise. */
function starvedIn(graph: CompiledGraph, state: ScheduleState): Starved[] {
  const needsAll = (node_id: number): boolean => {
    const fanIn = graph.fanIn.get(node_id);
    return fanIn !== undefined && fanIn.need >= fanIn.parents.length;
  };
  return [...state.waiting]
    .filter(([node_id, { ready }]) => ready.size > 0 && (needsAll(node_id) || !state.executions.has(node_id)))
    .map(([node_id, { ready }]) => ({
      node_id,
      delivered_by: [...ready].sort((a, b) => a - b),
      missing: (graph.fanIn.get(node_id)?.parents ?? []).filter((parent) => !ready.has(parent)),
    }))
    .sort((a, b) => a.node_id - b.node_id);
}
