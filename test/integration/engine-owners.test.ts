import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { onEachDatabase, type TestStore } from '../support/databases.ts';
import {
  asked,
  type Chart,
  type Engine,
  end,
  given,
  human,
  openEngine,
  PATIENT,
  remember,
  start,
} from '../support/engine.ts';
import { type ScriptedModel, useScriptedModel } from '../support/scripted-model.ts';
import { makeWalkers } from '../support/walkers.ts';

onEachDatabase((_engine, make) => {
  let store: TestStore;
  let engines: Engine[];

  beforeEach(async () => {
    store = await make();
    engines = [];
  });
  afterEach(async () => {
    for (const engine of engines) await engine.close();
    await store.remove();
  });
  const open = async (model?: ScriptedModel): Promise<Engine> => {
    const engine = await openEngine(store, model ? { env: model.env } : {});
    engines.push(engine);
    return engine;
  };
  const close = async (engine: Engine): Promise<void> => {
    engines = engines.filter((each) => each !== engine);
    await engine.close();
  };
  const remembered = async (engine: Engine, chart: Chart): Promise<string> => {
    const row = await engine.database.queries
      .selectFrom('flowchart_nodes')
      .innerJoin('memories', 'memories.id', 'flowchart_nodes.ref_id')
      .select('memories.description')
      .where('flowchart_nodes.id', '=', chart.node.m as number)
      .executeTakeFirstOrThrow();
    return row.description;
  };
  const artifactsOf = (engine: Engine, runId: number) =>
    engine.database.queries
      .selectFrom('node_artifacts')
      .select('flowchart_run_node_id')
      .where('flowchart_run_id', '=', runId)
      .execute();

  describe('a task for a person', () => {
    it('survives a restart of the program [FLR-human-survives]', async () => {
      const first = await open();
      const chart = await first.draw({ s: start, h: human(), e: end }, ['s -> h', 'h -> e']);
      const runId = await first.start(chart);
      const { one } = await first.when(runId, chart, ({ lines }) => lines.includes('h waiting'));
      await close(first);
      const second = await open();
      await second.app.services.runtime.start();
      expect((await second.story(runId, chart)).lines, 'nobody asks twice').toEqual(['s succeeded', 'h waiting']);
      await second.ask('task.answer', { task_id: one('h').id, answer: { verdict: 'good' } });
      const { run, lines } = await second.ended(runId, chart);
      expect([run.status, lines]).toEqual(['completed', ['s succeeded', 'h succeeded', 'e succeeded']]);
      const { flowchart_run } = await second.ask('run.show', { run_id: runId });
      expect(flowchart_run.output).toMatchObject({ structured_output: { verdict: 'good' } });
    });

    it('holds no place of others [FLR-human-no-slot]', async () => {
      const engine = await open();
      const chart = await engine.draw(
        { s: start, h: human(), a: given(), b: given() },
        ['s -> h', 's -> a', 'a -> b'],
        { max_parallel_nodes: 1 },
      );
      const runId = await engine.start(chart);
      const { lines, run } = await engine.when(runId, chart, (story) => story.lines.includes('b succeeded'));
      expect([run.status, lines]).toEqual(['running', ['s succeeded', 'h waiting', 'a succeeded', 'b succeeded']]);
      await engine.app.services.runtime.settled(runId);
      expect((await engine.row(runId)).owner, 'nor a process').toBeNull();
    });
  });

  describe('a run', () => {
    it('that a program left on its way out is gone on with by the next [FLR-run-survives]', async () => {
      const model = await useScriptedModel([{ hang: true }, { json: { try: 2 } }]);
      const first = await open(model);
      const chart = await first.draw({ s: start, a: asked('work'), e: end }, ['s -> a', 'a -> e']);
      const runId = await first.start(chart);
      await expect.poll(() => model.requests.length, PATIENT).toBe(1);
      await close(first);
      const second = await open(model);
      expect(await second.row(runId)).toMatchObject({ status: 'running', owner: null });
      await second.app.services.runtime.start();
      const { run, lines, one } = await second.ended(runId, chart);
      expect([run.status, lines]).toEqual(['completed', ['s succeeded', 'a succeeded', 'e succeeded']]);
      expect(one('a').output.structured_output).toEqual({ try: 2 });
    });

    it('whose process was killed is taken over by another, with its effects once [FLR-run-taken-over]', async () => {
      const engine = await open();
      const chart = await engine.draw({ s: start, m: remember('once'), a: given(), e: end }, [
        's -> m',
        'm -> a',
        'a -> e',
      ]);
      const walkers = await makeWalkers(store);
      onTestFinished(() => walkers.remove());
      const runId = await engine.queue(chart);
      const walker = walkers.start();
      walker.go({ nodes: 'slow', runsAtOnce: 1, death: { how: 'before', after: 3 } });
      expect(await walker.ended).toBe('SIGKILL');
      const left = await engine.row(runId);
      expect(left).toMatchObject({ status: 'running', finished_at: null });
      expect(left.owner, 'it could not let go').not.toBeNull();
      const before = performance.now();
      await engine.app.services.runtime.start();
      const { run, lines } = await engine.ended(runId, chart);
      expect(performance.now() - before, 'at once').toBeLessThan(10_000);
      expect(run).toMatchObject({ status: 'completed', fence: left.fence + 1 });
      expect(lines).toEqual(['s succeeded', 'm succeeded', 'a succeeded', 'e succeeded']);
      expect((await remembered(engine, chart)).match(/once/g)).toHaveLength(1);
      expect(await artifactsOf(engine, runId)).toHaveLength(4);
    });

    it('that was taken over takes nothing from its former owner [FLR-fence]', async () => {
      const model = await useScriptedModel([
        { json: { text: 'late' }, delay_ms: 1_500 },
        { json: { text: 'in time' } },
      ]);
      const [former, owner] = [await open(model), await open(model)];
      const guided = { mode: 'llm_guided', additive_prompt: 'what matters', retry_count: 0, fallback_enabled: false };
      const chart = await former.draw({ s: start, m: remember('', guided), e: end }, ['s -> m', 'm -> e']);
      const runId = await former.start(chart);
      await expect.poll(() => model.requests.length, PATIENT).toBe(1);
      // What is done for a process that seems dead.
      await owner.database.queries
        .updateTable('flowchart_runs')
        .set({ owner: null, wakes: 1 })
        .where('id', '=', runId)
        .execute();
      owner.app.services.runtime.wake(runId);
      const { run, lines } = await owner.ended(runId, chart);
      expect([run.status, run.fence]).toEqual(['completed', 2]);
      await former.app.services.runtime.settled(runId);
      await expect.poll(() => model.open.now, PATIENT).toBe(0);
      expect(await owner.story(runId, chart)).toMatchObject({ lines, run });
      const text = await remembered(owner, chart);
      expect([text.includes('in time'), text.includes('late')]).toEqual([true, false]);
      expect(await artifactsOf(owner, runId)).toHaveLength(3);
    });

    it('is under way from the moment it is asked for until it has settled [FLR-settled]', async () => {
      const engine = await open();
      const { runtime } = engine.app.services;
      const chart = await engine.draw({ s: start, a: given(), e: end }, ['s -> a', 'a -> e']);
      // The first run of a process, whose engine is only then loaded, and a later one.
      for (const when of ['first', 'later']) {
        const runId = await engine.start(chart);
        await runtime.settled(runId);
        expect((await engine.row(runId)).status, when).toBe('completed');
        expect(runtime.underWay()).toEqual([]);
      }
      const other = await open();
      const runId = await other.start(chart);
      await other.app.services.runtime.idle();
      expect((await other.row(runId)).status).toBe('completed');
    });

    it('waits in line when a process walks as many as it may [FLR-runs-at-once]', async () => {
      const model = await useScriptedModel([{ hang: true }]);
      const engine = await openEngine(store, { env: { ...model.env, FLOWRIGHT_RUNS_AT_ONCE: '1' } });
      engines.push(engine);
      const busy = await engine.draw({ s: start, a: asked('work') }, ['s -> a']);
      const quick = await engine.draw({ s: start }, []);
      const first = await engine.start(busy);
      await expect.poll(() => model.requests.length, PATIENT).toBe(1);
      const second = await engine.start(quick);
      expect((await engine.row(second)).status).toBe('queued');
      await engine.ask('run.cancel', { run_id: first, force: true });
      expect((await engine.ended(second, quick)).run.status).toBe('completed');
    });
  });
});
