import type { EdgeMode } from '../../database/index.ts';

/** One upstream node run, as the node that it reaches sees it. */
export interface ContextEntry {
  node_id: number;
  node_run_id: number;
  source_edge_id: number;
  node_type: string;
  condition_key: string | null;
  execution_index: number;
  /** Of a dashed connector nothing but `attachments`. */
  output_state: Record<string, unknown>;
  routing_state: Record<string, unknown>;
  sequence: number;
  edge_mode: EdgeMode;
}

export interface ContextSource {
  source_edge_id: number;
  source_node_id: number;
  source_node_type: string;
  condition_key: string | null;
  execution_index: number;
  sequence: number;
  edge_mode: EdgeMode;
}

export interface PropagatedAttachment {
  id: number;
  file_name: string;
  content_type: string;
  size_bytes: number;
}

/** Everything a node is given: what triggered it, what dotted and dashed connectors add, and the files. */
export interface InputContext {
  flowchart: { id: number; run_id: number; total_execution_count: number };
  node: { id: number; type: string; execution_index: number };
  upstream_nodes: ContextEntry[];
  /** The solid entry with the highest sequence. */
  latest_upstream: ContextEntry | null;
  context_only_upstream_nodes: ContextEntry[];
  /** Older name of the list above. */
  dotted_upstream_nodes: ContextEntry[];
  attachment_only_upstream_nodes: ContextEntry[];
  trigger_sources: ContextSource[];
  context_only_sources: ContextSource[];
  pulled_dotted_sources: ContextSource[];
  attachment_only_sources: ContextSource[];
  pulled_attachment_sources: ContextSource[];
  context_only_source_count: number;
  attachment_only_source_count: number;
  propagated_attachments: PropagatedAttachment[];
}
