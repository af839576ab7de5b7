import { expect } from 'vitest';
import type { RunScene, SentGraph } from '../support/run-scene.ts';
import type { Recorded } from '../support/walkers.ts';

const LANES = 3;
/** What a lane does in turn, so that every effect meets every kind of neighbour. */
const KINDS = ['task', 'memory', 'task', 'plan', 'memory', 'task', 'milestone', 'plan'] as const;

type Kind = (typeof KINDS)[number];
type Json = Record<string, unknown>;

export interface EffectRun {
  runId: number;
  refs: Record<'memory' | 'plan' | 'milestone', number>;
  /** Marks that nodes of the kind leave, one each. */
  marks: Record<Kind, string[]>;
  nodes: number;
}

/** A run whose lanes write to one memory, one plan and one milestone, all at once. */
export async function makeEffectRun(scene: RunScene, nodeCount: number): Promise<EffectRun> {
  const refs = await makeRefs(scene);
  const marks: EffectRun['marks'] = { task: [], memory: [], plan: [], milestone: [] };
  const graph: SentGraph = { nodes: [{ client_id: 'start', node_type: 'start', x: 0, y: 0 }], edges: [] };
  const connect = (source: string, target: string) => graph.edges.push({ source, target, edge_mode: 'solid' });
  const lastOf = Array.from({ length: LANES }, () => 'start');
  for (let at = 0; at < nodeCount - 2; at += 1) {
    const lane = at % LANES;
    const kind = KINDS[(Math.floor(at / LANES) + lane * 3) % KINDS.length] as Kind;
    const mark = `mark-${at}`;
    marks[kind].push(mark);
    graph.nodes.push({
      client_id: mark,
      node_type: kind,
      x: at,
      y: lane,
      config: configOf(kind, mark, at),
      ...(kind === 'task' ? {} : { ref_id: refs[kind] }),
    });
    connect(lastOf[lane] as string, mark);
    lastOf[lane] = mark;
  }
  graph.nodes.push({ client_id: 'end', node_type: 'end', x: nodeCount, y: 0 });
  for (const last of lastOf) connect(last, 'end');
  const [runId] = await scene.runs(await scene.flowchart(graph), 1);
  return { runId: runId as number, refs, marks, nodes: nodeCount };
}

function configOf(kind: Kind, mark: string, at: number): Json {
  const plain = { mode: 'deterministic', retry_count: 0, fallback_enabled: false };
  if (kind === 'memory') return { ...plain, action: 'add', store_mode: 'append', text: mark };
  if (kind === 'plan')
    return { ...plain, store_mode: 'append', patch: { stages: [{ name: 'Marks', tasks: [{ name: mark }] }] } };
  if (kind === 'milestone') return { action: 'create_or_update', additive_prompt: mark };
  return { executor: 'static', output: { at } };
}

/** Saving nodes without a memory, plan or milestone makes one for each. */
async function makeRefs({ flowcharts }: RunScene): Promise<EffectRun['refs']> {
  const { flowchart } = await flowcharts.ask('flowchart.create', { name: 'Where the effects go' });
  const nodes = (['memory', 'plan', 'milestone'] as const).map((kind, at) => ({
    client_id: kind,
    node_type: kind,
    x: at,
    y: 0,
    config: configOf(kind, 'first', 0),
  }));
  const start = { client_id: 'start', node_type: 'start', x: 0, y: 9 };
  const saved = await flowcharts.ask('flowchart.save', {
    flowchart_id: flowchart.id,
    nodes: [start, ...nodes],
    edges: [],
  });
  const refOf = (kind: string): number =>
    saved.nodes.find(({ node_type }: { node_type: string }) => node_type === kind).ref_id;
  return { memory: refOf('memory'), plan: refOf('plan'), milestone: refOf('milestone') };
}

/** The run completed, and whatever happened on the way, everything in it happened once. */
export async function expectEverythingOnce({ database }: RunScene, run: EffectRun): Promise<void> {
  const { queries } = database;
  const { runId, refs, marks } = run;
  const row = await queries.selectFrom('flowchart_runs').selectAll().where('id', '=', runId).executeTakeFirstOrThrow();
  expect({ status: row.status, error: row.error, owner: row.owner }).toEqual({
    status: 'completed',
    error: null,
    owner: null,
  });
  expect([row.executions, row.completions]).toEqual([run.nodes, run.nodes]);

  const nodeRuns = await queries
    .selectFrom('flowchart_run_nodes')
    .select(['id', 'sequence', 'flowchart_node_id', 'status', 'completed_order', 'execution_index'])
    .where('flowchart_run_id', '=', runId)
    .orderBy('sequence')
    .execute();
  const countTo = (last: number) => Array.from({ length: last }, (_, at) => at + 1);
  expect(nodeRuns.map(({ sequence }) => sequence)).toEqual(countTo(run.nodes));
  expect(new Set(nodeRuns.map(({ flowchart_node_id }) => flowchart_node_id)).size, 'one activation a node').toBe(
    run.nodes,
  );
  expect(new Set(nodeRuns.map(({ status }) => status))).toEqual(new Set(['succeeded']));
  expect(nodeRuns.map(({ completed_order }) => Number(completed_order)).sort((a, b) => a - b)).toEqual(
    countTo(run.nodes),
  );

  const artifacts = await queries
    .selectFrom('node_artifacts')
    .select(['id', 'flowchart_run_node_id', 'artifact_type', 'payload_json'])
    .where('flowchart_run_id', '=', runId)
    .execute();
  expect(artifacts.map((artifact) => artifact.flowchart_run_node_id).sort((a, b) => a - b)).toEqual(
    nodeRuns.map(({ id }) => id).sort((a, b) => a - b),
  );

  const memory = await queries
    .selectFrom('memories')
    .select('description')
    .where('id', '=', refs.memory)
    .executeTakeFirstOrThrow();
  const lines = memory.description.split('\n').filter((line) => line.startsWith('mark-'));
  expect(lines.sort()).toEqual([...marks.memory].sort());

  const tasks = await queries
    .selectFrom('plan_tasks')
    .innerJoin('plan_stages', 'plan_stages.id', 'plan_tasks.plan_stage_id')
    .select('plan_tasks.name')
    .where('plan_stages.plan_id', '=', refs.plan)
    .execute();
  expect(tasks.map(({ name }) => name).sort()).toEqual([...marks.plan].sort());
  const completedAs = new Map(nodeRuns.map(({ id, completed_order }) => [id, Number(completed_order)]));
  const placeOf = (row: { flowchart_run_node_id: number }) => completedAs.get(row.flowchart_run_node_id) as number;
  const inOrder = artifacts.toSorted((left, right) => placeOf(left) - placeOf(right));
  const payloadsOf = (type: string) =>
    inOrder.filter(({ artifact_type }) => artifact_type === type).map((row) => JSON.parse(row.payload_json ?? '{}'));
  // Adding what is there already only warns: each node must have found its task missing.
  const added = payloadsOf('plan').filter(({ action_results }) => /Added task/.test(JSON.stringify(action_results)));
  expect(added).toHaveLength(marks.plan.length);

  // Each change of the milestone began where the one before it had ended.
  const changes = payloadsOf('milestone') as { before_milestone: Json; milestone: Json }[];
  expect(changes.map(({ milestone }) => milestone.latest_update as string).sort()).toEqual([...marks.milestone].sort());
  for (const [at, { before_milestone }] of changes.entries()) {
    if (at > 0) expect(before_milestone).toEqual(changes[at - 1]?.milestone);
  }
  const milestone = await queries
    .selectFrom('milestones')
    .select('latest_update')
    .where('id', '=', refs.milestone)
    .executeTakeFirstOrThrow();
  expect(milestone.latest_update).toBe(changes.at(-1)?.milestone.latest_update);

  const stream = `flowchart_run:${runId}`;
  const events = await queries
    .selectFrom('events')
    .select(['sequence', 'type', 'payload_json'])
    .where('stream', '=', stream)
    .orderBy('sequence')
    .execute();
  expect(events.map(({ sequence }) => sequence)).toEqual(countTo(events.length));
  const told = events.map(({ type, payload_json }) => {
    const { status, node_run_id, artifact_id, transition } = JSON.parse(payload_json);
    return JSON.stringify([type, status, node_run_id, artifact_id, transition]);
  });
  expect(new Set(told).size, 'nothing is told twice').toBe(told.length);
  // Queued, running and completed; running, succeeded and an artifact for each node.
  expect(told).toHaveLength(3 + 3 * run.nodes);
}

export interface Standing {
  isFinished: boolean;
  succeeded: ReadonlySet<number>;
}

export async function standingOf({ database: { queries } }: RunScene, runId: number): Promise<Standing> {
  const run = await queries
    .selectFrom('flowchart_runs')
    .select('finished_at')
    .where('id', '=', runId)
    .executeTakeFirstOrThrow();
  const succeeded = await queries
    .selectFrom('flowchart_run_nodes')
    .select('id')
    .where('flowchart_run_id', '=', runId)
    .where('status', '=', 'succeeded')
    .execute();
  return { isFinished: run.finished_at !== null, succeeded: new Set(succeeded.map(({ id }) => id)) };
}

/** Node runs of one process whose work was done, and of whose work nothing was committed. */
export function lostWork(recorded: readonly Recorded[], pid: number, after: Standing): number[] {
  return recorded
    .filter((line) => line.pid === pid && line.at === 'done' && !after.succeeded.has(line.node_run_id))
    .map(({ node_run_id }) => node_run_id);
}
