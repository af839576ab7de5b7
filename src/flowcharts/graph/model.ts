import type { EdgeMode } from '../../database/index.ts';

/** What a version of a graph holds, and what a run walks. Ids are stable from version to version. */
export interface Graph {
  nodes: readonly GraphNode[];
  /** In ascending order of id: the order in which connectors are followed. */
  edges: readonly GraphEdge[];
}

export interface GraphNode {
  id: number;
  node_type: string;
  title: string | null;
  /** The plan, milestone, memory or flowchart that the node works on. */
  ref_id: number | null;
  x: number;
  y: number;
  config: Record<string, unknown>;
  mcp_server_ids: readonly number[];
  attachment_ids: readonly number[];
}

export interface GraphEdge {
  id: number;
  source_node_id: number;
  target_node_id: number;
  source_handle_id: string | null;
  target_handle_id: string | null;
  /** solid triggers and carries context and attachments; dotted carries context; dashed carries attachments. */
  edge_mode: EdgeMode;
  condition_key: string | null;
  label: string | null;
  control_points: readonly { x: number; y: number }[];
  control_point_style: 'hard' | 'curved';
}
