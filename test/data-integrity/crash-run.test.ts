import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { onEachDatabase, type TestStore } from '../support/databases.ts';
import { openRunScene, type RunScene } from '../support/run-scene.ts';
import { type DeathPlace, makeWalkers, type Orders, type Walker, type Walkers } from '../support/walkers.ts';
import { expectEverythingOnce, lostWork, makeEffectRun, standingOf } from './crash-scene.ts';

const SLOW: Orders = { nodes: 'slow', runsAtOnce: 4, death: null };
const DEATHS: (DeathPlace | 'any moment')[] = ['before', 'any moment', 'inside', 'any moment', 'effect', 'after'];
/** A run of 300 nodes has room for so many deaths; more of them are spread over several runs. */
const KILLS_A_RUN = 50;
const NODES_A_KILL = 6;
const SEED = Number(process.env.CRASH_SEED ?? 20_261);

/** A walker that has nothing to die of is killed all the same. */
const PATIENCE_MS = 500;
const LATEST_KILL_MS = 24;
const SPARES = 3;
const TAKES_MS = 30_000;

/** Numbers from 0 to 1 that are the same for the same seed. */
function seeded(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

onEachDatabase((engine, makeStore) => {
  let store: TestStore;
  let scene: RunScene;
  let walkers: Walkers;
  const spares: Walker[] = [];
  const kills = Number(process.env.CRASH_KILLS ?? (engine === 'sqlite' ? KILLS_A_RUN : 10));

  beforeAll(async () => {
    store = await makeStore();
    scene = await openRunScene(store);
    walkers = await makeWalkers(store);
  });
  afterAll(async () => {
    await walkers?.remove();
    await store?.remove();
  });

  /** The next ones are loaded while this one walks. */
  const nextWalker = (): Walker => {
    while (spares.length <= SPARES) spares.push(walkers.start());
    return spares.shift() as Walker;
  };

  /** One life that ends by SIGKILL. */
  const liveAndDie = async (walker: Walker, death: Orders['death'], delay: number): Promise<void> => {
    walker.go({ ...SLOW, death });
    const isOld = walker.line().then(() => sleep(death ? PATIENCE_MS : delay));
    await Promise.race([walker.ended, isOld]);
    walker.signal('SIGKILL');
    expect(await walker.ended).toBe('SIGKILL');
  };

  const killedRun = async (wanted: number, random: () => number) => {
    const run = await makeEffectRun(scene, wanted * NODES_A_KILL);
    const seen = { kills: 0, withLostWork: 0, waits: [] as number[] };
    let before = await standingOf(scene, run.runId);
    while (seen.kills < wanted) {
      const walker = nextWalker();
      const how = DEATHS[Math.floor(random() * DEATHS.length)] as (typeof DEATHS)[number];
      const after = 1 + Math.floor(random() * 3);
      await liveAndDie(walker, how === 'any moment' ? null : { how, after }, random() * LATEST_KILL_MS);
      const standing = await standingOf(scene, run.runId);
      if (standing.isFinished) break;
      seen.kills += 1;
      const record = walkers.recorded();
      if (lostWork(record, walker.pid, standing).length > 0) seen.withLostWork += 1;
      const calls = record.filter(({ pid }) => pid === walker.pid);
      const begun = calls.filter(({ at }) => at === 'begin').map(({ node_run_id }) => node_run_id);
      expect(new Set(begun).size, 'one call a life').toBe(begun.length);
      expect(begun.filter((id) => before.succeeded.has(id))).toEqual([]);
      for (const id of before.succeeded) expect(standing.succeeded).toContain(id);
      const [go, first] = [calls.find(({ at }) => at === 'go'), calls.find(({ at }) => at === 'begin')];
      if (go && first) seen.waits.push(first.ms - go.ms);
      before = standing;
    }
    const last = nextWalker();
    last.go(SLOW);
    await scene.ended([run.runId], TAKES_MS);
    await last.end();
    const again = walkers.recorded().filter(({ pid, at }) => pid === last.pid && at === 'begin');
    expect(again.filter(({ node_run_id }) => before.succeeded.has(node_run_id))).toEqual([]);
    await expectEverythingOnce(scene, run);
    return { ...seen, lives: seen.kills + 1 };
  };

  it(
    `[FLR-crash-run] [FLR-crash-no-second-call] [FLR-crash-recovery-at-once] a run that is killed again and again completes with each effect once (seed ${SEED})`,
    async () => {
      const random = seeded(SEED);
      for (let left = kills; left > 0; left -= KILLS_A_RUN) {
        const wanted = Math.min(left, KILLS_A_RUN);
        const seen = await killedRun(wanted, random);
        expect(seen.kills).toBe(wanted);
        expect(seen.withLostWork, 'killed between the work of a node and its commit').toBeGreaterThanOrEqual(
          wanted / 5,
        );
        expect(seen.waits.length).toBeGreaterThan(wanted / 2);
        expect(Math.max(...seen.waits), 'from the start of a process to the first call').toBeLessThan(
          engine === 'sqlite' ? 1_000 : 2_000,
        );
      }
    },
    60_000 + kills * 2_000,
  );
});
