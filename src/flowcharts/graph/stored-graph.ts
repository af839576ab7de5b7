import type { Queries } from '../../database/index.ts';
import { controlPointsOf, edgeColumns, type NodeColumns, nodeColumns } from './graph-rows.ts';
import type { GraphEdge, GraphNode } from './model.ts';

export interface StoredNode {
  node: GraphNode;
  removed: boolean;
  /** Its columns as text, to tell what a save changes. */
  columns: string;
}

/** The rows of a flowchart, removed nodes among them. */
export interface StoredGraph {
  nodes: ReadonlyMap<number, StoredNode>;
  /** In ascending order of id. */
  edges: GraphEdge[];
  edgeColumns: ReadonlyMap<number, string>;
}

export async function storedGraph(queries: Queries, flowchartId: number): Promise<StoredGraph> {
  const nodeRows = await queries
    .selectFrom('flowchart_nodes')
    .select([
      'id',
      'node_type',
      'ref_id',
      'title',
      'x',
      'y',
      'config_json',
      'mcp_server_ids_json',
      'config_contract',
      'removed_at',
    ])
    .where('flowchart_id', '=', flowchartId)
    .orderBy('id')
    .execute();
  const edgeRows = await queries
    .selectFrom('flowchart_edges')
    .selectAll()
    .where('flowchart_id', '=', flowchartId)
    .orderBy('id')
    .execute();
  const attachments = await attachmentsOf(queries, flowchartId);
  const nodes = new Map<number, StoredNode>();
  for (const { config_contract, removed_at, ...row } of nodeRows) {
    const id = Number(row.id);
    const attachment_ids = attachments.get(id) ?? [];
    const node: GraphNode = {
      id,
      node_type: row.node_type,
      ref_id: row.ref_id === null ? null : Number(row.ref_id),
      title: row.title,
      x: row.x,
      y: row.y,
      config: record(row.config_json),
      mcp_server_ids: list(row.mcp_server_ids_json),
      attachment_ids,
    };
    const { id: _, ...columns } = { ...row, ref_id: node.ref_id };
    nodes.set(id, {
      node,
      removed: removed_at !== null,
      columns: columnsText(columns, config_contract, attachment_ids),
    });
  }
  const edges = edgeRows.map((row): GraphEdge => {
    const { source_handle_id, target_handle_id, condition_key, label } = row;
    const edge_mode = (row.edge_mode ?? '') as GraphEdge['edge_mode'];
    return {
      id: Number(row.id),
      source_node_id: Number(row.source_node_id),
      target_node_id: Number(row.target_node_id),
      source_handle_id,
      target_handle_id,
      edge_mode,
      condition_key,
      label,
      ...controlPointsOf(row.control_points_json),
    };
  });
  const positions = new Map(edgeRows.map(({ id, position }) => [Number(id), position]));
  const texts = edges.map((edge) => [edge.id, edgeText(edge, Number(positions.get(edge.id)))] as const);
  return { nodes, edges, edgeColumns: new Map(texts) };
}

/** Equal texts, equal rows. */
export function nodeText(node: GraphNode, contract: number): string {
  return columnsText(nodeColumns(node), contract, node.attachment_ids);
}

export function edgeText(edge: GraphEdge, position: number): string {
  return JSON.stringify([position, ...Object.values(edgeColumns(edge))]);
}

function columnsText(columns: NodeColumns, contract: number, attachmentIds: readonly number[]): string {
  const { node_type, ref_id, title, x, y, config_json, mcp_server_ids_json } = columns;
  return JSON.stringify([node_type, ref_id, title, x, y, config_json, mcp_server_ids_json, contract, attachmentIds]);
}

async function attachmentsOf(queries: Queries, flowchartId: number): Promise<Map<number, number[]>> {
  const rows = await queries
    .selectFrom('flowchart_node_attachments')
    .innerJoin('flowchart_nodes', 'flowchart_nodes.id', 'flowchart_node_attachments.flowchart_node_id')
    .select(['flowchart_node_id', 'attachment_id'])
    .where('flowchart_id', '=', flowchartId)
    .orderBy('flowchart_node_id')
    .orderBy('position')
    .execute();
  const found = new Map<number, number[]>();
  for (const { flowchart_node_id, attachment_id } of rows) {
    const known = found.get(Number(flowchart_node_id));
    if (known) known.push(Number(attachment_id));
    else found.set(Number(flowchart_node_id), [Number(attachment_id)]);
  }
  return found;
}

/** An unreadable config is nothing here; the migration at start tells of it. */
function record(text: string | null): Record<string, unknown> {
  const value = parsed(text);
  return value !== null && typeof value === 'object' && !Array.isArray(value) ? (value as Record<string, unknown>) : {};
}

function list(text: string): number[] {
  const value = parsed(text);
  return Array.isArray(value) ? value.filter((id): id is number => Number.isInteger(id)) : [];
}

function parsed(text: string | null): unknown {
  try {
    return text === null ? null : JSON.parse(text);
  } catch {
    return null;
  }
}
