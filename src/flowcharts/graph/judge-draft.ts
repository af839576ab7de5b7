import type { Queries } from '../../database/index.ts';
import { nodeTypes } from '../nodes/registry.ts';
import { graphOfDraft } from './draft-graph.ts';
import { startNodeOf } from './flowchart-store.ts';
import { normaliseGraph } from './normalise-graph.ts';
import { loadRefFacts } from './ref-facts.ts';
import { validateGraph } from './validate-graph.ts';
import type { Validation } from './validation.ts';

/** With one of these there is no graph yet whose meaning could be judged. */
const SHAPELESS: ReadonlySet<string> = new Set([
  'graph_shape_invalid',
  'graph_too_large',
  'node_not_object',
  'node_type_invalid',
  'node_id_duplicate',
  'edge_invalid',
  'edge_endpoint_invalid',
  'edge_mode_required',
  'edge_mode_invalid',
]);

/** What a save would refuse, and what it would accept with a verdict, in one list. Nothing is stored. */
export async function judgeDraft(
  queries: Queries,
  flowchart: { id: number; vault_id: string },
  raw: { nodes?: unknown; edges?: unknown },
): Promise<Validation> {
  const startNodeId = await startNodeOf(queries, flowchart.id);
  const { draft, issues } = normaliseGraph(raw, { types: nodeTypes, startNodeId });
  if (issues.some(({ code }) => SHAPELESS.has(code))) return { valid: false, errors: issues, warnings: [] };
  const graph = graphOfDraft(draft);
  const refs = await loadRefFacts(queries, flowchart, graph.nodes);
  const judged = validateGraph(graph, { types: nodeTypes, refs, areRefsToCome: true });
  const told = new Set(issues.map(({ code, path }) => `${code} ${path}`));
  const errors = [...issues, ...judged.errors.filter(({ code, path }) => !told.has(`${code} ${path}`))];
  return { valid: errors.length === 0, errors, warnings: judged.warnings };
}
