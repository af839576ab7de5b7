import { randomUUID } from 'node:crypto';
import { rows, type Script } from '../../database/index.ts';

export type RunEventType = 'flowchart.run.updated' | 'flowchart.node.updated' | 'flowchart:node_artifact:persisted';

/** Holds references; whoever publishes it looks up what they refer to. */
export interface RunEvent {
  type: RunEventType;
  payload: Record<string, unknown>;
}

export function streamOf(runId: number): string {
  return `flowchart_run:${runId}`;
}

export function* openStream(runId: number): Script<void> {
  yield* rows('insert into streams (stream, last_sequence, first_sequence) values (?, 0, 1)', streamOf(runId));
}

/** The sequence of a stream has no gap and no repeat, because it is counted in the transaction that tells the news. */
export function* emit(runId: number, now: string, events: readonly RunEvent[]): Script<void> {
  if (events.length === 0) return;
  const stream = streamOf(runId);
  const [head] = yield* rows<{ last_sequence: number }>(
    'update streams set last_sequence = last_sequence + ? where stream = ? returning last_sequence',
    events.length,
    stream,
  );
  let sequence = (head?.last_sequence ?? 0) - events.length;
  for (const { type, payload } of events) {
    sequence += 1;
    yield* rows(
      'insert into events (stream, sequence, event_id, type, payload_json, created_at) values (?, ?, ?, ?, ?, ?)',
      stream,
      sequence,
      randomUUID(),
      type,
      JSON.stringify(payload),
      now,
    );
  }
}

export function runEvent(
  run: { id: number; flowchart_id: number },
  status: string,
  more: Record<string, unknown> = {},
): RunEvent {
  return {
    type: 'flowchart.run.updated',
    payload: { flowchart_id: run.flowchart_id, flowchart_run_id: run.id, status, ...more },
  };
}

export function nodeEvent(
  run: { id: number; flowchart_id: number },
  node: { flowchart_node_id: number; node_type: string; id: number; execution_index: number },
  status: string,
): RunEvent {
  return {
    type: 'flowchart.node.updated',
    payload: {
      flowchart_id: run.flowchart_id,
      flowchart_run_id: run.id,
      flowchart_node_id: node.flowchart_node_id,
      flowchart_node_type: node.node_type,
      node_run_id: node.id,
      status,
      execution_index: node.execution_index,
    },
  };
}
