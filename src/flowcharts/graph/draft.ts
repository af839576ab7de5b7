import type { EdgeMode } from '../../database/index.ts';

/** A graph as somebody wants it, checked and normalised, before it has ids. */
export interface GraphDraft {
  nodes: DraftNode[];
  edges: DraftEdge[];
}

export interface DraftNode {
  /** As sent; one that the flowchart does not know becomes a new node. */
  id: number | null;
  client_id: string | null;
  node_type: string;
  title: string | null;
  /** Undefined when it was not sent: what is there stays. */
  ref_id: number | null | undefined;
  x: number;
  y: number;
  config: Record<string, unknown>;
  mcp_server_ids: readonly number[] | undefined;
  attachment_ids: readonly number[] | undefined;
}

export interface DraftEdge {
  id: number | null;
  client_id: string | null;
  /** Places in `nodes`. */
  source: number;
  target: number;
  source_handle_id: string | null;
  target_handle_id: string | null;
  edge_mode: EdgeMode;
  condition_key: string | null;
  label: string | null;
  control_points: { x: number; y: number }[];
  control_point_style: 'hard' | 'curved';
}
