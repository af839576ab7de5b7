import type { GraphEdge, GraphNode } from '../graph/model.ts';

export type RoutingCode =
  | 'decision_no_solid_edges'
  | 'unknown_connector'
  | 'route_key_not_matched'
  | 'decision_no_match'
  | 'fallback_not_found'
  | 'route_key_unmatched';

export type Routed = { edges: readonly GraphEdge[] } | { fault: { code: RoutingCode; message: string } };

const fault = (code: RoutingCode, message: string): Routed => ({ fault: { code, message } });

/**
 * Which solid connectors a node that succeeded follows. A decision follows those it matched, or its fallback, or none
 * where its policy lets the branch end; any other node follows all, unless connectors carry keys and it names one.
 */
export function selectEdges(
  node: GraphNode,
  solid: readonly GraphEdge[],
  routing: Readonly<Record<string, unknown>>,
): Routed {
  const routeKey = typeof routing.route_key === 'string' ? routing.route_key.trim() : '';
  if (node.node_type === 'decision') return selectOfDecision(node, solid, routing, routeKey);
  const keyed = routeKey === '' ? [] : solid.filter((edge) => edge.condition_key);
  if (keyed.length === 0) return { edges: solid };
  const hits = keyed.filter((edge) => edge.condition_key === routeKey);
  if (hits.length > 0) return { edges: hits };
  return fault('route_key_unmatched', `No connector of node ${node.id} has the key ${routeKey}.`);
}

function selectOfDecision(
  node: GraphNode,
  solid: readonly GraphEdge[],
  routing: Readonly<Record<string, unknown>>,
  routeKey: string,
): Routed {
  if (solid.length === 0) return fault('decision_no_solid_edges', `Decision ${node.id} has no solid connector.`);
  const keys = new Set(solid.map((edge) => edge.condition_key));
  const matched = textsOf(routing.matched_connector_ids);
  const stranger = matched.find((key) => !keys.has(key));
  if (stranger !== undefined) {
    return fault('unknown_connector', `Decision ${node.id} matched ${stranger}, which is none of its connectors.`);
  }
  if (routeKey !== '' && !matched.includes(routeKey)) {
    return fault('route_key_not_matched', `Decision ${node.id} names the route ${routeKey}, which it did not match.`);
  }
  if (matched.length > 0) {
    return { edges: solid.filter((edge) => edge.condition_key !== null && matched.includes(edge.condition_key)) };
  }
  return selectOnNoMatch(node, solid);
}

function selectOnNoMatch(node: GraphNode, solid: readonly GraphEdge[]): Routed {
  const { no_match_policy: policy, fallback_condition_key: key } = node.config;
  if (policy === 'end') return { edges: [] };
  if (policy === 'fail' || typeof key !== 'string' || key === '') {
    return fault(
      'decision_no_match',
      `No condition of decision ${node.id} matched. Give it a fallback connector, or let it end with no_match_policy.`,
    );
  }
  const fallback = solid.find((edge) => edge.condition_key === key);
  if (fallback) return { edges: [fallback] };
  return fault('fallback_not_found', `The fallback ${key} of decision ${node.id} is none of its solid connectors.`);
}

function textsOf(value: unknown): string[] {
  if (!Array.isArray(value)) return [];
  return value
    .filter((item): item is string => typeof item === 'string')
    .map((item) => item.trim())
    .filter((item) => item !== '');
}
