import type { GraphIndex } from './graph-index.ts';
import type { GraphEdge } from './model.ts';
import { EDGE_MODES } from './normalise-edge.ts';
import { edgeIssue, type GraphIssue } from './validation.ts';

/** What is wrong with single connectors, then with the pairs of nodes they join. */
export function checkEdges(index: GraphIndex): GraphIssue[] {
  return [...index.graph.edges.flatMap((edge, at) => checkEdge(edge, `/edges/${at}`, index)), ...checkPairs(index)];
}

function checkEdge(edge: GraphEdge, path: string, { node }: GraphIndex): GraphIssue[] {
  const found: GraphIssue[] = [];
  const wrong = (code: string, key: string, message: string) =>
    found.push(edgeIssue(code, edge.id, `${path}/${key}`, message));
  if (!EDGE_MODES.includes(edge.edge_mode)) wrong('edge_mode_invalid', 'edge_mode', 'is not solid, dotted or dashed');
  const source = node(edge.source_node_id);
  if (!source)
    wrong('edge_source_missing', 'source_node_id', `comes from node ${edge.source_node_id}, which is not there`);
  if (!node(edge.target_node_id)) {
    wrong('edge_target_missing', 'target_node_id', `leads to node ${edge.target_node_id}, which is not there`);
  }
  const isDecision = source?.node_type === 'decision';
  if (edge.edge_mode === 'solid') {
    if (isDecision && edge.condition_key === null) {
      wrong('decision_condition_key_required', 'condition_key', 'leaves a decision and needs a condition key');
    }
    if (source && !isDecision && edge.condition_key !== null) {
      wrong('non_decision_condition_key', 'condition_key', 'leaves no decision: remove its condition key');
    }
  } else if (edge.condition_key !== null) {
    wrong(
      'non_solid_condition_key',
      'condition_key',
      `is ${edge.edge_mode} and triggers nothing: remove its condition key`,
    );
  }
  return found;
}

/** Two ways of joining the same two nodes would leave open whether the second is triggered. */
function checkPairs({ graph }: GraphIndex): GraphIssue[] {
  const modes = new Map<string, string>();
  const told = new Set<string>();
  return graph.edges.flatMap((edge, at) => {
    const pair = `${edge.source_node_id}>${edge.target_node_id}`;
    const first = modes.get(pair) ?? edge.edge_mode;
    modes.set(pair, first);
    if (first === edge.edge_mode || told.has(pair)) return [];
    told.add(pair);
    const message = `is ${edge.edge_mode}, and another joins the same two nodes as ${first}: give them one mode`;
    return [edgeIssue('mixed_edge_modes', edge.id, `/edges/${at}/edge_mode`, message)];
  });
}
