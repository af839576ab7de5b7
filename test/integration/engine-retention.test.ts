import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { tidy } from '../../src/housekeeping.ts';
import { onEachDatabase, type TestStore } from '../support/databases.ts';
import { type Chart, type Engine, given, human, openEngine, start } from '../support/engine.ts';

const DAY_MS = 86_400_000;

onEachDatabase((_engine, make) => {
  describe('what has outlived its time', () => {
    let store: TestStore;
    let engine: Engine;
    let chart: Chart;
    let time = Date.parse('2030-01-01T00:00:00.000Z');

    beforeAll(async () => {
      store = await make();
      const env = { FLOWRIGHT_RETENTION_RUN_DAYS: '30', FLOWRIGHT_RETENTION_EVENT_HOURS: '48' };
      engine = await openEngine(store, { clock: { now: () => new Date(time) }, env });
      chart = await engine.draw({ s: start, a: given({}, { retention_mode: 'forever' }) }, ['s -> a']);
    });
    afterAll(async () => {
      await engine.close();
      await store.remove();
    });
    const tidied = (ms: number) => {
      time += ms;
      return tidy(engine.app.services);
    };
    const count = async (table: 'flowchart_runs' | 'runtime_idempotency_keys'): Promise<number> => {
      const rows = await engine.database.queries.selectFrom(table).select('vault_id').execute();
      return rows.length;
    };
    const isThere = async (runId: number): Promise<boolean> => {
      const { queries } = engine.database;
      const found = await queries.selectFrom('flowchart_runs').select('id').where('id', '=', runId).execute();
      return found.length > 0;
    };
    const leftOf = async (runId: number): Promise<number[]> => {
      const { queries } = engine.database;
      const stream = `flowchart_run:${runId}`;
      const all = await Promise.all([
        queries.selectFrom('flowchart_run_nodes').select('id').where('flowchart_run_id', '=', runId).execute(),
        queries.selectFrom('node_artifacts').select('id').where('flowchart_run_id', '=', runId).execute(),
        queries.selectFrom('events').select('sequence').where('stream', '=', stream).execute(),
        queries.selectFrom('streams').select('stream').where('stream', '=', stream).execute(),
      ]);
      return all.map(({ length }) => length);
    };

    it('is removed: a run with its node runs, artifacts and events [FLR-retention-runs]', async () => {
      const { run } = await engine.run(chart);
      await tidied(29 * DAY_MS);
      expect(await isThere(run.id)).toBe(true);
      expect((await leftOf(run.id))[0]).toBe(2);
      await tidied(2 * DAY_MS);
      expect(await isThere(run.id)).toBe(false);
      expect(await leftOf(run.id)).toEqual([0, 0, 0, 0]);
      expect((await engine.refusal('run.show', { run_id: run.id })).code).toBe('NOT_FOUND');
    });

    it('does not hold a run that has not ended [FLR-retention-runs]', async () => {
      const waits = await engine.draw({ s: start, h: human() }, ['s -> h']);
      const runId = await engine.start(waits);
      const { one } = await engine.when(runId, waits, ({ lines }) => lines.includes('h waiting'));
      await tidied(100 * DAY_MS);
      await engine.ask('task.answer', { task_id: one('h').id, answer: 'still here' });
      expect((await engine.ended(runId, waits)).run.status).toBe('completed');
    });

    it('does not hold a run whose outputs a later one shares, until that one goes too [FLR-retention-shared]', async () => {
      const waits = await engine.draw({ s: start, a: given({ kept: true }), h: human() }, ['s -> a', 'a -> h']);
      const first = await engine.start(waits);
      await engine.when(first, waits, ({ lines }) => lines.includes('h waiting'));
      await engine.ask('run.cancel', { run_id: first });
      await engine.ended(first, waits);
      await tidied(20 * DAY_MS);
      const { replay_run } = await engine.ask('run.retry', { run_id: first });
      const { one } = await engine.when(replay_run.id, waits, ({ lines }) => lines.includes('h waiting'));
      await tidied(20 * DAY_MS);
      expect(await isThere(first)).toBe(true);
      const { node_run } = await engine.ask('run.node', { node_run_id: one('a').id });
      expect(node_run.output_state.structured_output).toEqual({ kept: true });
      await engine.ask('task.answer', { task_id: one('h').id, answer: 'done' });
      await engine.ended(replay_run.id, waits);
      await tidied(31 * DAY_MS);
      await tidied(0);
      expect([await isThere(replay_run.id), await isThere(first)]).toEqual([false, false]);
    });

    it('is many runs, all of them removed at once [FLR-retention-runs]', async () => {
      await Promise.all(Array.from({ length: 120 }, () => engine.queue(chart)));
      await engine.database.queries
        .updateTable('flowchart_runs')
        .set({ status: 'canceled', finished_at: new Date(time).toISOString(), wakes: 0 })
        .where('finished_at', 'is', null)
        .execute();
      await tidied(31 * DAY_MS);
      expect(await count('flowchart_runs')).toBe(0);
    });

    it('is events before their runs, and those that follow are numbered on [FLR-retention-events]', async () => {
      const waits = await engine.draw({ s: start, h: human() }, ['s -> h']);
      const runId = await engine.start(waits);
      const { one } = await engine.when(runId, waits, ({ lines }) => lines.includes('h waiting'));
      await engine.app.services.runtime.settled(runId);
      const before = (await leftOf(runId))[2] as number;
      await tidied(47 * 3_600_000);
      expect((await leftOf(runId))[2]).toBe(before);
      await tidied(2 * 3_600_000);
      expect((await leftOf(runId))[2]).toBe(0);
      await engine.ask('task.answer', { task_id: one('h').id, answer: 'late' });
      await engine.ended(runId, waits);
      const events = await engine.database.queries
        .selectFrom('events')
        .select('sequence')
        .where('stream', '=', `flowchart_run:${runId}`)
        .orderBy('sequence')
        .execute();
      expect(events.map(({ sequence }) => sequence)).toEqual(events.map((_, at) => before + 1 + at));
      expect(events.length).toBeGreaterThan(0);
    });

    it('is keys after a day [FLR-retention-keys]', async () => {
      await tidied(25 * 3_600_000);
      await engine.ask('flowchart.run', { flowchart_id: chart.id, idempotency_key: 'today' });
      await tidied(23 * 3_600_000);
      expect(await count('runtime_idempotency_keys')).toBe(1);
      await tidied(3_600_000);
      expect(await count('runtime_idempotency_keys')).toBe(0);
    });
  });
});
