import { afterAll, beforeAll, expect, it } from 'vitest';
import { onEachDatabase, type TestStore } from '../support/databases.ts';
import { lineGraph, openRunScene, type RunScene, type SentGraph } from '../support/run-scene.ts';
import { makeWalkers, type Walkers, type Weight } from '../support/walkers.ts';

const TAKES_MS = 40_000;
/** What the settings say unless somebody changes them. */
const RUNS_AT_ONCE = 32;

onEachDatabase((engine, makeStore) => {
  let store: TestStore;
  let scene: RunScene;
  let walkers: Walkers;
  const many = engine === 'sqlite' ? 500 : 100;

  beforeAll(async () => {
    store = await makeStore();
    scene = await openRunScene(store);
    walkers = await makeWalkers(store);
  });
  afterAll(async () => {
    await walkers?.remove();
    await store?.remove();
  });

  const runRows = (runIds: readonly number[]) =>
    scene.database.queries
      .selectFrom('flowchart_runs')
      .select(['id', 'status', 'executions', 'completions', 'fence', 'owner', 'wakes'])
      .where('id', 'in', [...runIds])
      .execute();

  const expectWalkedOnce = async (runIds: readonly number[], nodes: number): Promise<void> => {
    const rows = await runRows(runIds);
    expect(rows).toHaveLength(runIds.length);
    for (const { id, ...row } of rows) {
      const whole = { status: 'completed', executions: nodes, completions: nodes, fence: 1, owner: null, wakes: 0 };
      expect(row, `run ${id}`).toEqual(whole);
    }
  };

  it(`[FLR-many-runs] ${many} runs that wait at once in one process all end, and leave nothing behind in memory`, async () => {
    // The first ones fill what is kept on purpose, such as the pages of the database.
    const warmUp = many * 0.6;
    const runIds = await scene.runs(await scene.flowchart(lineGraph(3)), warmUp + many);
    const walker = walkers.start();
    const marks = [warmUp + many / 5, warmUp + many];
    walker.go({ nodes: 'plain', runsAtOnce: RUNS_AT_ONCE, death: null, wake: runIds, weighAt: marks });
    const weights = JSON.parse((await walker.line()) as string) as Record<string, Weight>;
    await walker.end();
    await expectWalkedOnce(runIds, 5);
    const [early, late] = marks.map((mark) => weights[mark]) as [Weight, Weight];
    expect(late.heapUsed / early.heapUsed, JSON.stringify(weights)).toBeLessThan(1.1);
    expect(late.rss / early.rss, JSON.stringify(weights)).toBeLessThan(1.1);
  });

  it(`[FLR-many-runs] ${many} runs whose nodes are all at work at the same time end`, async () => {
    const runIds = await scene.runs(await scene.flowchart(lineGraph(3)), many);
    const walker = walkers.start();
    walker.go({ nodes: 'slow', runsAtOnce: many, death: null, wake: runIds });
    for (let line = await walker.line(); line === 'begun'; ) line = await walker.line();
    await walker.end();
    await expectWalkedOnce(runIds, 5);
    const calls = walkers.recorded().filter(({ pid, at }) => pid === walker.pid && at === 'begin');
    expect(new Set(calls.map(({ node_run_id }) => node_run_id)).size).toBe(calls.length);
    const ended = new Map<number, number>();
    const done = walkers.recorded().filter(({ pid, at }) => pid === walker.pid && at === 'done');
    for (const { run_id, ms } of done) ended.set(run_id, ms);
    const begun = new Map<number, number>();
    for (const { run_id, ms } of calls) if (!begun.has(run_id)) begun.set(run_id, ms);
    expect(Math.max(...begun.values()), 'the last begins before the first ends').toBeLessThanOrEqual(
      Math.min(...ended.values()),
    );
  });

  it('[FLR-wide-fan-out] one node, then 500 beside each other, then one that waits for all of them', async () => {
    const width = 500;
    const runIds = await scene.runs(await scene.flowchart(fanGraph(width), { max_parallel_nodes: 64 }), 1);
    const walker = walkers.start();
    walker.go({ nodes: 'watched', runsAtOnce: RUNS_AT_ONCE, death: null });
    await scene.ended(runIds, TAKES_MS);
    await walker.end();
    await expectWalkedOnce(runIds, width + 3);
    const joined = await scene.database.queries
      .selectFrom('flowchart_run_nodes')
      .select(['input_context_json', 'started_order'])
      .where('flowchart_run_id', 'in', runIds)
      .where('sequence', '=', width + 2)
      .execute();
    expect(joined).toHaveLength(1);
    const { upstream } = JSON.parse(joined[0]?.input_context_json as string) as { upstream: [number, number][] };
    expect(new Set(upstream.map(([nodeRunId]) => nodeRunId)).size).toBe(width);
    expect(joined[0]?.started_order).toBe(width + 1);
  });

  it('[FLR-shared-queue] two processes that share the queue never walk the same run', async () => {
    const runIds = await scene.runs(await scene.flowchart(lineGraph(3)), many / 2);
    const pair = [walkers.start(), walkers.start()];
    for (const walker of pair) walker.go({ nodes: 'slow', runsAtOnce: 8, death: null });
    await scene.ended(runIds, TAKES_MS);
    await Promise.all(pair.map((walker) => walker.end()));
    await expectWalkedOnce(runIds, 5);
    const walkedBy = new Map<number, Set<number>>();
    for (const { at, run_id, pid } of walkers.recorded()) {
      if (at === 'begin' && runIds.includes(run_id)) walkedBy.set(run_id, (walkedBy.get(run_id) ?? new Set()).add(pid));
    }
    expect([...walkedBy.keys()].sort((a, b) => a - b)).toEqual(runIds);
    expect([...walkedBy.values()].filter(({ size }) => size !== 1)).toEqual([]);
    const pids = new Set([...walkedBy.values()].flatMap((set) => [...set]));
    expect(pids, 'both had a share').toEqual(new Set(pair.map(({ pid }) => pid)));
  });
});

function fanGraph(width: number): SentGraph {
  const task = (client_id: string, at: number) => ({
    client_id,
    node_type: 'task',
    x: at,
    y: 0,
    config: { executor: 'static', output: { at } },
  });
  const middle = Array.from({ length: width }, (_, at) => `m${at}`);
  const connect = (source: string, target: string) => ({ source, target, edge_mode: 'solid' });
  return {
    nodes: [
      { client_id: 'start', node_type: 'start', x: 0, y: 0 },
      ...middle.map(task),
      task('join', width),
      { client_id: 'end', node_type: 'end', x: 0, y: 0 },
    ],
    edges: [
      ...middle.map((name) => connect('start', name)),
      ...middle.map((name) => connect(name, 'join')),
      connect('join', 'end'),
    ],
  };
}
