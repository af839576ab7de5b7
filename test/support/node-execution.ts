import type { Attachment } from '../../src/attachments/index.ts';
import type { Database } from '../../src/database/index.ts';
import type { GraphNode } from '../../src/flowcharts/graph/model.ts';
import type { NodeExecution } from '../../src/flowcharts/nodes/node-type.ts';
import { latestOf } from '../../src/flowcharts/runtime/build-context.ts';
import type { ContextEntry, InputContext } from '../../src/flowcharts/runtime/input-context.ts';
import { systemClock } from '../../src/kernel/clock.ts';
import { silentLog } from '../../src/kernel/log.ts';
import { createLlm, type Llm } from '../../src/llm/index.ts';

/** One upstream node run. */
export function entry(given: Partial<ContextEntry> = {}): ContextEntry {
  return {
    node_id: 1,
    node_run_id: 1,
    source_edge_id: 1,
    node_type: 'task',
    condition_key: null,
    execution_index: 1,
    output_state: {},
    routing_state: {},
    sequence: 1,
    edge_mode: 'solid',
    ...given,
  };
}

export function graphNode(
  node_type: string,
  config: Record<string, unknown> = {},
  title: string | null = null,
): GraphNode {
  return {
    id: 3,
    node_type,
    title,
    ref_id: null,
    x: 0,
    y: 0,
    config,
    mcp_server_ids: [],
    attachment_ids: [],
  };
}

/** An input with nothing in it but what is given. */
export function inputContext(input: Partial<InputContext> = {}): InputContext {
  return {
    flowchart: { id: 1, run_id: 1, total_execution_count: 1 },
    node: { id: 2, type: 'memory', execution_index: 1 },
    upstream_nodes: [],
    latest_upstream: latestOf(input.upstream_nodes ?? []),
    context_only_upstream_nodes: [],
    dotted_upstream_nodes: [],
    attachment_only_upstream_nodes: [],
    trigger_sources: [],
    context_only_sources: [],
    pulled_dotted_sources: [],
    attachment_only_sources: [],
    pulled_attachment_sources: [],
    context_only_source_count: 0,
    attachment_only_source_count: 0,
    propagated_attachments: [],
    ...input,
  };
}

const NO_MODEL: Llm = createLlm({
  config: { llm: null, llm_base_url: null, llm_api_key: null, llm_timeout_seconds: 5 },
  environment: {},
  log: silentLog,
});

export interface ExecutionOptions {
  upstream?: ContextEntry[];
  contextOnly?: ContextEntry[];
  run_input?: unknown;
  attachments?: Attachment[];
  /** What attachments hold, by their id. */
  files?: Record<number, Buffer>;
  llm?: Llm;
  database?: Database;
  signal?: AbortSignal;
}

/** One node run as the engine hands it to a node, without an engine. */
export function executionOf(node: GraphNode, options: ExecutionOptions = {}): NodeExecution {
  const { upstream = [], contextOnly = [], attachments = [], files = {} } = options;
  return {
    vault_id: 'default',
    flowchart_id: 1,
    run_id: 1,
    node_run_id: 1,
    execution_index: 1,
    run_input: options.run_input ?? null,
    node,
    input: inputContext({
      node: { id: node.id, type: node.node_type, execution_index: 1 },
      upstream_nodes: upstream,
      context_only_upstream_nodes: contextOnly,
      dotted_upstream_nodes: contextOnly,
      context_only_source_count: contextOnly.length,
    }),
    attachments,
    request_id: 'request',
    correlation_id: 'correlation',
    signal: options.signal ?? new AbortController().signal,
    services: {
      database: options.database as Database,
      clock: systemClock,
      llm: options.llm ?? NO_MODEL,
      attachments: {
        read: async ({ id }) => {
          const content = files[id];
          if (!content) throw new Error(`there is no file ${id}`);
          return content;
        },
      },
    },
  };
}
