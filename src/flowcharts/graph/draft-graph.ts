import type { DraftNode, GraphDraft } from './draft.ts';
import type { Graph, GraphNode } from './model.ts';
import { syncDecisions } from './sync-decisions.ts';

/** A draft as the graph it would become. What is new has ids below 0, which nothing stored has. */
export function graphOfDraft(draft: GraphDraft): Graph {
  const nodes = draft.nodes.map((node, at): GraphNode => ({ ...fields(node), id: node.id ?? -1 - at }));
  const edges = draft.edges.map(({ source, target, client_id: _, ...edge }, at) => ({
    ...edge,
    id: edge.id ?? -1 - at,
    source_node_id: (nodes[source] as GraphNode).id,
    target_node_id: (nodes[target] as GraphNode).id,
  }));
  return syncDecisions(nodes, edges);
}

function fields({ node_type, title, ref_id, x, y, config, mcp_server_ids, attachment_ids }: DraftNode) {
  return {
    node_type,
    title,
    ref_id: ref_id ?? null,
    x,
    y,
    config,
    mcp_server_ids: mcp_server_ids ?? [],
    attachment_ids: attachment_ids ?? [],
  };
}
