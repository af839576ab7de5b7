import type { Database } from '../../src/database/index.ts';
import type { GraphNode } from '../../src/flowcharts/graph/model.ts';
import type { NodeExecution, NodeServices, NodeType, Outcome } from '../../src/flowcharts/nodes/node-type.ts';
import type { ContextEntry, InputContext } from '../../src/flowcharts/runtime/input-context.ts';
import { systemClock } from '../../src/kernel/clock.ts';
import { type Llm, LlmError } from '../../src/llm/index.ts';

export function contextEntry(entry: Partial<ContextEntry> = {}): ContextEntry {
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
    ...entry,
  };
}

/** An input with nothing in it but what is given; the last trigger is the latest unless said. */
export function inputContext(input: Partial<InputContext> = {}): InputContext {
  return {
    flowchart: { id: 1, run_id: 1, total_execution_count: 1 },
    node: { id: 2, type: 'memory', execution_index: 1 },
    upstream_nodes: [],
    latest_upstream: input.upstream_nodes?.at(-1) ?? null,
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

/** Nothing is configured, as on a fresh installation. */
export const NO_MODEL: Llm = {
  configured: false,
  complete: async () => {
    throw new LlmError('llm_not_configured', 'No model is configured.');
  },
};

export interface ExecutionOptions {
  vault_id?: string;
  node?: Partial<GraphNode>;
  input?: Partial<InputContext>;
  signal?: AbortSignal;
  services?: Partial<NodeServices>;
}

/** One node run as the engine would hand it to a node, without an engine. */
export function nodeExecution(database: Database, type: NodeType, options: ExecutionOptions = {}): NodeExecution {
  const node: GraphNode = {
    id: 2,
    node_type: type.name,
    title: null,
    ref_id: null,
    x: 0,
    y: 0,
    config: {},
    mcp_server_ids: [],
    attachment_ids: [],
    ...options.node,
  };
  return {
    vault_id: options.vault_id ?? 'default',
    flowchart_id: 1,
    run_id: 1,
    node_run_id: 1,
    execution_index: 1,
    run_input: null,
    node,
    input: inputContext(options.input),
    attachments: [],
    request_id: 'request',
    correlation_id: 'correlation',
    signal: options.signal ?? new AbortController().signal,
    services: {
      database,
      clock: systemClock,
      llm: NO_MODEL,
      attachments: {
        read: async () => {
          throw new Error('no files here');
        },
      },
      ...options.services,
    },
  };
}

/** Executes and commits, as the engine does; a wait is not expected. */
export async function outcomeOf(execution: NodeExecution, type: NodeType): Promise<Outcome> {
  const result = await type.execute(execution);
  if ('done' in result) return result.done;
  if ('commit' in result) return execution.services.database.transaction((trx) => result.commit(trx));
  throw new Error('the node waits');
}
