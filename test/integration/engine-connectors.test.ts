import { describe, expect, it } from 'vitest';
import { onEachDatabase } from '../support/databases.ts';
import { asked, type Chart, decision, type Engine, end, given, human, remember, start } from '../support/engine.ts';
import { useScene } from './engine-scene.ts';

/** What the node of this name was given, as the history tells it. */
async function contextOf(engine: Engine, runId: number, chart: Chart, name: string) {
  const { one } = await engine.story(runId, chart);
  return (await engine.ask('run.node', { node_run_id: one(name).id })).node_run.input_context;
}

async function upload(engine: Engine, file_name: string): Promise<number> {
  const { item } = await engine.ask('attachment.upload', { file_name, content_text: `text of ${file_name}` });
  return item.id;
}

onEachDatabase((_engine, make) => {
  const scene = useScene(make);
  const engine = () => scene.engine;

  describe('connectors', () => {
    it('dotted: never trigger, and give what their source said last [S004-dotted-context]', async () => {
      const chart = await engine().draw(
        {
          s: start,
          a: given({ hint: 'blue' }),
          b: given(),
          c: given(),
          late: human(),
          d: decision({ y: 'true' }),
          e: end,
        },
        ['s -> a', 'a -> b', 'b -> d', 'd -> e y', 'a ..> d', 'a ..> c', 's -> late', 'late ..> d', 'late -> c'],
      );
      expect(chart.validation.valid).toBe(true);
      const { run, of } = await engine().run(chart);
      expect([run.status, of('c')]).toEqual(['completed', []]);
      const context = await contextOf(engine(), run.id, chart, 'd');
      expect(context.upstream_nodes.map((each: { node_id: number }) => each.node_id)).toEqual([chart.node.b]);
      expect(context.context_only_upstream_nodes).toMatchObject([
        { node_id: chart.node.a, edge_mode: 'dotted', output_state: { structured_output: { hint: 'blue' } } },
      ]);
    });

    it('dotted: what they give can be decided upon [S004-dotted-context]', async () => {
      const chart = await engine().draw(
        {
          s: start,
          a: given({ hint: 'blue' }),
          b: given(),
          d: decision({ y: 'context_only_upstream_nodes.0.output_state.structured_output.hint == blue' }),
          e: end,
        },
        ['s -> a', 'a -> b', 'b -> d', 'd -> e y', 'a ..> d'],
      );
      expect((await engine().run(chart)).run.status).toBe('completed');
    });

    it('dashed: never trigger, and give files and nothing else [S004-dashed-attachments]', async () => {
      const [one, two] = [await upload(engine(), 'one.txt'), await upload(engine(), 'two.txt')];
      const chart = await engine().draw(
        {
          s: start,
          a: { ...given({ secret: 'unsaid' }), attachment_ids: [one] },
          b: { ...given(), attachment_ids: [two] },
          c: given(),
          d: given(),
        },
        ['s -> a', 'a -> b', 'b -> d', 'a --> d', 'a --> c', 'd -> c', 'b ..> c'],
      );
      const { run, one: only } = await engine().run(chart);
      expect(run.status).toBe('completed');
      expect(only('c').execution_index, 'the dashed connector did not trigger').toBe(1);
      const context = await contextOf(engine(), run.id, chart, 'd');
      expect(context.attachment_only_upstream_nodes).toMatchObject([
        { node_id: chart.node.a, output_state: { attachments: [{ id: one, file_name: 'one.txt' }] } },
      ]);
      expect(JSON.stringify(context.attachment_only_upstream_nodes)).not.toContain('unsaid');
      const files = (name: string) => only(name).output.attachments.map(({ id }: { id: number }) => id);
      expect(files('b'), 'its own, then what a solid connector carries').toEqual([two, one]);
      expect(files('d')).toEqual([two, one]);
    });

    it('dotted: carry no files [S004-dotted-context]', async () => {
      const file = await upload(engine(), 'kept.txt');
      const chart = await engine().draw(
        { s: start, a: { ...given(), attachment_ids: [file] }, w: given(), c: given() },
        ['s -> a', 's -> w', 'a ..> c', 'w -> c'],
      );
      const { one } = await engine().run(chart);
      expect(one('a').output.attachments).toHaveLength(1);
      expect(one('c').output.attachments).toEqual([]);
    });
  });

  describe('a decision', () => {
    const drawn = (conditions: Record<string, string>, config = {}) =>
      engine().draw(
        { s: start, a: given({ n: 7 }), d: decision(conditions, config), x: given(), y: given(), z: given() },
        ['s -> a', 'a -> d', 'd -> x x', 'd -> y y', 'd -> z z'],
      );
    const N = 'latest_upstream.output_state.structured_output.n';

    it('follows every connector whose condition holds [FLR-route-decision]', async () => {
      const { run, lines } = await engine().run(await drawn({ x: `${N} == 7`, y: `${N} == 8`, z: `${N} > 3` }));
      expect(run.status).toBe('completed');
      expect(lines.slice(3)).toEqual(['x succeeded', 'z succeeded']);
    });

    it('follows its fallback alone when none holds [FLR-route-no-match]', async () => {
      const policy = { no_match_policy: 'fallback', fallback_condition_key: 'z' };
      const { run, lines } = await engine().run(await drawn({ x: `${N} == 1`, y: '', z: '' }, policy));
      expect([run.status, lines.slice(3)]).toEqual(['completed', ['z succeeded']]);
    });

    it('fails its run when none holds and nothing says otherwise [FLR-route-no-match]', async () => {
      const { run, one, lines } = await engine().run(await drawn({ x: '', y: '', z: '' }));
      expect([run.status, run.error_code, lines.at(-1)]).toEqual(['failed', 'decision_no_match', 'd failed']);
      expect(one('d')).toMatchObject({ error_code: 'decision_no_match', completed_order: null });
      expect(run.error).toContain('no_match_policy');
    });

    it('lets the branch end when its policy says so [FLR-route-no-match]', async () => {
      const { run, lines } = await engine().run(await drawn({ x: '', y: '', z: '' }, { no_match_policy: 'end' }));
      expect([run.status, lines.at(-1)]).toEqual(['completed', 'd succeeded']);
    });

    it('follows the route that the node before it names [FLR-route-key]', async () => {
      const chart = await engine().draw(
        {
          s: start,
          a: given({ route_key: 'approve' }),
          d: decision({ yes: 'approve', no: 'reject' }),
          y: given(),
          n: given(),
        },
        ['s -> a', 'a -> d', 'd -> y yes', 'd -> n no'],
      );
      const { lines, one } = await engine().run(chart);
      expect(one('a').routing.route_key).toBe('approve');
      expect(lines.slice(3)).toEqual(['y succeeded']);
    });
  });

  describe('what a run leaves', () => {
    it('is one artifact for each node run that succeeded, with its ids [S004-artifact-each-node]', async () => {
      const chart = await engine().draw(
        {
          s: start,
          a: given({}, { request_id: 'req-7', correlation_id: 'cor-7' }),
          m: remember('kept'),
          d: decision({ y: 'true' }),
          bad: asked('PROSE'),
        },
        ['s -> a', 'a -> m', 'm -> d', 'd -> bad y'],
      );
      const { run, nodes, one } = await engine().run(chart);
      expect(run.status).toBe('failed');
      const artifacts = await engine()
        .database.queries.selectFrom('node_artifacts')
        .selectAll()
        .where('flowchart_run_id', '=', run.id)
        .orderBy('id')
        .execute();
      const succeeded = nodes.filter(({ status }) => status === 'succeeded');
      expect(artifacts.map((each) => each.flowchart_run_node_id)).toEqual(succeeded.map(({ id }) => id));
      expect(artifacts.map((each) => each.artifact_type)).toEqual(['start', 'task', 'memory', 'decision']);
      const { items } = await engine().ask('artifact.list', { flowchart_id: chart.id });
      const ids = (name: string) => {
        const item = items.find(
          (each: { flowchart_run_node_id: number }) => each.flowchart_run_node_id === one(name).id,
        );
        return [item.request_id, item.correlation_id];
      };
      expect(ids('a')).toEqual(['req-7', 'cor-7']);
      expect(ids('m')).toEqual([`flowchart-run-${run.id}-node-run-${one('m').id}`, run.correlation_id]);
    });

    it('is a stream of events without a gap, in the order of what happened [S004-events-order]', async () => {
      const chart = await engine().draw({ s: start, a: given(), e: end }, ['s -> a', 'a -> e']);
      const { run } = await engine().run(chart);
      const events = await engine()
        .database.queries.selectFrom('events')
        .selectAll()
        .where('stream', '=', `flowchart_run:${run.id}`)
        .orderBy('sequence')
        .execute();
      expect(events.map(({ sequence }) => sequence)).toEqual(events.map((_, at) => at + 1));
      const names = new Map(Object.entries(chart.node).map(([name, id]) => [id, name]));
      const told = events.map(({ type, payload_json }) => {
        const payload = JSON.parse(payload_json);
        const name = names.get(payload.flowchart_node_id);
        if (type === 'flowchart:node_artifact:persisted') return `${name} artifact`;
        return type === 'flowchart.run.updated' ? `run ${payload.transition}` : `${name} ${payload.status}`;
      });
      expect(told).toEqual([
        'run queued',
        'run started',
        's running',
        's succeeded',
        's artifact',
        'a running',
        'a succeeded',
        'a artifact',
        'e running',
        'e succeeded',
        'e artifact',
        'run completed',
      ]);
    });

    it('has a warning between success and artifact of a node that was degraded [S004-events-order]', async () => {
      const prose = { mode: 'llm_guided', additive_prompt: 'PROSE', retry_count: 0, fallback_enabled: true };
      const chart = await engine().draw({ s: start, m: remember('kept', prose) }, ['s -> m']);
      const { run, one } = await engine().run(chart);
      expect([run.status, one('m').degraded_reason]).toEqual(['completed', 'llm_validation_error']);
      const events = await engine()
        .database.queries.selectFrom('events')
        .select(['type', 'payload_json'])
        .where('stream', '=', `flowchart_run:${run.id}`)
        .orderBy('sequence')
        .execute();
      const types = events.map(({ type, payload_json }) => JSON.parse(payload_json).transition ?? type);
      expect(types.slice(-4)).toEqual([
        'flowchart.node.updated',
        'warning',
        'flowchart:node_artifact:persisted',
        'completed',
      ]);
    });
  });
});
