import type { Queries } from '../../database/index.ts';
import { findMemory } from '../../memories/index.ts';
import { loadMilestone } from '../../milestones/index.ts';
import { loadPlan } from '../../plans/index.ts';
import { chunksOf } from './chunks.ts';
import {
  type FileAttachment,
  type FileEdge,
  type FileNode,
  type FileRefs,
  FLOWCHART_FILE_SCHEMA,
  type FlowchartFile,
  REF_LISTS,
} from './flowchart-file.ts';
import type { Graph, GraphEdge, GraphNode } from './model.ts';
import type { Flowchart } from './wire.ts';

const LETTERS: Readonly<Record<string, string>> = { plan: 'p', milestone: 'm', memory: 'k', flowchart: 'f' };

/** A flowchart with everything it works on, free of ids: names within the file take their place. */
export async function exportFlowchart(
  queries: Queries,
  vaultId: string,
  flowchart: Flowchart,
  graph: Graph,
): Promise<FlowchartFile> {
  const refs: FileRefs = { plans: {}, milestones: {}, memories: {}, flowcharts: {} };
  const named = await nameRefs(queries, vaultId, graph.nodes, refs);
  const files = await filesOf(queries, vaultId, graph.nodes);
  const names = new Map(graph.nodes.map(({ id }, at) => [id, `n${at + 1}`]));
  const { name, description, max_node_executions, max_runtime_minutes, max_parallel_nodes } = flowchart;
  return {
    schema: FLOWCHART_FILE_SCHEMA,
    flowchart: { name, description, max_node_executions, max_runtime_minutes, max_parallel_nodes },
    nodes: graph.nodes.map((node) => fileNode(node, names, named, files)),
    edges: graph.edges.map((edge, at) => fileEdge(edge, at, names)),
    refs,
  };
}

function fileNode(
  node: GraphNode,
  names: ReadonlyMap<number, string>,
  named: ReadonlyMap<string, string>,
  files: ReadonlyMap<number, FileAttachment>,
): FileNode {
  const ref = named.get(`${node.node_type} ${node.ref_id}`);
  const attachments = node.attachment_ids.flatMap((id) => files.get(id) ?? []);
  return {
    client_id: names.get(node.id) as string,
    node_type: node.node_type,
    title: node.title,
    x: node.x,
    y: node.y,
    config: node.config,
    ...(ref === undefined ? {} : { ref }),
    ...(node.mcp_server_ids.length === 0 ? {} : { mcp_server_ids: [...node.mcp_server_ids] }),
    ...(attachments.length === 0 ? {} : { attachments }),
  };
}

function fileEdge(edge: GraphEdge, at: number, names: ReadonlyMap<number, string>): FileEdge {
  const { condition_key, label, source_handle_id, target_handle_id, control_points, control_point_style } = edge;
  return {
    client_id: `e${at + 1}`,
    source: names.get(edge.source_node_id) ?? '',
    target: names.get(edge.target_node_id) ?? '',
    edge_mode: edge.edge_mode,
    ...(condition_key === null ? {} : { condition_key }),
    ...(label === null ? {} : { label }),
    ...(source_handle_id === null ? {} : { source_handle_id }),
    ...(target_handle_id === null ? {} : { target_handle_id }),
    ...(control_points.length === 0 ? {} : { control_points: [...control_points] }),
    ...(control_point_style === 'hard' ? {} : { control_point_style }),
  };
}

/** Gives each thing that nodes work on a name, once, and puts its content into `refs`. */
async function nameRefs(
  queries: Queries,
  vaultId: string,
  nodes: readonly GraphNode[],
  refs: FileRefs,
): Promise<Map<string, string>> {
  const named = new Map<string, string>();
  for (const { node_type, ref_id } of nodes) {
    const list = REF_LISTS[node_type];
    const key = `${node_type} ${ref_id}`;
    if (list === undefined || ref_id === null || named.has(key)) continue;
    const content = await contentOf(queries, vaultId, node_type, ref_id);
    if (content === null) continue;
    const name = `${LETTERS[node_type]}${Object.keys(refs[list]).length + 1}`;
    Object.assign(refs[list], { [name]: content });
    named.set(key, name);
  }
  return named;
}

async function contentOf(queries: Queries, vaultId: string, type: string, id: number): Promise<object | null> {
  if (type === 'plan') return planContent(queries, vaultId, id);
  if (type === 'memory') {
    const memory = await findMemory(queries, vaultId, id);
    return memory ? { title: memory.title, description: memory.description } : null;
  }
  if (type === 'milestone') {
    const milestone = await loadMilestone(queries, vaultId, id);
    if (!milestone) return null;
    const { id: _, created_at: __, updated_at: ___, ...fields } = milestone;
    return fields;
  }
  const row = await queries
    .selectFrom('flowcharts')
    .select('name')
    .where('vault_id', '=', vaultId)
    .where('id', '=', id)
    .executeTakeFirst();
  return row ?? null;
}

async function planContent(queries: Queries, vaultId: string, id: number): Promise<object | null> {
  const plan = await loadPlan(queries, vaultId, id);
  if (!plan) return null;
  const row = ({
    name,
    description,
    completed_at,
  }: {
    name: string;
    description: string | null;
    completed_at: string | null;
  }) => ({
    name,
    description,
    completed: completed_at !== null,
  });
  return { ...row(plan), stages: plan.stages.map((stage) => ({ ...row(stage), tasks: stage.tasks.map(row) })) };
}

async function filesOf(
  queries: Queries,
  vaultId: string,
  nodes: readonly GraphNode[],
): Promise<Map<number, FileAttachment>> {
  const found = new Map<number, FileAttachment>();
  for (const ids of chunksOf([...new Set(nodes.flatMap(({ attachment_ids }) => attachment_ids))])) {
    const rows = await queries
      .selectFrom('attachments')
      .select(['id', 'file_name', 'sha256'])
      .where('vault_id', '=', vaultId)
      .where('id', 'in', ids)
      .execute();
    for (const { id, file_name, sha256 } of rows) found.set(Number(id), { file_name, sha256 });
  }
  return found;
}
