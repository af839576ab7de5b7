import { appendEvent, type Database, type NodeRunStatus, type RunStatus } from '../../src/database/index.ts';
import type { Graph, GraphEdge, GraphNode } from '../../src/flowcharts/graph/model.ts';
import { graphText } from '../../src/flowcharts/graph/versions.ts';
import type { Clock } from '../../src/kernel/clock.ts';

type Json = Record<string, unknown>;
type Reference = [nodeRunId: number, edgeId: number];

const AT = '2030-01-01T00:00:00.000Z';

export function graphNode(id: number, node_type: string, title: string | null = null): GraphNode {
  return {
    id,
    node_type,
    title,
    ref_id: null,
    x: 0,
    y: 0,
    config: {},
    mcp_server_ids: [],
    attachment_ids: [],
  };
}

export function graphEdge(id: number, source: number, target: number, more: Partial<GraphEdge> = {}): GraphEdge {
  return {
    id,
    source_node_id: source,
    target_node_id: target,
    source_handle_id: null,
    target_handle_id: null,
    edge_mode: 'solid',
    condition_key: null,
    label: null,
    control_points: [],
    control_point_style: 'hard',
    ...more,
  };
}

export interface NodeRunOptions {
  type?: string;
  sequence: number;
  index?: number;
  status?: NodeRunStatus;
  references?: { upstream?: Reference[]; dotted?: Reference[]; dashed?: Reference[]; total?: number };
  output?: Json | null;
  routing?: Json | null;
  reusedFrom?: number;
  degraded?: string;
  error?: string;
  wait?: Json;
  startedAt?: string;
  finishedAt?: string | null;
}

export interface ArtifactOptions {
  flowchart: number;
  node: number;
  run: number;
  nodeRun: number;
  type: string;
  ref?: number;
  payload?: Json;
  expiresAt?: string;
  requestId?: string;
  correlationId?: string;
  at?: string;
}

/** Rows as the engine leaves them, written without it. */
export function runRows(database: Database, clock: Clock = { now: () => new Date(AT) }) {
  const { queries } = database;
  const id = (row: { id: number } | undefined) => (row as { id: number }).id;
  return {
    async vault(vaultId: string): Promise<void> {
      await queries
        .insertInto('vaults')
        .values({ vault_id: vaultId, title: vaultId, starter_revision: -1, created_at: AT })
        .onConflict((conflict) => conflict.doNothing())
        .execute();
    },

    /** A flowchart with nodes of these types, and version 1 of its graph; edges by place in the list of nodes. */
    async flowchart(
      nodes: readonly { type: string; title?: string }[],
      edges: readonly (Partial<GraphEdge> & { from: number; to: number })[] = [],
      vaultId = 'default',
    ): Promise<{ id: number; nodes: number[]; edges: number[] }> {
      const flowchart = id(
        await queries
          .insertInto('flowcharts')
          .values({
            vault_id: vaultId,
            name: 'Release',
            description: null,
            max_node_executions: null,
            max_runtime_minutes: null,
            max_parallel_nodes: 8,
            graph_version: 1,
            created_at: AT,
            updated_at: AT,
          })
          .returning('id')
          .executeTakeFirst(),
      );
      const nodeIds: number[] = [];
      for (const { type, title } of nodes) {
        const row = await queries
          .insertInto('flowchart_nodes')
          .values({
            flowchart_id: flowchart,
            node_type: type,
            ref_id: null,
            title: title ?? null,
            x: 0,
            y: 0,
            config_json: '{}',
            config_contract: 1,
            removed_at: null,
            created_at: AT,
            updated_at: AT,
          })
          .returning('id')
          .executeTakeFirst();
        nodeIds.push(id(row));
      }
      const graph: Graph = {
        nodes: nodes.map(({ type, title }, at) => graphNode(nodeIds[at]!, type, title ?? null)),
        edges: edges.map(({ from, to, ...more }, at) =>
          graphEdge(flowchart * 1_000 + at + 1, nodeIds[from]!, nodeIds[to]!, more),
        ),
      };
      await queries
        .insertInto('flowchart_versions')
        .values({
          flowchart_id: flowchart,
          version: 1,
          ...graphText(graph),
          created_by: 'local',
          created_at: AT,
        })
        .execute();
      return { id: flowchart, nodes: nodeIds, edges: graph.edges.map((edge) => edge.id) };
    },

    async run(
      flowchartId: number,
      more: { status?: RunStatus; vault?: string; input?: unknown; warnings?: Json[]; limit?: number } = {},
    ): Promise<number> {
      // Paused: no engine that opens the same database walks it.
      const status = more.status ?? 'paused';
      const isOver = ['completed', 'failed', 'stopped', 'canceled'].includes(status);
      const row = await queries
        .insertInto('flowchart_runs')
        .values({
          vault_id: more.vault ?? 'default',
          flowchart_id: flowchartId,
          graph_version: 1,
          status,
          entry_node_id: null,
          input_json: more.input === undefined ? null : JSON.stringify(more.input),
          output_node_run_id: null,
          error: status === 'failed' ? 'it broke' : null,
          error_code: status === 'failed' ? 'broken' : null,
          warnings_json: JSON.stringify(more.warnings ?? []),
          trigger_source: 'manual',
          started_by: 'local',
          started_as: 'local',
          parent_run_id: null,
          parent_node_run_id: null,
          depth: 0,
          cycle: 1,
          follows_run_id: null,
          replayed_from_run_id: null,
          replay_action: null,
          max_node_executions: more.limit ?? null,
          max_runtime_minutes: null,
          max_parallel_nodes: 8,
          executions: 0,
          completions: 0,
          active_ms: 0,
          owner: null,
          fence: 0,
          wakes: 0,
          request_id: null,
          correlation_id: null,
          created_at: AT,
          started_at: status === 'queued' ? null : AT,
          finished_at: isOver ? '2030-01-01T00:00:09.000Z' : null,
          updated_at: AT,
        })
        .returning('id')
        .executeTakeFirst();
      return id(row);
    },

    async setRun(runId: number, change: { status?: RunStatus; output_node_run_id?: number; finished_at?: string }) {
      await queries.updateTable('flowchart_runs').set(change).where('id', '=', runId).execute();
    },

    async nodeRun(runId: number, nodeId: number, options: NodeRunOptions): Promise<number> {
      const status = options.status ?? 'succeeded';
      const { upstream = [], dotted = [], dashed = [], total = options.sequence } = options.references ?? {};
      const isOver = status !== 'running' && status !== 'waiting' && status !== 'queued';
      const text = (value: Json | null | undefined) => (value ? JSON.stringify(value) : null);
      const row = await queries
        .insertInto('flowchart_run_nodes')
        .values({
          flowchart_run_id: runId,
          flowchart_node_id: nodeId,
          node_type: options.type ?? 'task',
          sequence: options.sequence,
          execution_index: options.index ?? 1,
          status,
          started_order: options.sequence - 1,
          completed_order: isOver ? options.sequence : null,
          reused_from_id: options.reusedFrom ?? null,
          input_context_json: JSON.stringify({ upstream, dotted, dashed, total }),
          output_state_json: text(options.output),
          routing_state_json: text(options.routing),
          degraded_reason: options.degraded ?? null,
          error: options.error ?? null,
          error_code: options.error ? 'broken' : null,
          wait_json: text(options.wait),
          answer_json: null,
          answered_by: null,
          answered_at: null,
          started_at: options.startedAt ?? AT,
          finished_at:
            options.finishedAt !== undefined ? options.finishedAt : isOver ? '2030-01-01T00:00:01.500Z' : null,
        })
        .returning('id')
        .executeTakeFirst();
      return id(row);
    },

    async artifact(options: ArtifactOptions): Promise<number> {
      const row = await queries
        .insertInto('node_artifacts')
        .values({
          id: options.nodeRun,
          flowchart_id: options.flowchart,
          flowchart_node_id: options.node,
          flowchart_run_id: options.run,
          flowchart_run_node_id: options.nodeRun,
          node_type: options.type,
          artifact_type: options.type,
          ref_id: options.ref ?? null,
          execution_index: 1,
          retention_mode: options.expiresAt ? 'ttl' : 'forever',
          expires_at: options.expiresAt ?? null,
          request_id: options.requestId ?? null,
          correlation_id: options.correlationId ?? null,
          payload_json: options.payload ? JSON.stringify(options.payload) : null,
          created_at: options.at ?? AT,
        })
        .returning('id')
        .executeTakeFirst();
      return id(row);
    },

    async plan(vaultId = 'default'): Promise<number> {
      const row = await queries
        .insertInto('plans')
        .values({
          vault_id: vaultId,
          name: 'Launch',
          description: null,
          completed_at: null,
          created_at: AT,
          updated_at: AT,
        })
        .returning('id')
        .executeTakeFirst();
      return id(row);
    },

    async memory(vaultId = 'default'): Promise<number> {
      const row = await queries
        .insertInto('memories')
        .values({ vault_id: vaultId, title: null, description: 'a fact', created_at: AT, updated_at: AT })
        .returning('id')
        .executeTakeFirst();
      return id(row);
    },

    async milestone(vaultId = 'default'): Promise<number> {
      const row = await queries
        .insertInto('milestones')
        .values({
          vault_id: vaultId,
          name: 'Beta',
          description: null,
          status: 'planned',
          priority: 'medium',
          owner: null,
          completed: 0,
          start_date: null,
          due_date: null,
          progress_percent: 0,
          health: 'green',
          success_criteria: null,
          dependencies: null,
          links: null,
          latest_update: null,
          created_at: AT,
          updated_at: AT,
        })
        .returning('id')
        .executeTakeFirst();
      return id(row);
    },

    /** Appends an event to the stream of the run, as a commit of its own. */
    event(runId: number, type: string, payload: Json = {}): Promise<number> {
      return database.transaction((trx) =>
        appendEvent(trx, clock, {
          stream: `flowchart_run:${runId}`,
          type,
          payload: { flowchart_run_id: runId, ...payload },
        }),
      );
    },
  };
}

export type RunRows = ReturnType<typeof runRows>;
