import { describe, expect, it } from 'vitest';
import { onEachDatabase } from '../support/databases.ts';
import { asked, type Chart, decision, end, given, remember, start } from '../support/engine.ts';
import { useScene } from './engine-scene.ts';

onEachDatabase((_engine, make) => {
  const scene = useScene(make);
  const engine = () => scene.engine;
  const EDGES = ['s -> a', 'a -> m', 'm -> bad', 'bad -> e', 'a ..> bad'];
  const nodes = (mark: string) => ({
    s: start,
    a: asked(`COUNT ${mark}`),
    m: remember(mark),
    bad: asked(`FLAKY ${mark}`),
    e: end,
  });
  /** A run that failed at its fourth node, after it had asked a model and remembered something. */
  const failedRun = async (mark: string) => {
    scene.isMended = false;
    const chart = await engine().draw(nodes(mark), EDGES);
    const story = await engine().run(chart, { input: { mark } });
    expect(story.lines).toEqual(['s succeeded', 'a succeeded', 'm succeeded', 'bad failed']);
    scene.isMended = true;
    return { chart, ...story };
  };
  const timesRemembered = async (chart: Chart, mark: string): Promise<number> => {
    const row = await engine()
      .database.queries.selectFrom('flowchart_nodes')
      .innerJoin('memories', 'memories.id', 'flowchart_nodes.ref_id')
      .select('memories.description')
      .where('flowchart_nodes.id', '=', chart.node.m as number)
      .executeTakeFirstOrThrow();
    return row.description.split(mark).length - 1;
  };

  describe('retry', () => {
    it('goes on from the failed node and executes nothing again that had completed [FLR-retry-from-failed]', async () => {
      const { chart, run, one } = await failedRun('mark-retry');
      const { replay_run, warnings } = await engine().ask('run.retry', { run_id: run.id });
      expect(warnings).toEqual([]);
      const replay = await engine().ended(replay_run.id, chart);
      expect(replay.lines).toEqual(['s succeeded', 'a succeeded', 'm succeeded', 'bad succeeded', 'e succeeded']);
      expect(replay.run).toMatchObject({
        status: 'completed',
        replayed_from_run_id: run.id,
        replay_action: 'retry',
        trigger_source: 'replay',
        input_json: run.input_json,
        executions: 5,
      });
      expect(scene.askedFor('COUNT mark-retry')).toBe(1);
      expect(await timesRemembered(chart, 'mark-retry')).toBe(1);
      expect(['s', 'a', 'm'].map((name) => replay.one(name).reused_from_id)).toEqual(
        ['s', 'a', 'm'].map((name) => one(name).id),
      );
    });

    it('shares outputs by reference, and what comes after sees them [FLR-retry-by-reference]', async () => {
      const { chart, run, one } = await failedRun('mark-share');
      const { replay_run } = await engine().ask('run.retry', { run_id: run.id });
      const replay = await engine().ended(replay_run.id, chart);
      expect(['s', 'a', 'm'].map((name) => replay.one(name).output_state_json)).toEqual([null, null, null]);
      const { node_run } = await engine().ask('run.node', { node_run_id: replay.one('bad').id });
      expect(node_run.input_context.latest_upstream).toMatchObject({
        node_run_id: replay.one('m').id,
        output_state: { action: 'add' },
      });
      expect(node_run.input_context.context_only_upstream_nodes).toMatchObject([
        { output_state: { structured_output: one('a').output.structured_output } },
      ]);
      expect(scene.model.requests.at(-1)?.prompt, 'and so does the model').toContain('mark-share');
    });

    it('of a retry refers to the node runs that were executed [FLR-retry-by-reference]', async () => {
      const { chart, run, one } = await failedRun('mark-twice');
      scene.isMended = false;
      const first = await engine().ask('run.retry', { run_id: run.id });
      const failed = await engine().ended(first.replay_run.id, chart);
      expect(failed.run.status).toBe('failed');
      scene.isMended = true;
      const second = await engine().ask('run.retry', { run_id: first.replay_run.id });
      const replay = await engine().ended(second.replay_run.id, chart);
      expect([replay.run.status, replay.one('a').reused_from_id]).toEqual(['completed', one('a').id]);
      expect(scene.askedFor('COUNT mark-twice')).toBe(1);
    });

    it('of a run that had completed begins anew and says which effects come again [FLR-retry-completed]', async () => {
      const chart = await engine().draw({ s: start, m: remember('mark-anew') }, ['s -> m']);
      const { run, one } = await engine().run(chart);
      const { replay_run, warnings } = await engine().ask('run.retry', { run_id: run.id });
      expect(warnings).toMatchObject([{ code: 'effect_repeated', node_run_id: one('m').id }]);
      const replay = await engine().ended(replay_run.id, chart);
      expect(replay.nodes.map(({ reused_from_id }) => reused_from_id)).toEqual([null, null]);
      expect(await timesRemembered(chart, 'mark-anew')).toBe(2);
    });

    it('goes on under the limits that the flowchart has by then [FLR-retry-limits]', async () => {
      const chart = await engine().draw({ s: start, a: given(), b: given() }, ['s -> a', 'a -> b'], {
        max_node_executions: 2,
      });
      const { run } = await engine().run(chart);
      expect(run.error_code).toBe('max_node_executions');
      await engine().ask('flowchart.update', { flowchart_id: chart.id, max_node_executions: 10 });
      const { replay_run } = await engine().ask('run.retry', { run_id: run.id });
      const replay = await engine().ended(replay_run.id, chart);
      expect([replay.run.status, replay.lines.at(-1)]).toEqual(['completed', 'b succeeded']);
    });
  });

  describe('retry with the latest graph', () => {
    it('goes on over a graph that what was done still fits [FLR-retry-latest]', async () => {
      const { chart, run } = await failedRun('mark-latest');
      const mended = await engine().redraw(chart, { ...nodes('mark-latest'), bad: given({ mended: true }) }, EDGES);
      const { replay_run } = await engine().ask('run.retry', { run_id: run.id, graph: 'latest' });
      expect(replay_run.graph_version).toBe(mended.version);
      const replay = await engine().ended(replay_run.id, chart);
      expect(replay.one('bad').output.structured_output).toEqual({ mended: true });
      expect(replay.run.status).toBe('completed');
    });

    it('is refused over one that it does not fit [FLR-retry-latest]', async () => {
      const { chart, run } = await failedRun('mark-unfit');
      const { a: _removed, ...rest } = nodes('mark-unfit');
      await engine().redraw(chart, rest, ['s -> m', 'm -> bad', 'bad -> e']);
      const refused = await engine().refusal('run.retry', { run_id: run.id, graph: 'latest' });
      expect(refused.code).toBe('CONFLICT');
      expect(refused.message).toContain('does not fit');
      const same = await engine().ask('run.retry', { run_id: run.id });
      expect((await engine().ended(same.replay_run.id, chart)).run.status).toBe('completed');
    });
  });

  describe('skip', () => {
    it('takes the failed node as done [FLR-skip]', async () => {
      const { chart, run } = await failedRun('mark-skip');
      const { replay_run } = await engine().ask('run.skip', { run_id: run.id });
      const replay = await engine().ended(replay_run.id, chart);
      expect([replay.run.status, replay.lines.slice(3)]).toEqual(['completed', ['bad succeeded', 'e succeeded']]);
      expect(replay.one('bad')).toMatchObject({ degraded_reason: 'skipped', output: { skipped: true } });
      expect(scene.askedFor('FLAKY mark-skip'), 'only by the first run').toBe(1);
    });

    it('is refused where nothing failed, and of a decision [FLR-skip]', async () => {
      const fine = await engine().draw({ s: start }, []);
      const { run } = await engine().run(fine);
      expect((await engine().refusal('run.skip', { run_id: run.id })).code).toBe('CONFLICT');
      const undecided = await engine().draw({ s: start, d: decision({ y: '' }), e: end }, ['s -> d', 'd -> e y']);
      const failed = await engine().run(undecided);
      expect((await engine().refusal('run.skip', { run_id: failed.run.id })).code).toBe('CONFLICT');
    });
  });

  describe('rewind', () => {
    it('goes back to a node run, and lists the effects that come again [FLR-rewind]', async () => {
      const { chart, run, one } = await failedRun('mark-rewind');
      const answer = await engine().ask('run.rewind', { run_id: run.id, rewind_to_node_run_id: one('m').id });
      expect(answer.rewind_to_node_run_id).toBe(one('m').id);
      expect(answer.warnings).toMatchObject([
        { code: 'effect_repeated', flowchart_node_id: chart.node.m, node_run_id: one('m').id },
      ]);
      expect(answer.replay_run.warnings).toEqual(answer.warnings);
      const replay = await engine().ended(answer.replay_run.id, chart);
      expect(replay.run.status).toBe('completed');
      expect(['s', 'a', 'm', 'bad'].map((name) => replay.one(name).reused_from_id !== null)).toEqual([
        true,
        true,
        false,
        false,
      ]);
      expect(scene.askedFor('COUNT mark-rewind')).toBe(1);
      expect(await timesRemembered(chart, 'mark-rewind')).toBe(2);
    });

    it('asks for a node run of that run [FLR-rewind]', async () => {
      const { run, one } = await failedRun('mark-lost');
      const other = await failedRun('mark-other');
      const stray = { run_id: run.id, rewind_to_node_run_id: other.one('m').id };
      expect((await engine().refusal('run.rewind', stray)).code).toBe('NOT_FOUND');
      const unnamed = await engine().refusal('run.control', { run_id: run.id, action: 'rewind' });
      expect(unnamed.code).toBe('BAD_REQUEST');
      const twice = { run_id: run.id, rewind_to_node_run_id: one('a').id };
      const first = await engine().ask('run.rewind', twice);
      expect((await engine().ask('run.rewind', twice)).replay_run.id).toBe(first.replay_run.id);
      const elsewhere = await engine().ask('run.rewind', { ...twice, rewind_to_node_run_id: one('m').id });
      expect(elsewhere.replay_run.id).not.toBe(first.replay_run.id);
    });
  });
});
