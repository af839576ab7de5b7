import { rows, type Script } from '../../database/index.ts';

export type RunEventType = 'flowchart.run.updated' | 'flowchart.node.updated' | 'flowchart:node_artifact:persisted';

/** Holds references; whoever publishes it looks up what they refer to. */
export interface RunEvent {
  type: RunEventType;
  /** As it is stored. */
  payload_json: string;
}

export function streamOf(runId: number): string {
  return `flowchart_run:${runId}`;
}

export function* openStream(runId: number): Script<void> {
  yield* rows('insert into streams (stream, last_sequence, first_sequence) values (?, 0, 1)', streamOf(runId));
}

/**
 * The sequence of a stream has no gap and no repeat, because it goes on from the last event in the transaction that
 * tells the news, and whoever tells news of a run has its row locked. What was pruned is remembered by the stream.
 * Returns the last sequence; who knows it need not have it looked up.
 */
export function* emit(
  runId: number,
  now: string,
  events: readonly RunEvent[],
  known: number | null = null,
): Script<number | null> {
  if (events.length === 0) return known;
  const stream = streamOf(runId);
  let sequence = known ?? Number((yield { sql: LAST_SEQUENCE, values: [stream, stream] })[0]?.sequence ?? 0);
  for (let at = 0; at < events.length; at += EVENTS_A_STATEMENT) {
    const values: (string | number)[] = [];
    const until = Math.min(at + EVENTS_A_STATEMENT, events.length);
    for (let index = at; index < until; index += 1) {
      const { type, payload_json } = events[index] as RunEvent;
      sequence += 1;
      values.push(stream, sequence, `${stream}:${sequence}`, type, payload_json, now);
    }
    yield { sql: INSERT_EVENTS[until - at - 1] as string, values };
  }
  return sequence;
}

const LAST_SEQUENCE = `select coalesce(
  (select max(sequence) from events where stream = ?),
  (select first_sequence - 1 from streams where stream = ?)) as sequence`;

/** One statement for several events; prepared for each number of them. */
const EVENTS_A_STATEMENT = 8;
const INSERT_EVENTS = Array.from(
  { length: EVENTS_A_STATEMENT },
  (_, more) =>
    `insert into events (stream, sequence, event_id, type, payload_json, created_at) values ${Array(more + 1)
      .fill('(?, ?, ?, ?, ?, ?)')
      .join(', ')}`,
);

interface RunIdentity {
  id: number;
  flowchart_id: number;
}

interface NodeRunIdentity {
  id: number;
  flowchart_node_id: number;
  node_type: string;
  execution_index: number;
}

export function runEvent(run: RunIdentity, status: string, more: Record<string, unknown> = {}): RunEvent {
  const payload = { flowchart_id: run.flowchart_id, flowchart_run_id: run.id, status, ...more };
  return { type: 'flowchart.run.updated', payload_json: JSON.stringify(payload) };
}

export function nodeEvent(run: RunIdentity, node: NodeRunIdentity, status: string): RunEvent {
  const payload_json = `${nodeWords(run, node)},"status":"${status}","execution_index":${node.execution_index}}`;
  return { type: 'flowchart.node.updated', payload_json };
}

export function artifactEvent(run: RunIdentity, node: NodeRunIdentity): RunEvent {
  const payload_json = `${nodeWords(run, node)},"artifact_id":${node.id},"artifact_type":${JSON.stringify(node.node_type)}}`;
  return { type: 'flowchart:node_artifact:persisted', payload_json };
}

/** Three of these are written with every step; putting the text together costs half of making an object of it first. */
function nodeWords(run: RunIdentity, node: NodeRunIdentity): string {
  return `{"flowchart_id":${run.flowchart_id},"flowchart_run_id":${run.id},"flowchart_node_id":${node.flowchart_node_id},"flowchart_node_type":${JSON.stringify(node.node_type)},"node_run_id":${node.id}`;
}
