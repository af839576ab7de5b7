import type { Attachment } from '../../src/attachments/index.ts';
import type { Database } from '../../src/database/index.ts';
import type { GraphNode } from '../../src/flowcharts/graph/model.ts';
import type { NodeExecution } from '../../src/flowcharts/nodes/node-type.ts';
import type { ContextEntry, InputContext } from '../../src/flowcharts/runtime/input-context.ts';
import { systemClock } from '../../src/kernel/clock.ts';
import { silentLog } from '../../src/kernel/log.ts';
import { createLlm, type Llm } from '../../src/llm/index.ts';

/** A node of a graph with this config and nothing else about it. */
export function graphNode(node_type: string, config: Record<string, unknown>, title: string | null = null): GraphNode {
  return { id: 3, node_type, title, ref_id: null, x: 0, y: 0, config, mcp_server_ids: [], attachment_ids: [] };
}

/** One upstream output, as a node sees it. */
export function entry(more: Partial<ContextEntry> = {}): ContextEntry {
  return {
    node_id: 2,
    node_run_id: 20,
    source_edge_id: 5,
    node_type: 'task',
    condition_key: null,
    execution_index: 1,
    output_state: {},
    routing_state: {},
    sequence: 1,
    edge_mode: 'solid',
    ...more,
  };
}

interface ExecutionParts {
  upstream?: ContextEntry[];
  contextOnly?: ContextEntry[];
  run_input?: unknown;
  attachments?: readonly Attachment[];
  files?: Record<number, Buffer>;
  llm?: Llm;
  signal?: AbortSignal;
}

/** What the engine would give to a node, without an engine. Without a model, none is configured. */
export function executionOf(node: GraphNode, parts: ExecutionParts = {}): NodeExecution {
  const { upstream = [], contextOnly = [], attachments = [], files = {} } = parts;
  const input: InputContext = {
    flowchart: { id: 1, run_id: 10, total_execution_count: upstream.length },
    node: { id: node.id, type: node.node_type, execution_index: 1 },
    upstream_nodes: upstream,
    latest_upstream: upstream.reduce<ContextEntry | null>(
      (latest, each) => (latest === null || each.sequence > latest.sequence ? each : latest),
      null,
    ),
    context_only_upstream_nodes: contextOnly,
    dotted_upstream_nodes: contextOnly,
    attachment_only_upstream_nodes: [],
    trigger_sources: [],
    context_only_sources: [],
    pulled_dotted_sources: [],
    attachment_only_sources: [],
    pulled_attachment_sources: [],
    context_only_source_count: contextOnly.length,
    attachment_only_source_count: 0,
    propagated_attachments: [],
  };
  const settings = { llm: null, llm_base_url: null, llm_api_key: null, llm_timeout_seconds: 5 };
  return {
    vault_id: 'default',
    flowchart_id: 1,
    run_id: 10,
    node_run_id: 30,
    execution_index: 1,
    run_input: parts.run_input ?? null,
    node,
    input,
    attachments,
    request_id: 'request-1',
    correlation_id: 'correlation-1',
    signal: parts.signal ?? new AbortController().signal,
    services: {
      // Neither tasks nor decisions touch the database.
      database: undefined as unknown as Database,
      clock: systemClock,
      llm: parts.llm ?? createLlm({ config: settings, environment: {}, log: silentLog }),
      attachments: { read: async ({ id }) => files[id] ?? Buffer.alloc(0) },
    },
  };
}
