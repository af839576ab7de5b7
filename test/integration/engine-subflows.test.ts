import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { onEachDatabase } from '../support/databases.ts';
import { asked, type Chart, decision, end, given, human, PATIENT, start, subflow } from '../support/engine.ts';
import { useScene } from './engine-scene.ts';

onEachDatabase((name, make) => {
  const scene = useScene(make);
  const engine = () => scene.engine;
  const childrenOf = (runId: number) =>
    engine()
      .database.queries.selectFrom('flowchart_runs')
      .selectAll()
      .where('parent_run_id', '=', runId)
      .orderBy('id')
      .execute();
  const above = (child: Chart, config = {}) =>
    engine().draw({ s: start, f: subflow(child, config), e: end }, ['s -> f', 'f -> e']);

  describe('a subflow', () => {
    it('is waited for, and its output is handed on [FLR-subflow-waits]', async () => {
      const child = await engine().draw({ s: start, a: given({ price: 9 }), e: end }, ['s -> a', 'a -> e']);
      const parent = await engine().draw(
        {
          s: start,
          a: given({ question: 'how much' }),
          f: subflow(child),
          d: decision({ y: 'latest_upstream.output_state.structured_output.price == 9' }),
          e: end,
        },
        ['s -> a', 'a -> f', 'f -> d', 'd -> e y'],
      );
      const { run, one } = await engine().run(parent);
      expect(run.status).toBe('completed');
      const [below, ...others] = await childrenOf(run.id);
      expect(others).toEqual([]);
      expect(below).toMatchObject({
        status: 'completed',
        trigger_source: 'subflow',
        depth: 1,
        parent_node_run_id: one('f').id,
        correlation_id: 'together',
      });
      expect(JSON.parse(below?.input_json ?? '{}').structured_output).toEqual({ question: 'how much' });
      expect(one('f').output).toMatchObject({
        triggered_flowchart_id: child.id,
        triggered_flowchart_run_id: below?.id,
        output: { structured_output: { price: 9 } },
      });
    });

    it('is given the input that its node names [FLR-subflow-waits]', async () => {
      const child = await engine().draw({ s: start }, []);
      const { run } = await engine().run(await above(child, { input: { topic: 'tides' } }));
      expect((await childrenOf(run.id)).map(({ input_json }) => input_json)).toEqual(['{"topic":"tides"}']);
    });

    it('that is not waited for goes on by itself [FLR-subflow-fires]', async () => {
      const child = await engine().draw({ s: start, h: human() }, ['s -> h']);
      const parent = await above(child, { wait: false });
      const { run, one } = await engine().run(parent);
      expect(run.status).toBe('completed');
      const [below] = await childrenOf(run.id);
      const childId = below?.id as number;
      expect(one('f').output).toMatchObject({ triggered_flowchart_run_id: childId });
      const waiting = await engine().when(childId, child, ({ lines }) => lines.includes('h waiting'));
      expect(waiting.run.status).toBe('running');
      await engine().ask('task.answer', { task_id: waiting.one('h').id, answer: 'fine' });
      expect((await engine().ended(childId, child)).run.status).toBe('completed');
    });

    it('that fails fails the node that waited for it [FLR-subflow-fails]', async () => {
      const child = await engine().draw({ s: start, bad: asked('PROSE') }, ['s -> bad']);
      const { run, one } = await engine().run(await above(child));
      expect([run.status, one('f').error_code]).toEqual(['failed', 'subflow_failed']);
      const [below] = await childrenOf(run.id);
      expect(one('f').error).toContain(`Run ${below?.id}`);
    });

    it('is paused and goes on with the run that waits for it [FLR-subflow-pause]', async () => {
      const child = await engine().draw({ s: start, h: human() }, ['s -> h']);
      const chart = await engine().draw({ s: start, f: subflow(child) }, ['s -> f']);
      const runId = await engine().start(chart);
      await engine().when(runId, chart, ({ lines }) => lines.includes('f waiting'));
      const below = async () =>
        engine()
          .database.queries.selectFrom('flowchart_runs')
          .select('status')
          .where('parent_run_id', '=', runId)
          .executeTakeFirst();
      await expect.poll(below, PATIENT).toEqual({ status: 'running' });
      await engine().ask('run.pause', { run_id: runId });
      await expect.poll(below, PATIENT).toEqual({ status: 'paused' });
      await engine().ask('run.resume', { run_id: runId });
      await expect.poll(below, PATIENT).toEqual({ status: 'running' });
      await engine().ask('run.cancel', { run_id: runId, force: true });
    });

    it('that is stopped fails the node that waited for it [FLR-subflow-fails]', async () => {
      const child = await engine().draw({ s: start, h: human() }, ['s -> h']);
      const parent = await above(child);
      const runId = await engine().start(parent);
      await engine().when(runId, parent, ({ lines }) => lines.includes('f waiting'));
      const [below] = await childrenOf(runId);
      await engine().ask('run.cancel', { run_id: below?.id, force: true });
      const { one } = await engine().ended(runId, parent);
      expect(one('f')).toMatchObject({ status: 'failed', error_code: 'subflow_failed' });
    });

    it.each([
      ['canceled', { force: true }],
      ['stopped', {}],
    ])(
      'is canceled with the run above it when that is %s, and the model is hung up on [FLR-subflow-canceled]',
      async (status, more) => {
        const child = await engine().draw({ s: start, a: asked('HANG') }, ['s -> a']);
        const middle = await above(child);
        const parent = await above(middle);
        const runId = await engine().start(parent);
        await engine().when(runId, parent, ({ lines }) => lines.includes('f waiting'));
        await expect.poll(() => scene.model.open.now, PATIENT).toBe(1);
        await engine().ask('run.cancel', { run_id: runId, ...more });
        expect((await engine().ended(runId, parent)).run.status).toBe(status);
        const [below] = await childrenOf(runId);
        const [deepest] = await childrenOf(below?.id as number);
        expect([below?.status, deepest?.status]).toEqual(['canceled', 'canceled']);
        expect((await engine().story(deepest?.id as number, child)).lines).toEqual(['s succeeded', 'a canceled']);
        await expect.poll(() => scene.model.open.now, PATIENT).toBe(0);
      },
    );
  });

  it.runIf(name === 'postgres')(
    'whoever ends a subflow and whoever ends the run above it do not block each other [FLR-subflow-canceled]',
    async () => {
      const { database } = engine();
      const child = await engine().draw({ s: start, a: asked('SLOW'), e: end }, ['s -> a', 'a -> e']);
      const parent = await above(child);
      const runId = await engine().start(parent);
      await engine().when(runId, parent, ({ lines }) => lines.includes('f waiting'));
      const [below] = await childrenOf(runId);
      const childId = below?.id as number;
      await database.transaction(async (trx) => {
        const touch = (id: number) =>
          trx.updateTable('flowchart_runs').set({ request_id: 'touched' }).where('id', '=', id).execute();
        await touch(runId);
        // The end of the subflow has come as far as it can while the run above it is held.
        const isBlocked = async () => {
          const { rows } = await sql<{ count: number }>`select count(*)::int as count from pg_stat_activity
            where datname = current_database() and wait_event_type = 'Lock'`.execute(database.queries);
          return rows[0]?.count;
        };
        await expect.poll(isBlocked, PATIENT).toBe(1);
        await touch(childId);
      });
      expect((await engine().ended(runId, parent)).run.status).toBe('completed');
      expect((await engine().row(childId)).status).toBe('completed');
    },
  );

  describe('subflows of subflows', () => {
    it('may be eight deep and no deeper [FLR-subflow-depth]', async () => {
      let chart = await engine().draw({ s: start, a: given({ found: 'treasure' }), e: end }, ['s -> a', 'a -> e']);
      for (let depth = 1; depth <= 8; depth += 1) chart = await above(chart);
      const deep = await engine().run(chart);
      expect(deep.run.status).toBe('completed');
      const tooDeep = await engine().run(await above(chart));
      expect([tooDeep.run.status, tooDeep.run.error_code]).toEqual(['failed', 'subflow_failed']);
      const refused = await engine()
        .database.queries.selectFrom('flowchart_run_nodes')
        .select('error_code')
        .where('error_code', '=', 'subflow_too_deep')
        .execute();
      expect(refused).toHaveLength(1);
    });

    it('may not lead back to themselves: such a graph does not run [FLR-subflow-no-cycle]', async () => {
      const one = await engine().draw({ s: start }, []);
      const two = await above(one);
      const closed = await engine().redraw(one, { s: start, f: subflow(two) }, ['s -> f']);
      expect(closed.validation.errors.map(({ code }) => code)).toContain('subflow_cycle');
      expect((await engine().refusal('flowchart.run', { flowchart_id: one.id })).code).toBe('FLOWCHART_INVALID');
    });
  });
});
