import { type RunStatus, rows, type Script } from '../../database/index.ts';
import type { CompiledGraph } from './compiled-graph.ts';
import { type Activation, begin, createState, type ScheduleState, succeed } from './scheduler.ts';

/** What is recorded of a node run, as far as the schedule is concerned. */
export interface RecordedNodeRun {
  id: number;
  flowchart_node_id: number;
  sequence: number;
  status: string;
  completed_order: number | null;
  routing_state_json: string | null;
}

export interface RestoredSchedule {
  state: ScheduleState;
  /** Activated and never started, in order. */
  ready: Activation[];
  /** Started and not completed: to be executed again, or still waiting. */
  unfinished: { activation: Activation; node_run_id: number; isWaiting: boolean }[];
  nodeRunIds: Map<number, number>;
  completions: number;
}

/** The record does not fit the graph: a node or connector that it went over is not there. */
export class StoryMismatch extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'StoryMismatch';
  }
}

/** Tells the scheduler the story of the run so far; it ends up where it was. Pure. */
export function restoreSchedule(
  graph: CompiledGraph,
  entryNodeId: number,
  recorded: readonly RecordedNodeRun[],
): RestoredSchedule {
  const state = createState();
  const activations = new Map<number, Activation>();
  const add = (activation: Activation): void => void activations.set(activation.sequence, activation);
  add(begin(graph, state, entryNodeId));
  const completed = recorded
    .filter((row) => row.completed_order !== null)
    .sort((a, b) => (a.completed_order as number) - (b.completed_order as number));
  for (const row of completed) {
    assertSameNode(activations.get(row.sequence), row);
    const routing = JSON.parse(row.routing_state_json ?? '{}') as Record<string, unknown>;
    const step = succeed(graph, state, row.sequence, routing);
    if (step.fault) throw new StoryMismatch(step.fault.message);
    for (const activation of step.activations) add(activation);
    activations.delete(row.sequence);
  }
  const nodeRunIds = new Map<number, number>();
  const unfinished: RestoredSchedule['unfinished'] = [];
  for (const row of recorded) {
    nodeRunIds.set(row.sequence, row.id);
    if (row.status !== 'running' && row.status !== 'waiting' && row.status !== 'queued') continue;
    const activation = activations.get(row.sequence);
    assertSameNode(activation, row);
    activations.delete(row.sequence);
    unfinished.push({ activation, node_run_id: row.id, isWaiting: row.status === 'waiting' });
  }
  const ready = [...activations.values()].sort((a, b) => a.sequence - b.sequence);
  return { state, ready, unfinished, nodeRunIds, completions: completed.length };
}

/** The same number may be another node in a graph that has changed. */
function assertSameNode(activation: Activation | undefined, row: RecordedNodeRun): asserts activation is Activation {
  if (!activation) throw new StoryMismatch(`Node run ${row.id} was never activated.`);
  if (activation.node_id === row.flowchart_node_id) return;
  throw new StoryMismatch(
    `Node run ${row.id} was of node ${row.flowchart_node_id}, where node ${activation.node_id} would be next.`,
  );
}

export function* readRecord(runId: number): Script<RecordedNodeRun[]> {
  return yield* rows<RecordedNodeRun>(
    `select own.id, own.flowchart_node_id, own.sequence, own.status, own.completed_order,
      coalesce(origin.routing_state_json, own.routing_state_json) as routing_state_json
    from flowchart_run_nodes own left join flowchart_run_nodes origin on origin.id = own.reused_from_id
    where own.flowchart_run_id = ? order by own.sequence`,
    runId,
  );
}

/** What the walker has to look at: requests of people, answers, and subflows that have ended. */
export interface News {
  status: RunStatus;
  wakes: number;
  /** What to tell node runs that wait: a person's answer, or an EndedChild. */
  answers: { node_run_id: number; answer: unknown }[];
  /** Node runs that have waited for too long. */
  overdue: number[];
}

/** How a subflow ended, as the node that waited for it is told. */
export interface EndedChild {
  flowchart_run_id: number;
  flowchart_name: string;
  status: RunStatus;
  error: string | null;
  output: unknown;
}

export function* readNews(runId: number, fence: number, now: string): Script<News | null> {
  const [run] = yield* rows<{ status: RunStatus; wakes: number }>(
    'select status, wakes from flowchart_runs where id = ? and fence = ? and finished_at is null',
    runId,
    fence,
  );
  if (!run) return null;
  const answers = yield* rows<{ id: number; answer_json: string }>(
    "select id, answer_json from flowchart_run_nodes where flowchart_run_id = ? and status = 'waiting' and answer_json is not null",
    runId,
  );
  const ended = yield* rows<Omit<EndedChild, 'output'> & { node_run_id: number; output_state_json: string | null }>(
    `select waiting.id as node_run_id, child.id as flowchart_run_id, chart.name as flowchart_name, child.status,
      child.error, coalesce(origin.output_state_json, output.output_state_json) as output_state_json
    from flowchart_runs child
      join flowcharts chart on chart.id = child.flowchart_id
      join flowchart_run_nodes waiting on waiting.id = child.parent_node_run_id and waiting.status = 'waiting'
      left join flowchart_run_nodes output on output.id = child.output_node_run_id
      left join flowchart_run_nodes origin on origin.id = output.reused_from_id
    where child.parent_run_id = ? and child.finished_at is not null`,
    runId,
  );
  const overdue = yield* rows<{ id: number }>(
    "select id from flowchart_run_nodes where flowchart_run_id = ? and status = 'waiting' and wait_until <= ? and answer_json is null",
    runId,
    now,
  );
  if (run.wakes > 0) {
    yield* rows('update flowchart_runs set wakes = wakes - ? where id = ? and fence = ?', run.wakes, runId, fence);
  }
  return {
    ...run,
    overdue: overdue.map(({ id }) => id),
    answers: [
      ...answers.map(({ id, answer_json }) => ({ node_run_id: id, answer: JSON.parse(answer_json) as unknown })),
      ...ended.map(({ node_run_id, output_state_json, ...child }) => {
        const output = output_state_json === null ? null : (JSON.parse(output_state_json) as unknown);
        return { node_run_id, answer: { ...child, output } satisfies EndedChild };
      }),
    ],
  };
}
