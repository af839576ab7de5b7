import { describe, expect, it } from 'vitest';
import { onEachDatabase } from '../support/databases.ts';
import {
  asked,
  type Chart,
  decision,
  end,
  given,
  human,
  PATIENT,
  remember,
  start,
  subflow,
} from '../support/engine.ts';
import { runRows } from '../support/run-rows.ts';
import { useScene } from './engine-scene.ts';

onEachDatabase((_engine, make) => {
  const scene = useScene(make);
  const engine = () => scene.engine;

  /** A run of whatever is stored, as one from before today's rules would be. */
  const startUnchecked = async (chart: Pick<Chart, 'id' | 'version'>): Promise<number> => {
    const runId = await engine().queue(chart);
    engine().app.services.runtime.wake(runId);
    return runId;
  };
  const memoryOf = async (chart: Chart, name: string): Promise<string> => {
    const { queries } = engine().database;
    const node = await queries
      .selectFrom('flowchart_nodes')
      .innerJoin('memories', 'memories.id', 'flowchart_nodes.ref_id')
      .select('memories.description')
      .where('flowchart_nodes.id', '=', chart.node[name] as number)
      .executeTakeFirstOrThrow();
    return node.description;
  };

  describe('an end', () => {
    it('cancels what is at work or still to come, without effects [FLR-end-terminates]', async () => {
      const guided = { mode: 'llm_guided', additive_prompt: 'HANG', store_mode: 'replace', fallback_enabled: false };
      const chart = await engine().draw(
        { s: start, busy: remember('never', guided), e: end, later: remember('never', { store_mode: 'replace' }) },
        ['s -> busy', 's -> e', 's -> later'],
        { max_parallel_nodes: 2 },
      );
      const before = [await memoryOf(chart, 'busy'), await memoryOf(chart, 'later')];
      const { run, lines } = await engine().run(chart);
      expect([run.status, lines]).toEqual(['completed', ['s succeeded', 'busy canceled', 'e succeeded']]);
      expect([await memoryOf(chart, 'busy'), await memoryOf(chart, 'later')]).toEqual(before);
      await expect
        .poll(() => scene.model.open.now, { ...PATIENT, message: 'the model is no longer waited for' })
        .toBe(0);
    });

    it('may be asked for by a milestone [FLR-milestone-ends-run]', async () => {
      const config = { action: 'mark_complete', terminate_on_complete: true };
      const chart = await engine().draw({ s: start, m: { type: 'milestone', config }, a: given() }, [
        's -> m',
        'm -> a',
      ]);
      const { run, lines } = await engine().run(chart);
      expect([run.status, lines]).toEqual(['completed', ['s succeeded', 'm succeeded']]);
    });
  });

  describe('a connector back to the start', () => {
    const followers = (runId: number) =>
      engine().database.queries.selectFrom('flowchart_runs').selectAll().where('follows_run_id', '=', runId).execute();

    it('completes the run and queues another with the same input [FLR-loop-to-start]', async () => {
      const chart = await engine().draw({ s: start, h: human() }, ['s -> h', 'h -> s']);
      const runId = await engine().start(chart, { input: { round: 'same' } });
      const { one } = await engine().when(runId, chart, ({ lines }) => lines.includes('h waiting'));
      await engine().ask('task.answer', { task_id: one('h').id, answer: 'again' });
      const first = await engine().ended(runId, chart);
      expect([first.run.status, first.lines]).toEqual(['completed', ['s succeeded', 'h succeeded']]);
      const [next, ...others] = await followers(runId);
      expect(others).toEqual([]);
      expect(next).toMatchObject({ cycle: 2, trigger_source: 'loop', input_json: '{"round":"same"}' });
      const second = next?.id as number;
      await engine().when(second, chart, ({ lines }) => lines.includes('h waiting'));
      await engine().ask('run.cancel', { run_id: second });
      expect((await engine().ended(second, chart)).run.status).toBe('stopped');
      expect(await followers(second)).toEqual([]);
    });

    it('leads nowhere once a stop was asked for [FLR-stop-suppresses-loop]', async () => {
      const chart = await engine().draw({ s: start, a: asked('SLOW') }, ['s -> a', 'a -> s']);
      const runId = await engine().start(chart);
      await engine().when(runId, chart, ({ lines }) => lines.includes('a running'));
      await engine().ask('run.cancel', { run_id: runId });
      const { run, lines } = await engine().ended(runId, chart);
      expect([run.status, lines]).toEqual(['stopped', ['s succeeded', 'a succeeded']]);
      expect(await followers(runId)).toEqual([]);
    });
  });

  describe('a loop through the start', () => {
    it('counts its executions over all its runs [FLR-loop-limits]', async () => {
      const chart = await engine().draw({ s: start, t: given({}) }, ['s -> t', 't -> s'], { max_node_executions: 7 });
      const first = await engine().start(chart);
      const { queries } = engine().database;
      const all = () => queries.selectFrom('flowchart_runs').selectAll().where('flowchart_id', '=', chart.id).execute();
      await expect
        .poll(async () => (await all()).map(({ status }) => status), PATIENT)
        .toEqual(['completed', 'completed', 'completed', 'failed']);
      const runs = await all();
      expect(runs.map((run) => run.executions)).toEqual([2, 2, 2, 2]);
      expect(runs.at(-1)).toMatchObject({ error_code: 'max_node_executions', cycle: 4, chain_run_id: first });
    });

    it('is stopped as a whole by canceling any of its runs [FLR-loop-cancel]', async () => {
      const chart = await engine().draw({ s: start, a: asked('SLOW') }, ['s -> a', 'a -> s']);
      const first = await engine().start(chart);
      await engine().ended(first, chart);
      const { applied_action, stop_requested } = await engine().ask('run.cancel', { run_id: first });
      expect([applied_action, stop_requested]).toEqual(['stopping', true]);
      const active = () =>
        engine()
          .database.queries.selectFrom('flowchart_runs')
          .select('id')
          .where('flowchart_id', '=', chart.id)
          .where('finished_at', 'is', null)
          .execute();
      await expect.poll(active, PATIENT).toEqual([]);
    });
  });

  describe('guard rails', () => {
    it('allow exactly max_node_executions and record the next as failed [FLR-max-executions]', async () => {
      const chart = await engine().draw(
        { s: start, a: given(), b: given(), c: given() },
        ['s -> a', 'a -> b', 'b -> c'],
        { max_node_executions: 2 },
      );
      const { run, lines, one } = await engine().run(chart);
      expect([run.status, lines]).toEqual(['failed', ['s succeeded', 'a succeeded', 'b failed']]);
      expect(run).toMatchObject({ error_code: 'max_node_executions', completions: 2 });
      expect(one('b')).toMatchObject({ error_code: 'max_node_executions', output_state_json: null });
      expect(one('b').error).toContain('max_node_executions (2)');
      const enough = await engine().draw({ s: start, a: given() }, ['s -> a'], { max_node_executions: 2 });
      expect((await engine().run(enough)).run.status).toBe('completed');
    });

    it('do not fail a run that is being paused; what is refused is recorded when it goes on [FLR-max-executions]', async () => {
      const chart = await engine().draw({ s: start, a: asked('SLOW'), b: given() }, ['s -> a', 'a -> b'], {
        max_node_executions: 2,
      });
      const runId = await engine().start(chart);
      await engine().when(runId, chart, ({ lines }) => lines.includes('a running'));
      // As another process would ask for it: nobody tells the walker.
      const { queries } = engine().database;
      await queries.updateTable('flowchart_runs').set({ status: 'pausing' }).where('id', '=', runId).execute();
      const paused = await engine().when(runId, chart, ({ run }) => run.status !== 'pausing');
      expect([paused.run.status, paused.lines]).toEqual(['paused', ['s succeeded', 'a succeeded']]);
      expect(paused.run.executions, 'as many as there are').toBe(2);
      await engine().ask('run.resume', { run_id: runId });
      const { run, lines } = await engine().ended(runId, chart);
      expect([run.error_code, lines.at(-1)]).toEqual(['max_node_executions', 'b failed']);
    });

    it('interrupt a run that has worked for longer than max_runtime_minutes [FLR-max-runtime]', async () => {
      const chart = await engine().draw({ s: start, h: human(), a: asked('HANG') }, ['s -> h', 'h -> a'], {
        max_runtime_minutes: 1,
      });
      const runId = await engine().start(chart);
      const { one } = await engine().when(runId, chart, ({ lines, run }) => lines.includes('h waiting') && !run.owner);
      const { queries } = engine().database;
      await queries.updateTable('flowchart_runs').set({ active_ms: 59_800 }).where('id', '=', runId).execute();
      await engine().ask('task.answer', { task_id: one('h').id, answer: 'go' });
      const { run, one: now } = await engine().ended(runId, chart);
      expect(run).toMatchObject({ status: 'failed', error_code: 'max_runtime_minutes' });
      expect(now('a')).toMatchObject({ status: 'failed', error_code: 'max_runtime_minutes' });
      expect(now('a').error).toContain('max_runtime_minutes (1)');
    });

    it('do not count the time in which a run waits for people [FLR-max-runtime]', async () => {
      const chart = await engine().draw({ s: start, h: human() }, ['s -> h']);
      const runId = await engine().start(chart);
      const shelved = await engine().when(runId, chart, ({ lines, run }) => lines.includes('h waiting') && !run.owner);
      const later = performance.now() + 1_000;
      await engine().when(runId, chart, () => performance.now() > later);
      await engine().ask('task.answer', { task_id: shelved.one('h').id, answer: 'at last' });
      const { run } = await engine().ended(runId, chart);
      expect(run.active_ms - shelved.run.active_ms).toBeLessThan(900);
    });

    it('end a node that takes longer than its timeout_seconds [FLR-node-timeout]', async () => {
      const chart = await engine().draw({ s: start, a: asked('HANG', { timeout_seconds: 1 }) }, ['s -> a']);
      const before = performance.now();
      const { run, one } = await engine().run(chart);
      const took = performance.now() - before;
      expect(run.status).toBe('failed');
      expect(['node_timeout', 'llm_timeout']).toContain(one('a').error_code);
      expect(took).toBeGreaterThan(900);
      expect(took).toBeLessThan(10_000);
    });
  });

  describe('a node that waits', () => {
    it('fails once it has waited for longer than its timeout_seconds [FLR-wait-timeout]', async () => {
      // A process that looks after runs, as a hub does.
      await engine().app.services.runtime.start();
      const child = await engine().draw({ s: start, h: human() }, ['s -> h']);
      for (const waiting of [human({ timeout_seconds: 1 }), subflow(child, { timeout_seconds: 1 })]) {
        const chart = await engine().draw({ s: start, w: waiting }, ['s -> w']);
        const { run, one } = await engine().run(chart);
        expect([run.status, one('w').error_code]).toEqual(['failed', 'node_timeout']);
      }
    });
  });

  describe('a node that fails', () => {
    it('keeps what a decision found, so that one sees why nothing matched [FLR-no-match-kept]', async () => {
      const chart = await engine().draw(
        { s: start, d: decision({ yes: 'latest_upstream.output_state.score == 3' }), e: end },
        ['s -> d', 'd -> e yes'],
      );
      const { one } = await engine().run(chart);
      expect(one('d')).toMatchObject({ status: 'failed', error_code: 'decision_no_match' });
      expect(one('d').output.evaluations).toHaveLength(1);
    });

    it('fails the run, and what else is at work is canceled [FLR-failure-fails-run]', async () => {
      const chart = await engine().draw({ s: start, busy: asked('HANG'), bad: asked('PROSE'), next: given() }, [
        's -> busy',
        's -> bad',
        'bad -> next',
      ]);
      const { run, lines, one } = await engine().run(chart);
      expect([run.status, lines]).toEqual(['failed', ['s succeeded', 'busy canceled', 'bad failed']]);
      expect([run.error_code, one('bad').error_code]).toEqual(['llm_validation_error', 'llm_validation_error']);
      expect(run.error).toBe(one('bad').error);
    });

    it('does so by prose where its fallback is off [FLR-failure-fails-run]', async () => {
      const prose = { mode: 'llm_guided', additive_prompt: 'PROSE', retry_count: 0, fallback_enabled: false };
      const chart = await engine().draw({ s: start, m: remember('kept', prose) }, ['s -> m']);
      const { run, one } = await engine().run(chart);
      expect([run.status, one('m').error_code]).toEqual(['failed', 'llm_validation_error']);
    });

    it('says so when its output is too large to hand on [FLR-output-bounded]', async () => {
      const chart = await engine().draw({ s: start, a: asked('HUGE') }, ['s -> a']);
      const { run, one } = await engine().run(chart);
      expect([run.status, one('a').error_code]).toEqual(['failed', 'output_too_large']);
      expect(one('a').output_state_json).toBeNull();
    });

    it('of a type that nobody knows any more fails with a code [FLR-node-type-unknown]', async () => {
      const rows = runRows(engine().database);
      const chart = await rows.flowchart([{ type: 'start' }, { type: 'teleport' }], [{ from: 0, to: 1 }]);
      const names: Chart = {
        id: chart.id,
        version: 1,
        node: { s: chart.nodes[0] as number, t: chart.nodes[1] as number },
        edge: {},
        validation: { valid: false, errors: [], warnings: [] },
      };
      const { run, one } = await engine().ended(await startUnchecked(names), names);
      expect([run.status, run.error_code, one('t').error_code]).toEqual([
        'failed',
        'node_type_unknown',
        'node_type_unknown',
      ]);
      const refused = await engine().refusal('flowchart.run', { flowchart_id: chart.id });
      expect(refused.code).toBe('FLOWCHART_INVALID');
    });

    it('after its effect was prepared leaves no effect [FLR-effect-with-success]', async () => {
      const chart = await engine().draw(
        { s: start, m: remember('never', { route_key: 'nowhere', store_mode: 'replace' }), a: given() },
        ['s -> m', 'm -> a'],
      );
      const { queries } = engine().database;
      const version = queries
        .selectFrom('flowchart_versions')
        .select('graph_json')
        .where('flowchart_id', '=', chart.id)
        .where('version', '=', chart.version);
      const graph = JSON.parse((await version.executeTakeFirstOrThrow()).graph_json);
      for (const edge of graph.edges) if (edge.id === chart.edge['m -> a']) edge.condition_key = 'elsewhere';
      await queries
        .updateTable('flowchart_versions')
        .set({ graph_json: JSON.stringify(graph) })
        .where('flowchart_id', '=', chart.id)
        .where('version', '=', chart.version)
        .execute();
      const before = await memoryOf(chart, 'm');
      const { run, one } = await engine().ended(await startUnchecked(chart), chart);
      expect([run.status, one('m').error_code]).toEqual(['failed', 'route_key_unmatched']);
      expect(await memoryOf(chart, 'm')).toBe(before);
    });

    it('is not needed for a run to fail: a graph without a start says so [FLR-start-missing]', async () => {
      const rows = runRows(engine().database);
      const chart = await rows.flowchart([{ type: 'task' }]);
      const names = {
        id: chart.id,
        version: 1,
        node: {},
        edge: {},
        validation: { valid: false, errors: [], warnings: [] },
      };
      const { run } = await engine().ended(await startUnchecked(names), names);
      expect([run.status, run.error_code]).toEqual(['failed', 'start_node_missing']);
      expect(run.error).toContain('start node');
    });
  });
});

onEachDatabase((_engine, make) => {
  const scene = useScene(make, { withoutModel: true });

  it('without a model nodes fall back or fail, as they are configured [FLR-run-without-model]', async () => {
    const { engine } = scene;
    const guided = { mode: 'llm_guided', retry_count: 3, store_mode: 'replace' };
    const chart = await engine.draw({ s: start, m: remember('plain', guided), a: asked('anything') }, [
      's -> m',
      'm -> a',
    ]);
    const { run, one } = await engine.run(chart);
    expect(one('m')).toMatchObject({ status: 'succeeded', degraded_reason: 'llm_not_configured' });
    expect(one('m').output).toMatchObject({ fallback_used: true, fallback_reason: 'llm_not_configured' });
    expect([run.status, one('a').error_code]).toEqual(['failed', 'llm_not_configured']);
  });
});
