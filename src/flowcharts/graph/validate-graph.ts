import { checkEdges } from './check-edges.ts';
import { checkNodes } from './check-nodes.ts';
import { checkRouting } from './check-routing.ts';
import { type GraphIndex, indexGraph } from './graph-index.ts';
import type { Graph, GraphNode } from './model.ts';
import type { NodeTypes } from './normalise-node.ts';
import { edgeIssue, type GraphIssue, nameOf, nodeIssue, type Validation } from './validation.ts';
import { walk } from './walk-graph.ts';

/** What the database knows about the things that nodes refer to. */
export interface RefFacts {
  isThere(node: GraphNode): boolean;
  /** Does the flowchart that the node runs lead back to the one it is in? */
  returns(node: GraphNode): boolean;
}

export interface ValidateOptions {
  types: NodeTypes;
  refs: RefFacts;
  /** The graph is a draft: a save would still make the plans, milestones and memories it lacks. */
  areRefsToCome?: boolean;
}

const MAX_NAMED = 50;

/** Can a run walk this graph? Errors in a fixed order, each said once; nothing here refuses a save. */
export function validateGraph(graph: Graph, { types, refs, areRefsToCome = false }: ValidateOptions): Validation {
  const index = indexGraph(graph);
  const starts = graph.nodes.filter(({ node_type }) => node_type === 'start');
  const walked = starts.length === 1 ? walk(index, (starts[0] as GraphNode).id) : null;
  const errors = unique([
    ...checkNodes(index, types, areRefsToCome),
    ...checkStart(starts.length),
    ...checkEdges(index),
    ...checkRouting(index),
    ...(walked ? checkReach(graph, walked.reached) : []),
    ...checkRefs(graph, refs),
  ]);
  const warnings = walked ? [...checkLoops(index, walked.backParents), ...checkReturns(index)] : [];
  return { valid: errors.length === 0, errors, warnings };
}

function checkStart(count: number): GraphIssue[] {
  if (count === 1) return [];
  const message = `The graph has ${count} start nodes; it needs exactly one.`;
  return [{ code: 'start_node_count', message, path: '/nodes' }];
}

function checkReach({ nodes }: Graph, reached: ReadonlySet<number>): GraphIssue[] {
  const lost = nodes.filter(({ id }) => !reached.has(id));
  if (lost.length === 0) return [];
  const named = lost.slice(0, MAX_NAMED).map(nameOf).join(', ');
  const more = lost.length > MAX_NAMED ? ` and ${lost.length - MAX_NAMED} more` : '';
  const message = `No solid connectors lead from the start to ${named}${more}.`;
  return [{ code: 'unreachable_nodes', message, path: '/nodes' }];
}

function checkRefs({ nodes }: Graph, refs: RefFacts): GraphIssue[] {
  return nodes.flatMap((node, at) => {
    if (node.ref_id === null) return [];
    const path = `/nodes/${at}/ref_id`;
    if (!refs.isThere(node)) {
      return [nodeIssue('ref_missing', node, path, `refers to ${node.node_type} ${node.ref_id}, which is not there`)];
    }
    if (!refs.returns(node)) return [];
    const message = `runs flowchart ${node.ref_id}, which leads back to this one: it would never end`;
    return [nodeIssue('subflow_cycle', node, path, message)];
  });
}

/** A node that waits for all who trigger it waits for ever when one of them comes after it. */
function checkLoops(index: GraphIndex, backParents: ReadonlyMap<number, ReadonlySet<number>>): GraphIssue[] {
  return index.graph.nodes.flatMap((node, at) => {
    const back = backParents.get(node.id)?.size ?? 0;
    // Coming back to the start ends the run and begins another.
    if (back === 0 || node.node_type === 'start') return [];
    const parents = index.solidParents(node.id).size;
    if (parents < 2 || needed(node, parents) <= parents - back) return [];
    const message = 'waits for a node that comes after it in a loop, so it may never start: set fan_in_mode to any';
    return [nodeIssue('fan_in_cycle', node, `/nodes/${at}/config/fan_in_mode`, message)];
  });
}

/** Not wrong, but rarely what a loop is meant to be. */
function checkReturns({ graph, node }: GraphIndex): GraphIssue[] {
  return graph.edges.flatMap((edge, at) => {
    if (edge.edge_mode !== 'solid' || node(edge.target_node_id)?.node_type !== 'start') return [];
    const message =
      'leads back to the start: each pass is a new run, and the limits count over all of them. Lead it to another node to loop within one run';
    return [edgeIssue('loop_to_start', edge.id, `/edges/${at}/target_node_id`, message)];
  });
}

function needed({ config }: GraphNode, parents: number): number {
  if (config.fan_in_mode === 'any') return 1;
  const count = config.fan_in_custom_count;
  return config.fan_in_mode === 'custom' && typeof count === 'number' ? Math.min(count, parents) : parents;
}

function unique(issues: GraphIssue[]): GraphIssue[] {
  const seen = new Set<string>();
  return issues.filter(({ code, path, message }) => {
    const key = `${code} ${path} ${message}`;
    if (seen.has(key)) return false;
    seen.add(key);
    return true;
  });
}
