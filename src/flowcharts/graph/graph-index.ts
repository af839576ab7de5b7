import type { Graph, GraphEdge, GraphNode } from './model.ts';

/** A graph with the questions that its checks ask, each answered in one step. */
export interface GraphIndex {
  graph: Graph;
  node(id: number): GraphNode | undefined;
  outgoing(id: number): readonly GraphEdge[];
  /** Distinct nodes with a solid connector to this one. */
  solidParents(id: number): ReadonlySet<number>;
  solidChildren(id: number): readonly number[];
}

const NOTHING: ReadonlySet<number> = new Set();

export function indexGraph(graph: Graph): GraphIndex {
  const nodes = new Map(graph.nodes.map((node) => [node.id, node]));
  const outgoing = new Map<number, GraphEdge[]>();
  const parents = new Map<number, Set<number>>();
  const children = new Map<number, number[]>();
  for (const edge of graph.edges) {
    append(outgoing, edge.source_node_id, edge);
    if (edge.edge_mode !== 'solid') continue;
    append(children, edge.source_node_id, edge.target_node_id);
    const known = parents.get(edge.target_node_id);
    if (known) known.add(edge.source_node_id);
    else parents.set(edge.target_node_id, new Set([edge.source_node_id]));
  }
  return {
    graph,
    node: (id) => nodes.get(id),
    outgoing: (id) => outgoing.get(id) ?? [],
    solidParents: (id) => parents.get(id) ?? NOTHING,
    solidChildren: (id) => children.get(id) ?? [],
  };
}

function append<T>(map: Map<number, T[]>, key: number, value: T): void {
  const list = map.get(key);
  if (list) list.push(value);
  else map.set(key, [value]);
}
