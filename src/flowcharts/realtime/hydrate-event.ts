import {
  type ArtifactRecord,
  derivedCorrelationId,
  derivedRequestId,
  hydrateArtifacts,
  inChunks,
  type NodeRunState,
  readNodeRuns,
  readStates,
} from '../../artifacts/index.ts';
import type { OutboxEvent, Queries } from '../../database/index.ts';
import { isTerminal, type RunRow } from '../history/run-record.ts';

export const RUN_UPDATED = 'flowchart.run.updated';
export const NODE_UPDATED = 'flowchart.node.updated';
export const ARTIFACT_PERSISTED = 'flowchart:node_artifact:persisted';

/** An event as it is published: what it says at top level, and its place in its stream. */
export interface FlowchartEvent {
  event_type: string;
  stream: string;
  sequence: number;
  event_id: string;
  emitted_at: string;
  flowchart_id: number;
  flowchart_run_id: number;
  flowchart_node_id?: number;
  [field: string]: unknown;
}

/** Who may see it, and in which rooms it is told. */
export interface Published {
  event: FlowchartEvent;
  vault_id: string;
  rooms: string[];
}

export function runStream(runId: number): string {
  return `flowchart_run:${runId}`;
}

type Json = Record<string, unknown>;
type NodeRunRow = Awaited<ReturnType<typeof readNodeRuns>>[number];

interface Looked {
  runs: ReadonlyMap<number, RunRow>;
  nodeRuns: ReadonlyMap<number, NodeRunRow>;
  states: ReadonlyMap<number, NodeRunState>;
  artifacts: ReadonlyMap<number, ArtifactRecord>;
}

/** Stored events hold references; what they point at is read here, for all of them at once. */
export async function hydrateEvents(
  queries: Queries,
  events: readonly OutboxEvent[],
  now: string,
): Promise<Published[]> {
  const ours = events.filter(({ stream }) => stream.startsWith('flowchart_run:'));
  if (ours.length === 0) return [];
  const looked = await lookUp(queries, ours, now);
  return ours.flatMap((event) => {
    const run = looked.runs.get(runIdOf(event));
    return run ? [publish(event, run, looked)] : [];
  });
}

async function lookUp(queries: Queries, events: readonly OutboxEvent[], now: string): Promise<Looked> {
  const ids = (key: string) => [...new Set(events.flatMap(({ payload }) => numberOf(payload[key]) ?? []))];
  const runIds = [...new Set(events.map(runIdOf))];
  const runs = await inChunks(runIds, (chunk) =>
    queries.selectFrom('flowchart_runs').selectAll().where('id', 'in', chunk).execute(),
  );
  const nodeRuns = await readNodeRuns(queries, ids('node_run_id'));
  const artifacts = await inChunks(ids('artifact_id'), (chunk) =>
    queries
      .selectFrom('node_artifacts')
      .selectAll()
      .where('id', 'in', chunk)
      .where((or) => or.or([or('expires_at', 'is', null), or('expires_at', '>', now)]))
      .execute(),
  );
  return {
    runs: byId(runs),
    nodeRuns: byId(nodeRuns),
    states: await readStates(queries, nodeRuns),
    artifacts: byId(await hydrateArtifacts(queries, artifacts)),
  };
}

function publish(event: OutboxEvent, run: RunRow, looked: Looked): Published {
  const { payload, stream, sequence, event_id, type, created_at } = event;
  const flowchart_node_id = numberOf(payload.flowchart_node_id);
  const told = fieldsOf(event, run, looked);
  return {
    vault_id: run.vault_id,
    rooms: [
      `flowchart:${run.flowchart_id}`,
      runStream(run.id),
      ...(flowchart_node_id === undefined ? [] : [`flowchart_node:${flowchart_node_id}`]),
    ],
    event: {
      ...payload,
      flowchart_id: run.flowchart_id,
      flowchart_run_id: run.id,
      ...told,
      event_type: type,
      stream,
      sequence,
      event_id,
      emitted_at: created_at,
    },
  };
}

function fieldsOf(event: OutboxEvent, run: RunRow, looked: Looked): Json {
  switch (event.type) {
    case RUN_UPDATED:
      return runFields(event, run);
    case NODE_UPDATED:
      return nodeFields(event.payload, run, looked);
    case ARTIFACT_PERSISTED:
      return artifactFields(event.payload, run, looked);
    default:
      return {};
  }
}

/** An event tells of one moment: of what came later it must not speak. */
function runFields({ payload, created_at }: OutboxEvent, run: RunRow): Json {
  const status = (payload.status as RunRow['status'] | undefined) ?? run.status;
  return {
    status,
    started_at: status === 'queued' ? null : run.started_at,
    finished_at: isTerminal(status) ? run.finished_at : null,
    updated_at: created_at,
    request_id: payload.request_id ?? run.request_id ?? derivedCorrelationId(run.id),
    correlation_id: payload.correlation_id ?? run.correlation_id ?? derivedCorrelationId(run.id),
  };
}

function nodeFields(payload: Json, run: RunRow, { nodeRuns, states }: Looked): Json {
  const id = numberOf(payload.node_run_id) ?? 0;
  const row = nodeRuns.get(id);
  const status = payload.status ?? row?.status;
  const isOver = status === 'succeeded' || status === 'failed' || status === 'canceled';
  const state = isOver ? states.get(id) : undefined;
  return {
    flowchart_node_id: payload.flowchart_node_id ?? row?.flowchart_node_id,
    flowchart_node_type: payload.flowchart_node_type ?? row?.node_type,
    node_run_id: id,
    status,
    execution_index: payload.execution_index ?? row?.execution_index,
    output_state: state?.output_state ?? null,
    routing_state: state?.routing_state ?? null,
    started_at: row?.started_at ?? null,
    finished_at: isOver ? (row?.finished_at ?? null) : null,
    error: isOver ? (row?.error ?? null) : null,
    ...traceOf(payload, run, id),
  };
}

function artifactFields(payload: Json, run: RunRow, { artifacts, nodeRuns }: Looked): Json {
  const id = numberOf(payload.node_run_id) ?? 0;
  const artifact = artifacts.get(numberOf(payload.artifact_id) ?? 0) ?? null;
  return {
    flowchart_node_type: payload.flowchart_node_type ?? nodeRuns.get(id)?.node_type ?? artifact?.node_type,
    artifact_type: payload.artifact_type ?? artifact?.artifact_type,
    artifact,
    ...(artifact
      ? { request_id: artifact.request_id, correlation_id: artifact.correlation_id }
      : traceOf(payload, run, id)),
  };
}

function traceOf(payload: Json, run: RunRow, nodeRunId: number): Json {
  return {
    request_id: payload.request_id ?? derivedRequestId(run.id, nodeRunId),
    correlation_id: payload.correlation_id ?? run.correlation_id ?? derivedCorrelationId(run.id),
  };
}

function runIdOf({ stream }: OutboxEvent): number {
  return Number(stream.slice('flowchart_run:'.length));
}

function numberOf(value: unknown): number | undefined {
  return typeof value === 'number' ? value : undefined;
}

function byId<T extends { id: number }>(rows: readonly T[]): Map<number, T> {
  return new Map(rows.map((row) => [row.id, row]));
}
