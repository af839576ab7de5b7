import { describe, expect, it } from 'vitest';
import type { RunStatus } from '../../src/database/index.ts';
import { onEachDatabase } from '../support/databases.ts';
import { asked, type Chart, given, PATIENT, start } from '../support/engine.ts';
import { useScene } from './engine-scene.ts';

/** From the status: action → what was applied, and the status then. A dot: nothing changed. */
const MATRIX: Record<string, Record<string, string>> = {
  queued: { cancel: 'stopped', force: 'canceled', pause: 'paused', resume: '. noop', retry: '. noop_active' },
  running: { cancel: 'stopping', force: 'canceled', pause: 'pausing', resume: '. running', retry: '. noop_active' },
  pausing: { cancel: 'stopping', force: 'canceled', pause: '. pausing', resume: 'running', skip: '. noop_active' },
  paused: { cancel: 'stopping', force: 'canceled', pause: '. paused', resume: 'running', rewind: '. noop_active' },
  stopping: { cancel: '. stopping', force: 'canceled', resume: '. noop', retry: '. noop_active' },
  completed: { cancel: '. none', force: '. none', pause: '. noop', resume: '. noop' },
  failed: { cancel: '. none', force: '. none', pause: '. noop', resume: '. noop' },
  stopped: { cancel: '. none', force: '. none', pause: '. noop', resume: '. noop' },
  canceled: { cancel: '. none', force: '. none', pause: '. noop', resume: '. noop' },
};
const CELLS = Object.entries(MATRIX).flatMap(([status, actions]) =>
  Object.entries(actions).map(([action, expected]) => [status, action, expected] as const),
);

onEachDatabase((_engine, make) => {
  const scene = useScene(make);
  const engine = () => scene.engine;

  const insertAs = async (chart: Chart, status: RunStatus): Promise<number> => {
    const runId = await engine().queue(chart);
    const isOver = ['completed', 'failed', 'stopped', 'canceled'].includes(status);
    await engine()
      .database.queries.updateTable('flowchart_runs')
      .set({ status, wakes: 0, finished_at: isOver ? new Date().toISOString() : null })
      .where('id', '=', runId)
      .execute();
    return runId;
  };

  describe('[FLR-control-matrix] what may be asked of a run', () => {
    let chart: Promise<Chart> | undefined;
    const drawn = () => {
      chart ??= engine().draw({ s: start }, []);
      return chart;
    };

    it.each(CELLS)('%s, %s: %s', async (status, action, expected) => {
      const runId = await insertAs(await drawn(), status as RunStatus);
      const answer = await engine().ask('run.control', {
        run_id: runId,
        action: action === 'force' ? 'cancel' : action,
        force: action === 'force',
        ...(action === 'rewind' ? { rewind_to_node_run_id: 1 } : {}),
      });
      const updated = !expected.startsWith('. ');
      const applied = expected.replace('. ', '');
      expect(answer).toMatchObject({
        applied_action: applied,
        updated,
        idempotent: !updated,
        flowchart_run: { status: updated ? applied : status },
        stop_requested: applied === 'stopping',
        canceled: updated && ['canceled', 'stopped'].includes(applied),
        request_id: 'asked',
        correlation_id: 'together',
      });
    });

    it('a run that is being stopped is not paused', async () => {
      const runId = await insertAs(await drawn(), 'stopping');
      const refused = await engine().refusal('run.pause', { run_id: runId });
      expect(refused.code).toBe('CONFLICT');
      expect((await engine().row(runId)).status).not.toBe('pausing');
    });

    it.each(['completed', 'failed', 'stopped', 'canceled'] as const)('a %s run is replayed once', async (status) => {
      const runId = await insertAs(await drawn(), status);
      const first = await engine().ask('run.retry', { run_id: runId });
      expect(first).toMatchObject({ applied_action: 'replay_queued', updated: true });
      const again = await engine().ask('run.retry', { run_id: runId });
      expect(again).toMatchObject({ applied_action: 'replay_existing', updated: false, idempotent: true });
      expect(again.replay_run.id).toBe(first.replay_run.id);
      const another = await engine().ask('run.retry', { run_id: runId, force_new: true });
      expect(another.replay_run.id).not.toBe(first.replay_run.id);
    });

    it('a run of nobody is not found', async () => {
      expect((await engine().refusal('run.cancel', { run_id: 999_999 })).code).toBe('NOT_FOUND');
    });
  });

  describe('a run at work', () => {
    const slow = () => engine().draw({ s: start, a: asked('SLOW'), b: given() }, ['s -> a', 'a -> b']);
    const atWork = async (chart: Chart) => {
      const runId = await engine().start(chart);
      await engine().when(runId, chart, ({ lines }) => lines.includes('a running'));
      return runId;
    };

    it('that is paused finishes the node at work and starts no other; resumed, it goes on [FLR-pause-resume]', async () => {
      const chart = await slow();
      const runId = await atWork(chart);
      await engine().ask('run.pause', { run_id: runId });
      const paused = await engine().when(runId, chart, ({ run }) => run.status === 'paused');
      expect([paused.lines, paused.run.owner, paused.run.executions]).toEqual([
        ['s succeeded', 'a succeeded'],
        null,
        2,
      ]);
      await engine().ask('run.resume', { run_id: runId });
      const { run, lines } = await engine().ended(runId, chart);
      expect([run.status, lines]).toEqual(['completed', ['s succeeded', 'a succeeded', 'b succeeded']]);
    });

    it('that is stopped finishes the node at work and starts no other [FLR-stop]', async () => {
      const chart = await slow();
      const runId = await atWork(chart);
      await engine().ask('run.cancel', { run_id: runId });
      const { run, lines } = await engine().ended(runId, chart);
      expect([run.status, lines]).toEqual(['stopped', ['s succeeded', 'a succeeded']]);
    });

    it('that is canceled by force waits for nothing [FLR-cancel-force]', async () => {
      const chart = await engine().draw({ s: start, a: asked('HANG'), b: given() }, ['s -> a', 'a -> b']);
      const runId = await atWork(chart);
      await expect.poll(() => scene.model.open.now, PATIENT).toBe(1);
      await engine().ask('run.cancel', { run_id: runId, force: true });
      const { run, lines } = await engine().ended(runId, chart);
      expect([run.status, lines]).toEqual(['canceled', ['s succeeded', 'a canceled']]);
      await expect.poll(() => scene.model.open.now, PATIENT).toBe(0);
    });

    it('may be paused before it was begun, and is not lost [FLR-pause-queued]', async () => {
      const chart = await engine().draw({ s: start, a: given() }, ['s -> a']);
      const runId = await engine().queue(chart);
      expect((await engine().ask('run.pause', { run_id: runId })).applied_action).toBe('paused');
      await engine().app.services.runtime.settled(runId);
      expect((await engine().story(runId, chart)).lines).toEqual([]);
      await engine().ask('run.resume', { run_id: runId });
      const { run, lines } = await engine().ended(runId, chart);
      expect([run.status, lines]).toEqual(['completed', ['s succeeded', 'a succeeded']]);
      expect(run.started_at).not.toBeNull();
    });
  });
});
