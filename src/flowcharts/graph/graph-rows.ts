import type { FlowchartEdgesTable, FlowchartNodesTable } from '../../database/index.ts';
import { stableStringify } from '../../kernel/canonical-json.ts';
import type { GraphEdge, GraphNode } from './model.ts';

/** The columns that a save writes. */
export type NodeColumns = Pick<FlowchartNodesTable, 'node_type' | 'ref_id' | 'title' | 'x' | 'y' | 'config_json'> & {
  mcp_server_ids_json: string;
};

export type EdgeColumns = Pick<
  FlowchartEdgesTable,
  | 'source_node_id'
  | 'target_node_id'
  | 'source_handle_id'
  | 'target_handle_id'
  | 'edge_mode'
  | 'condition_key'
  | 'label'
  | 'control_points_json'
>;

export function nodeColumns(node: Omit<GraphNode, 'id'>): NodeColumns {
  return {
    node_type: node.node_type,
    ref_id: node.ref_id,
    title: node.title,
    x: node.x,
    y: node.y,
    config_json: stableStringify(node.config),
    mcp_server_ids_json: JSON.stringify(node.mcp_server_ids),
  };
}

export function edgeColumns(edge: Omit<GraphEdge, 'id'>): EdgeColumns {
  return {
    source_node_id: edge.source_node_id,
    target_node_id: edge.target_node_id,
    source_handle_id: edge.source_handle_id,
    target_handle_id: edge.target_handle_id,
    edge_mode: edge.edge_mode,
    condition_key: edge.condition_key,
    label: edge.label,
    control_points_json: controlPointsText(edge),
  };
}

function controlPointsText({ control_points, control_point_style }: Omit<GraphEdge, 'id'>): string | null {
  if (control_points.length === 0 && control_point_style === 'hard') return null;
  return JSON.stringify({ points: control_points, style: control_point_style });
}

/** Bends as a row has them; an older form is the bare list. What cannot be read is no bend. */
export function controlPointsOf(text: string | null): Pick<GraphEdge, 'control_points' | 'control_point_style'> {
  const parsed = parse(text);
  const { points, style } = Array.isArray(parsed) ? { points: parsed, style: 'hard' } : (parsed as Partial<Bends>);
  const control_points = (Array.isArray(points) ? points : []).filter(isPoint).map(({ x, y }) => ({ x, y }));
  return { control_points, control_point_style: style === 'curved' ? 'curved' : 'hard' };
}

interface Bends {
  points: unknown;
  style: unknown;
}

function parse(text: string | null): unknown {
  try {
    return text === null ? {} : (JSON.parse(text) ?? {});
  } catch {
    return {};
  }
}

function isPoint(value: unknown): value is { x: number; y: number } {
  const { x, y } = (value ?? {}) as Record<string, unknown>;
  return Number.isFinite(x) && Number.isFinite(y);
}
