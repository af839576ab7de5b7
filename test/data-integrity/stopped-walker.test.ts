import { setTimeout as sleep } from 'node:timers/promises';
import { CompiledQuery } from 'kysely';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { ProcessPresence } from '../../src/flowcharts/runtime/process-presence.ts';
import { systemClock } from '../../src/kernel/clock.ts';
import { onEachDatabase, type TestStore } from '../support/databases.ts';
import { openRunScene, type RunScene } from '../support/run-scene.ts';
import { makeWalkers, type Orders, type Recorded, type Walker, type Walkers } from '../support/walkers.ts';
import { type EffectRun, expectEverythingOnce, makeEffectRun } from './crash-scene.ts';

const NODES = 60;
/** Longer than it takes to ask twice whether owners live. */
const ASKED_TWICE_MS = 1_300;
const TAKES_MS = 20_000;
const WALKING: Orders = { nodes: 'slow', runsAtOnce: 1, death: null };

onEachDatabase((engine, makeStore) => {
  let store: TestStore;
  let scene: RunScene;
  let walkers: Walkers;

  beforeAll(async () => {
    store = await makeStore();
    scene = await openRunScene(store);
    walkers = await makeWalkers(store);
  });
  afterAll(async () => {
    await walkers?.remove();
    await store?.remove();
  });

  const linesOf = (walker: Walker, at: Recorded['at']) =>
    walkers.recorded().filter((line) => line.pid === walker.pid && line.at === at);

  /** Walks the run and stops itself between the work of a node and its commit. */
  const stopInTheMiddle = async (run: EffectRun): Promise<Walker> => {
    const walker = walkers.start();
    walker.go({ ...WALKING, death: { how: 'before', after: 12, stops: true } });
    const deadline = Date.now() + TAKES_MS;
    while (linesOf(walker, 'stop').length === 0) {
      expect(Date.now()).toBeLessThan(deadline);
      await sleep(10);
    }
    expect(linesOf(walker, 'begin').every(({ run_id }) => run_id === run.runId)).toBe(true);
    return walker;
  };
  const startOther = async (): Promise<Walker> => {
    const walker = walkers.start();
    walker.go(WALKING);
    return walker;
  };
  const ownership = (run: EffectRun) =>
    scene.database.queries
      .selectFrom('flowchart_runs')
      .select(['owner', 'fence', 'completions'])
      .where('id', '=', run.runId)
      .executeTakeFirstOrThrow();

  /** What is known of a process is lost, although it lives. */
  const forgetPresence = async (pid: number): Promise<void> => {
    const { queries } = scene.database;
    if (engine === 'sqlite') {
      await queries.deleteFrom('processes').where('pid', '=', pid).execute();
      return;
    }
    const ended = await queries.executeQuery(
      CompiledQuery.raw(
        `select pg_terminate_backend(held.pid) from pg_locks held, processes known
        where held.locktype = 'advisory' and known.pid = $1 and
          ((held.classid::bigint << 32) | held.objid::bigint) =
            hashtextextended('flowright-process:' || known.process_id, 0)`,
        [pid],
      ),
    );
    expect(ended.rows).toHaveLength(1);
  };

  it('[FLR-stopped-keeps-its-run] a process that is only stopped keeps its run, while another walks beside it', async () => {
    const run = await makeEffectRun(scene, NODES);
    const stopped = await stopInTheMiddle(run);
    const before = await ownership(run);
    const others = await makeEffectRun(scene, NODES);
    const other = await startOther();
    await scene.ended([others.runId], TAKES_MS);
    await sleep(ASKED_TWICE_MS);
    expect(await ownership(run)).toEqual(before);
    stopped.signal('SIGCONT');
    await scene.ended([run.runId], TAKES_MS);
    await Promise.all([stopped.end(), other.end()]);
    expect(linesOf(other, 'begin').filter(({ run_id }) => run_id === run.runId)).toEqual([]);
    expect(linesOf(stopped, 'begin')).toHaveLength(NODES);
    await expectEverythingOnce(scene, run);
    await expectEverythingOnce(scene, others);
  });

  it('[FLR-fenced] whoever wakes up after its run was taken over can change nothing', async () => {
    const run = await makeEffectRun(scene, NODES);
    const stopped = await stopInTheMiddle(run);
    const { fence } = await ownership(run);
    const begunBefore = linesOf(stopped, 'begin').length;
    const other = await startOther();
    await forgetPresence(stopped.pid);
    const deadline = Date.now() + TAKES_MS;
    while ((await ownership(run)).fence === fence && Date.now() < deadline) await sleep(10);
    // Both believe that it is theirs.
    stopped.signal('SIGCONT');
    await scene.ended([run.runId], TAKES_MS);
    await Promise.all([stopped.end(), other.end()]);
    expect((await ownership(run)).fence).toBe(fence + 1);
    expect(linesOf(stopped, 'begin'), 'it begins nothing more').toHaveLength(begunBefore);
    expect(linesOf(other, 'begin').length).toBeGreaterThan(NODES / 2);
    await expectEverythingOnce(scene, run);
  });

  it.runIf(engine === 'postgres')(
    '[FLR-connections-lost] a run survives that the server drops every connection of its process',
    async () => {
      const run = await makeEffectRun(scene, NODES);
      const walker = await startOther();
      const dropAll = CompiledQuery.raw(
        `select pg_terminate_backend(pid) from pg_stat_activity
        where datname = current_database() and application_name = 'walker'`,
      );
      const isOver = scene.ended([run.runId], 2 * TAKES_MS).then(() => true);
      let drops = 0;
      while (!(await Promise.race([isOver, sleep(150).then(() => false)]))) {
        if (drops >= 6 || linesOf(walker, 'begin').length === 0) continue;
        await scene.database.queries.executeQuery(dropAll);
        drops += 1;
      }
      await walker.end();
      expect(drops).toBeGreaterThanOrEqual(3);
      await expectEverythingOnce(scene, run);
    },
  );

  it.runIf(engine === 'postgres')(
    '[FLR-presence-renewed] a process whose session was dropped is known to be there again',
    async () => {
      const dropped = new ProcessPresence(scene.database, systemClock, 'test');
      const observer = new ProcessPresence(await store.open(), systemClock, 'test');
      await dropped.announce();
      await dropped.renew();
      expect(await observer.isPresent(dropped.id)).toBe(true);
      await forgetPresence(process.pid);
      await expect.poll(() => observer.isPresent(dropped.id)).toBe(false);
      await dropped.renew();
      expect(await observer.isPresent(dropped.id)).toBe(true);
      await dropped.leave();
      expect(await observer.isPresent(dropped.id)).toBe(false);
    },
  );
});
