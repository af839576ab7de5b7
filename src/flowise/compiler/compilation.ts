import type { Issue } from '../../kernel/errors.ts';
import type { NewTool } from '../client/client.ts';
import type { FlowDiff } from '../flow/diff.ts';
import type { FlowData } from '../flow/model.ts';

/** What a list of operations makes of a flow. Nothing was written. */
export interface Compilation {
  /** No errors: neither in the operations nor in the flow that they make. */
  ok: boolean;
  flow_data: FlowData;
  /** Exactly what would be stored, before the stamp of the write. Of an empty list of operations the base itself. */
  flow_data_str: string;
  /** SHA-256 of flow_data_str, and of the tools where there are some (`payloadHash`). */
  payload_hash: string;
  diff: FlowDiff;
  /** One line a change, secrets hidden; `(no changes)` when there is none. */
  diff_summary: string;
  errors: Issue[];
  warnings: Issue[];
  /** Tools to store before the flow; the flow names each by `toolPlaceholder(tool_ref)` until it has an id. */
  tools: { tool_ref: string; tool: NewTool }[];
  /** Connections of which an anchor was found by another rule than its exact name. */
  anchor_metrics: AnchorMetrics;
  /** Names of node types that are not known. */
  missing_node_types: string[];
}

export interface AnchorMetrics {
  total_connections: number;
  exact_name_matches: number;
  fuzzy_fallbacks: number;
  /** 1 when there are no connections. */
  exact_match_rate: number;
  fuzzy_details: { node: string; anchor: string; resolved_to: string; pass: string }[];
}

export function toolPlaceholder(toolRef: string): string {
  return `flowright:tool:${toolRef}`;
}
