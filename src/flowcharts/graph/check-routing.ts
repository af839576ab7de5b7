import type { GraphIndex } from './graph-index.ts';
import type { GraphNode } from './model.ts';
import { type GraphIssue, nodeIssue } from './validation.ts';

/** What connectors and the routing keys of nodes make of each other: fan-in, ends, decisions. */
export function checkRouting(index: GraphIndex): GraphIssue[] {
  return index.graph.nodes.flatMap((node, at) => {
    const path = `/nodes/${at}`;
    return [...checkFanIn(node, path, index), ...checkEnd(node, path, index), ...checkDecision(node, path, index)];
  });
}

function checkFanIn(node: GraphNode, path: string, { solidParents }: GraphIndex): GraphIssue[] {
  if (node.config.fan_in_mode !== 'custom') return [];
  const count = node.config.fan_in_custom_count;
  // A count that is no number was reported with the config.
  if (typeof count !== 'number') return [];
  const parents = solidParents(node.id).size;
  const place = `${path}/config/fan_in_custom_count`;
  if (parents === 0) {
    return [nodeIssue('fan_in_custom_without_parents', node, place, 'counts solid connectors and has none')];
  }
  if (count <= parents) return [];
  const message = `waits for ${count} nodes, but only ${parents} trigger it`;
  return [nodeIssue('fan_in_custom_count_range', node, place, message)];
}

function checkEnd(node: GraphNode, path: string, { outgoing }: GraphIndex): GraphIssue[] {
  if (node.node_type !== 'end' || outgoing(node.id).length === 0) return [];
  return [nodeIssue('end_node_outgoing_edges', node, path, 'ends the run: remove the connectors that leave it')];
}

function checkDecision(node: GraphNode, path: string, { outgoing }: GraphIndex): GraphIssue[] {
  if (node.node_type !== 'decision') return [];
  const solid = outgoing(node.id).filter(({ edge_mode }) => edge_mode === 'solid');
  const found: GraphIssue[] = [];
  const wrong = (code: string, place: string, message: string) =>
    found.push(nodeIssue(code, node, `${path}${place}`, message));
  if (solid.length === 0) wrong('decision_missing_solid_outgoing', '', 'leads nowhere: give it a solid connector');
  const keys = solid.flatMap(({ condition_key }) => (condition_key === null ? [] : [condition_key]));
  const known = new Set(keys);
  if (known.size < keys.length) {
    wrong('decision_duplicate_condition_keys', '', 'has two solid connectors with the same condition key');
  }
  const { fallback_condition_key: fallback, no_match_policy: policy } = node.config;
  const isNamed = typeof fallback === 'string' && fallback !== '';
  if (isNamed && !known.has(fallback)) {
    const message = `falls back to ${JSON.stringify(fallback)}, which is none of its solid connectors`;
    wrong('decision_fallback_missing_connector', '/config/fallback_condition_key', message);
  }
  if (policy === 'fallback' && !isNamed) {
    wrong(
      'decision_fallback_policy_requires_connector',
      '/config/fallback_condition_key',
      'falls back, but not to what',
    );
  }
  return found;
}
