import { sql } from 'kysely';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { makeStore, type TestStore } from '../support/databases.ts';
import { done, type InProcessHub, openInProcessHub } from '../support/in-process-hub.ts';
import { lineGraph, openRunScene, type RunScene } from '../support/run-scene.ts';

const LONG = 4_000;
const SHORT = 100;
/** So many short runs are measured together, because one alone is over too soon. */
const SHORT_RUNS = 10;
const ROUNDS = 3;
const COST_LIMIT = 1.5;
const BYTES_LIMIT = 0.1;
const FIRST_NODE_MS = 20;
const REQUESTS = 30;
const ENDS = 2;

let store: TestStore;
let scene: RunScene;
let hub: InProcessHub;

beforeAll(async () => {
  store = await makeStore('sqlite');
  scene = await openRunScene(store);
  hub = await openInProcessHub(store);
});
afterAll(async () => {
  await hub?.close();
  await store?.remove();
});

const lineOf = (nodes: number) => scene.flowchart(lineGraph(nodes - ENDS));

async function walkOne(flowchartId: number): Promise<number> {
  const [runId] = (await scene.runs(flowchartId, 1)) as [number];
  const { runtime } = hub.app.services;
  runtime.wake(runId);
  await runtime.settled(runId);
  return runId;
}

async function storedBytes(): Promise<number> {
  const { rows } = await sql<{ bytes: number }>`select (page_count - freelist_count) * page_size as bytes
    from pragma_page_count(), pragma_freelist_count(), pragma_page_size()`.execute(scene.database.queries);
  return rows[0]?.bytes ?? Number.NaN;
}

/** Milliseconds of the processor: those of the disk are the same for every commit and depend on who else writes. */
async function costOf(work: () => Promise<unknown>): Promise<number> {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}

const medianOf = (values: readonly number[]) => values.toSorted((a, b) => a - b)[values.length >> 1] as number;

it('[FLR-run-cost-linear] a node of a run of 4,000 costs what a node of a run of 100 costs', async () => {
  const [long, short] = [await lineOf(LONG), await lineOf(SHORT)];
  const walkShortRuns = async () => {
    for (let run = 0; run < SHORT_RUNS; run += 1) await walkOne(short);
  };
  await walkShortRuns();
  let best = { inLong: Number.POSITIVE_INFINITY, inShort: 1 };
  // A busy machine may spoil one round, not all.
  for (let round = 0; round < ROUNDS && best.inLong / best.inShort > COST_LIMIT; round += 1) {
    const inShort = (await costOf(walkShortRuns)) / (SHORT * SHORT_RUNS);
    const inLong = (await costOf(() => walkOne(long))) / LONG;
    if (inLong / inShort < best.inLong / best.inShort) best = { inLong, inShort };
  }
  const { inLong, inShort } = best;
  expect(inLong / inShort, `${inLong} ms a node against ${inShort} ms`).toBeLessThanOrEqual(COST_LIMIT);
}, 180_000);

it('[FLR-run-bytes-linear] a node of a long run takes up what a node of a short run takes up, and is told no more', async () => {
  const bytesOf = async (nodes: number) => {
    const flowchartId = await lineOf(nodes);
    const before = await storedBytes();
    const runId = await walkOne(flowchartId);
    const bytes = ((await storedBytes()) - before) / nodes;
    const { status, context } = await scene.database.queries
      .selectFrom('flowchart_runs as run')
      .innerJoin('flowchart_run_nodes as node', 'node.flowchart_run_id', 'run.id')
      .select(['run.status', sql<number>`max(length(node.input_context_json))`.as('context')])
      .where('run.id', '=', runId)
      .groupBy('run.status')
      .executeTakeFirstOrThrow();
    expect(status).toBe('completed');
    return { bytes, context };
  };
  const [short, long] = [await bytesOf(500), await bytesOf(LONG)];
  expect(Math.abs(long.bytes / short.bytes - 1), `${short.bytes} and ${long.bytes} bytes a node`).toBeLessThan(
    BYTES_LIMIT,
  );
  // Three numbers, which may have a digit more.
  expect(long.context).toBeLessThanOrEqual(short.context + 6);
  expect(long.context).toBeLessThan(100);
}, 60_000);

it('[FLR-first-node-at-once] the first node starts within 20 ms of the request', async () => {
  const flowchartId = await lineOf(5);
  await hub.app.services.runtime.start();
  const started = new Map<number, number>();
  const stop = hub.app.services.runtime.onCommit((runId) => {
    if (!started.has(runId)) started.set(runId, performance.now());
  });
  const waits: number[] = [];
  for (let request = -5; request < REQUESTS; request += 1) {
    const sentAt = performance.now();
    const { flowchart_run } = await done(hub.owner.post(`/api/v1/flowcharts/${flowchartId}/run`));
    await hub.app.services.runtime.settled(flowchart_run.id);
    const wait = (started.get(flowchart_run.id) as number) - sentAt;
    if (request >= 0) waits.push(wait);
    const [first] = await scene.database.queries
      .selectFrom('events')
      .select('payload_json')
      .where('stream', '=', `flowchart_run:${flowchart_run.id}`)
      .where('type', '=', 'flowchart.node.updated')
      .orderBy('sequence')
      .execute();
    expect(JSON.parse(first?.payload_json as string).status).toBe('running');
  }
  stop();
  expect(medianOf(waits), `${waits.map(Math.round).join(', ')} ms`).toBeLessThan(FIRST_NODE_MS);
});
