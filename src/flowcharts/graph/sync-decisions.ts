import { conditionTexts, syncDecision } from './decision-conditions.ts';
import type { GraphEdge, GraphNode } from './model.ts';

type Keyed = Pick<GraphEdge, 'source_node_id' | 'edge_mode' | 'condition_key'>;

/**
 * Every decision of a graph and its connectors in step. Edges come in the order in which they are followed; `stored`
 * gives the texts of a decision whose config was sent without them.
 */
export function syncDecisions<Edge extends Keyed>(
  nodes: readonly GraphNode[],
  edges: readonly Edge[],
  stored: (nodeId: number) => Record<string, unknown> | undefined = () => undefined,
): { nodes: GraphNode[]; edges: Edge[] } {
  const places = new Map<number, number[]>();
  for (const node of nodes) if (node.node_type === 'decision') places.set(node.id, []);
  edges.forEach((edge, at) => {
    places.get(edge.source_node_id)?.push(at);
  });
  const keyed = [...edges];
  const synced = nodes.map((node) => {
    const own = places.get(node.id);
    if (!own) return node;
    const texts = new Map([...conditionTexts(stored(node.id)), ...conditionTexts(node.config)]);
    const { keys, conditions } = syncDecision(
      own.map((at) => edges[at] as Edge),
      texts,
    );
    own.forEach((at, index) => {
      keyed[at] = { ...(edges[at] as Edge), condition_key: keys[index] ?? null };
    });
    return { ...node, config: { ...node.config, decision_conditions: conditions } };
  });
  return { nodes: synced, edges: keyed };
}
