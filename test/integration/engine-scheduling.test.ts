import { describe, expect, it } from 'vitest';
import { onEachDatabase } from '../support/databases.ts';
import { asked, decision, end, given, human, start } from '../support/engine.ts';
import { useScene } from './engine-scene.ts';

onEachDatabase((_engine, make) => {
  const scene = useScene(make);
  const engine = () => scene.engine;

  describe('a run', () => {
    it('gives its input to the start node and takes its output from what came before the end [FLR-run-input-output]', async () => {
      const chart = await engine().draw({ s: start, a: given({ answer: 42 }), e: end }, ['s -> a', 'a -> e']);
      expect(chart.validation.valid).toBe(true);
      const { run, lines, one } = await engine().run(chart, { input: { topic: 'tides' } });
      expect(lines).toEqual(['s succeeded', 'a succeeded', 'e succeeded']);
      expect(run).toMatchObject({ status: 'completed', executions: 3, completions: 3, owner: null });
      expect(one('s').output.input).toEqual({ topic: 'tides' });
      const shown = await engine().ask('run.show', { run_id: run.id });
      expect(shown.flowchart_run).toMatchObject({
        input: { topic: 'tides' },
        output: { structured_output: { answer: 42 } },
      });
    });

    it('has no output when no end was reached [FLR-run-input-output]', async () => {
      const chart = await engine().draw({ s: start, a: given({ answer: 42 }) }, ['s -> a']);
      const { run } = await engine().run(chart);
      expect(run).toMatchObject({ status: 'completed', output_node_run_id: null });
      expect((await engine().ask('run.show', { run_id: run.id })).flowchart_run.output).toBeNull();
    });

    it('begins at the node it is told to, without upstream and whatever its fan-in [FLR-entry-override]', async () => {
      const chart = await engine().draw({ s: start, a: given(), b: given(), j: given(), e: end }, [
        's -> a',
        's -> b',
        'a -> j',
        'b -> j',
        'j -> e',
      ]);
      const { run, lines, one } = await engine().run(chart, { start_node_id: chart.node.j });
      expect([run.status, lines]).toEqual(['completed', ['j succeeded', 'e succeeded']]);
      expect(JSON.parse(one('j').input_context_json)).toEqual({ upstream: [], total: 1 });
      const refused = await engine().refusal('flowchart.run', { flowchart_id: chart.id, start_node_id: 999_999 });
      expect(refused.code).toBe('BAD_REQUEST');
    });

    it('walks the graph that was there when it began, whatever is saved later [FLR-run-pins-graph]', async () => {
      const nodes = { s: start, h: human(), a: given({ version: 1 }) };
      const chart = await engine().draw(nodes, ['s -> h', 'h -> a']);
      const runId = await engine().start(chart);
      const waiting = await engine().when(runId, chart, ({ lines }) => lines.includes('h waiting'));
      await engine().redraw(chart, { ...nodes, a: given({ version: 2 }) }, ['s -> h', 'h -> a']);
      await engine().ask('task.answer', { task_id: waiting.one('h').id, answer: 'done' });
      const { one, run } = await engine().ended(runId, chart);
      expect([one('a').output.structured_output, run.graph_version]).toEqual([{ version: 1 }, chart.version]);
    });
  });

  describe('joins', () => {
    const diamond = ['s -> a', 's -> b', 'a -> j', 'b -> j', 'j -> d', 'd -> e two'];

    it('wait for all parents and receive an entry of each [FLR-fan-in-all]', async () => {
      const chart = await engine().draw(
        { s: start, a: asked('SLOW one'), b: given(), j: given(), d: decision({ two: 'true' }), e: end },
        diamond,
      );
      const { lines, one } = await engine().run(chart);
      expect(lines).toEqual(['s succeeded', 'a succeeded', 'b succeeded', 'j succeeded', 'd succeeded', 'e succeeded']);
      const references = JSON.parse(one('j').input_context_json);
      expect(references.upstream).toEqual([
        [one('a').id, chart.edge['a -> j']],
        [one('b').id, chart.edge['b -> j']],
      ]);
    });

    it('give conditions both entries to look at [FLR-fan-in-all]', async () => {
      const chart = await engine().draw(
        { s: start, a: given({ n: 1 }), b: given({ n: 2 }), d: decision({ two: 'size(upstream_nodes) == 2' }), e: end },
        ['s -> a', 's -> b', 'a -> d', 'b -> d', 'd -> e two'],
      );
      const { one, run } = await engine().run(chart);
      expect([run.status, one('d').output.matched_connector_ids]).toEqual(['completed', ['two']]);
    });

    it('with any run once for each token [FLR-fan-in-any]', async () => {
      const chart = await engine().draw({ s: start, a: given(), b: given(), j: given({}, { fan_in_mode: 'any' }) }, [
        's -> a',
        's -> b',
        'a -> j',
        'b -> j',
      ]);
      const { of } = await engine().run(chart);
      expect(of('j').map(({ execution_index, status }) => [execution_index, status])).toEqual([
        [1, 'succeeded'],
        [2, 'succeeded'],
      ]);
    });

    it('with custom run when so many have delivered [FLR-fan-in-custom]', async () => {
      const chart = await engine().draw(
        {
          s: start,
          a: given(),
          b: given(),
          c: asked('HANG'),
          j: given({}, { fan_in_mode: 'custom', fan_in_custom_count: 2 }),
          e: end,
        },
        ['s -> a', 's -> b', 's -> c', 'a -> j', 'b -> j', 'c -> j', 'j -> e'],
      );
      const { of, one, run } = await engine().run(chart);
      expect(run.status).toBe('completed');
      expect(of('j')).toHaveLength(1);
      expect(JSON.parse(one('j').input_context_json).upstream).toHaveLength(2);
      expect(one('c').status).toBe('canceled');
    });

    it('that never get enough company end the run with a warning that names them [FLR-starved-named]', async () => {
      const chart = await engine().draw(
        { s: start, d: decision({ left: 'true', right: 'false' }), a: given(), b: given(), j: given() },
        ['s -> d', 'd -> a left', 'd -> b right', 'a -> j', 'b -> j'],
      );
      const { run, of } = await engine().run(chart);
      expect([run.status, of('j')]).toEqual(['completed', []]);
      const [warning] = JSON.parse(run.warnings_json);
      expect(warning).toMatchObject({
        code: 'fan_in_starved',
        nodes: [{ node_id: chart.node.j, delivered_by: [chart.node.a], missing: [chart.node.b] }],
      });
      expect(warning.message).toContain(`node ${chart.node.j}`);
      expect((await engine().ask('run.show', { run_id: run.id })).flowchart_run.warning_count).toBe(1);
    });
  });

  describe('branches', () => {
    it('overlap in time [FLR-fan-out-overlaps]', async () => {
      const chart = await engine().draw({ s: start, a: asked('SLOW a'), b: asked('SLOW b') }, ['s -> a', 's -> b']);
      await scene.quiet();
      const { run } = await engine().run(chart);
      expect([run.status, scene.model.open.most]).toEqual(['completed', 2]);
    });

    it('do not wait for each other: a slow one does not hold a fast one [FLR-no-barrier]', async () => {
      const chart = await engine().draw({ s: start, slow: asked('HANG'), a: given(), b: asked('quick'), c: given() }, [
        's -> slow',
        's -> a',
        'a -> b',
        'b -> c',
      ]);
      const runId = await engine().start(chart);
      const { one } = await engine().when(runId, chart, ({ lines }) => lines.includes('c succeeded'));
      expect(one('slow').status).toBe('running');
      await engine().ask('run.cancel', { run_id: runId, force: true });
    });

    it('are never more at work than max_parallel_nodes [FLR-max-parallel]', async () => {
      const names = ['a', 'b', 'c', 'd', 'f'];
      const chart = await engine().draw(
        { s: start, ...Object.fromEntries(names.map((name) => [name, asked(`SLOW ${name}`)])) },
        names.map((name) => `s -> ${name}`),
        { max_parallel_nodes: 2 },
      );
      await scene.quiet();
      const { run, lines } = await engine().run(chart);
      expect([run.status, scene.model.open.most]).toEqual(['completed', 2]);
      expect(lines.slice(1)).toEqual(names.map((name) => `${name} succeeded`));
    });
  });

  it('a run of 1,000 hops keeps what each node run stores of its input small [FLR-input-references]', async () => {
    const chart = await engine().draw(
      {
        s: start,
        a: given({ text: 'x'.repeat(2_000) }, { fan_in_mode: 'any' }),
        b: given({ more: 'y'.repeat(2_000) }),
      },
      ['s -> a', 'a -> b', 'b -> a', 's ..> b'],
      { max_node_executions: 1_000 },
    );
    const { run, nodes } = await engine().run(chart);
    expect(run).toMatchObject({ status: 'failed', error_code: 'max_node_executions', completions: 1_000 });
    const sizes = nodes.map(({ input_context_json }) => input_context_json.length);
    expect(Math.max(...sizes)).toBeLessThan(65_536);
    expect(Math.max(...nodes.map(({ output_state_json }) => output_state_json?.length ?? 0))).toBeLessThan(8_192);
  });
});
