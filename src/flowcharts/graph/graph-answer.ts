import type { Queries } from '../../database/index.ts';
import { refusal } from '../../kernel/errors.ts';
import { nodeTypes } from '../nodes/registry.ts';
import type { Graph } from './model.ts';
import { loadRefFacts } from './ref-facts.ts';
import { validateGraph } from './validate-graph.ts';
import type { Validation } from './validation.ts';
import { findGraph } from './versions.ts';
import type { GraphResponse } from './wire.ts';

interface Subject {
  id: number;
  vault_id: string;
  version: number;
}

const NOTHING_BOUND = { ref: 'none', mcp: false, attachments: false } as const;
/** Models are named in a config, scripts and skills are none of ours. */
const NEVER_BOUND = { model: false, scripts: false, skills: false } as const;

export async function graphOf(queries: Queries, flowchartId: number, version: number): Promise<Graph> {
  const graph = await findGraph(queries, flowchartId, version);
  if (graph) return graph;
  throw refusal(
    'NOT_FOUND',
    `Flowchart ${flowchartId} has no version ${version}. \`flowright flowchart versions ${flowchartId}\` lists them.`,
  );
}

/** Can a run walk this graph, as the vault is now? */
export async function judgeGraph(
  queries: Queries,
  subject: Omit<Subject, 'version'>,
  graph: Graph,
): Promise<Validation> {
  const refs = await loadRefFacts(queries, subject, graph.nodes);
  const facts = graph.nodes.flatMap((node) => (refs.isThere(node) ? [] : [node.id])).join();
  const loops = graph.nodes.flatMap((node) => (refs.returns(node) ? [node.id] : [])).join();
  const key = `${facts};${loops}`;
  const known = judged.get(graph);
  if (known?.key === key) return known.validation;
  const validation = validateGraph(graph, { types: nodeTypes, refs });
  judged.set(graph, { key, validation });
  return validation;
}

/** The last judgement of a graph, and what was known then about the things that its nodes refer to. */
const judged = new WeakMap<Graph, { key: string; validation: Validation }>();

/** A graph as every door shows it. */
export async function graphAnswer(queries: Queries, subject: Subject, graph: Graph): Promise<GraphResponse> {
  const { nodes, edges } = await wireGraph(queries, subject.id, graph);
  return {
    flowchart_id: subject.id,
    version: subject.version,
    nodes,
    edges,
    validation: await judgeGraph(queries, subject, graph),
  };
}

export async function wireGraph(
  queries: Queries,
  flowchart_id: number,
  { nodes, edges }: Graph,
): Promise<Pick<GraphResponse, 'nodes' | 'edges'>> {
  const ofNodes = await stamps(queries, 'flowchart_nodes', flowchart_id);
  const ofEdges = await stamps(queries, 'flowchart_edges', flowchart_id);
  return {
    nodes: nodes.map((node) => ({
      id: node.id,
      flowchart_id,
      node_type: node.node_type,
      title: node.title,
      ref_id: node.ref_id,
      x: node.x,
      y: node.y,
      config: node.config,
      mcp_server_ids: [...node.mcp_server_ids],
      attachment_ids: [...node.attachment_ids],
      compatibility: { ...(nodeTypes.get(node.node_type)?.binds ?? NOTHING_BOUND), ...NEVER_BOUND },
      ...(ofNodes.get(node.id) ?? UNKNOWN),
    })),
    edges: edges.map((edge) => ({
      id: edge.id,
      flowchart_id,
      source_node_id: edge.source_node_id,
      target_node_id: edge.target_node_id,
      source_handle_id: edge.source_handle_id,
      target_handle_id: edge.target_handle_id,
      edge_mode: edge.edge_mode,
      condition_key: edge.condition_key,
      label: edge.label,
      control_points: [...edge.control_points],
      control_point_style: edge.control_point_style,
      ...(ofEdges.get(edge.id) ?? UNKNOWN),
    })),
  };
}

interface Stamps {
  created_at: string | null;
  updated_at: string | null;
}
const UNKNOWN: Stamps = { created_at: null, updated_at: null };

async function stamps(
  queries: Queries,
  table: 'flowchart_nodes' | 'flowchart_edges',
  flowchartId: number,
): Promise<Map<number, Stamps>> {
  const rows = await queries
    .selectFrom(table)
    .select(['id', 'created_at', 'updated_at'])
    .where('flowchart_id', '=', flowchartId)
    .execute();
  return new Map(rows.map(({ id, created_at, updated_at }) => [Number(id), { created_at, updated_at }]));
}
