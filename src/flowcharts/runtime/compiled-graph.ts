import type { Graph, GraphEdge, GraphNode } from '../graph/model.ts';

export interface FanIn {
  /** Distinct sources of solid connectors, ascending. */
  parents: readonly number[];
  /** How many of them must have delivered. */
  need: number;
}

/** A graph made ready for walking: every question the scheduler asks is one lookup. */
export interface CompiledGraph {
  nodes: ReadonlyMap<number, GraphNode>;
  edges: ReadonlyMap<number, GraphEdge>;
  startNodeId: number | null;
  solidFrom: ReadonlyMap<number, readonly GraphEdge[]>;
  dottedInto: ReadonlyMap<number, readonly GraphEdge[]>;
  dashedInto: ReadonlyMap<number, readonly GraphEdge[]>;
  fanIn: ReadonlyMap<number, FanIn>;
  /** Nodes whose latest success somebody pulls over a dotted or dashed connector. */
  pulled: ReadonlySet<number>;
}

export function compileGraph(graph: Graph): CompiledGraph {
  const edges = [...graph.edges].sort((a, b) => a.id - b.id);
  const solidFrom = groupBy(edges, 'solid', (edge) => edge.source_node_id);
  const solidInto = groupBy(edges, 'solid', (edge) => edge.target_node_id);
  const fanIn = new Map<number, FanIn>();
  const nodes = new Map(graph.nodes.map((node) => [node.id, node]));
  for (const [target, incoming] of solidInto) {
    const parents = [...new Set(incoming.map((edge) => edge.source_node_id))].sort((a, b) => a - b);
    fanIn.set(target, { parents, need: requiredParents(nodes.get(target)?.config ?? {}, parents.length) });
  }
  const starts = graph.nodes.filter((node) => node.node_type === 'start');
  return {
    nodes,
    edges: new Map(edges.map((edge) => [edge.id, edge])),
    startNodeId: starts.length === 1 ? (starts[0]?.id ?? null) : null,
    solidFrom,
    dottedInto: groupBy(edges, 'dotted', (edge) => edge.target_node_id),
    dashedInto: groupBy(edges, 'dashed', (edge) => edge.target_node_id),
    fanIn,
    pulled: new Set(edges.filter((edge) => edge.edge_mode !== 'solid').map((edge) => edge.source_node_id)),
  };
}

export function requiredParents(config: Record<string, unknown>, parents: number): number {
  if (parents <= 1) return parents;
  if (config.fan_in_mode === 'any') return 1;
  const count = config.fan_in_custom_count;
  if (config.fan_in_mode === 'custom' && typeof count === 'number' && count > 0) return Math.min(count, parents);
  return parents;
}

function groupBy(
  edges: readonly GraphEdge[],
  mode: GraphEdge['edge_mode'],
  keyOf: (edge: GraphEdge) => number,
): Map<number, GraphEdge[]> {
  const groups = new Map<number, GraphEdge[]>();
  for (const edge of edges) {
    if (edge.edge_mode !== mode) continue;
    const group = groups.get(keyOf(edge));
    if (group) group.push(edge);
    else groups.set(keyOf(edge), [edge]);
  }
  return groups;
}
