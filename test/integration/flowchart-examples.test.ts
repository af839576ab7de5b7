import { describe, expect, it, onTestFinished } from 'vitest';
import type { App } from '../../src/app.ts';
import type { AnyOperation } from '../../src/operations/index.ts';
import { useStore } from '../data-integrity/library.ts';
import { openTestApp } from '../support/app.ts';
import { onEachDatabase } from '../support/databases.ts';
import type { Payload } from '../support/flowcharts.ts';

onEachDatabase((_engine, makeStore) => {
  const open = async () => {
    const app = await openTestApp(await useStore(makeStore), { examples: true });
    onTestFinished(() => app.close());
    const ask = asker(app);
    const { flowcharts } = await ask('flowchart.list', {});
    /** Starts the example of that name and waits until nothing more happens without a person. */
    const run = async (name: string): Promise<number> => {
      const { id } = flowcharts.find((flowchart: Payload) => flowchart.name === name);
      const { flowchart_run } = await ask('flowchart.run', { flowchart_id: id });
      await app.services.runtime.settled(flowchart_run.id);
      return flowchart_run.id;
    };
    return { app, ask, run };
  };
  const asker =
    (app: App) =>
    async (name: string, input: object): Promise<Payload> => {
      const operation = (await app.catalogue.all()).find((each) => each.name === name) as AnyOperation;
      const principal = await app.principals.local({
        identity: 'local',
        vaultId: 'default',
        narrowTo: null,
        agent: false,
      });
      return app.invoke(operation, { principal, door: 'cli', request_id: 'test', correlation_id: undefined }, input);
    };
  const rows = (app: App, run: number) =>
    app.services.database.queries
      .selectFrom('flowchart_run_nodes')
      .select(['node_type', 'status'])
      .where('flowchart_run_id', '=', run)
      .orderBy('sequence')
      .execute();
  const statusOf = async (app: App, run: number) =>
    app.services.database.queries
      .selectFrom('flowchart_runs')
      .select(['status', 'error'])
      .where('id', '=', run)
      .executeTakeFirstOrThrow();

  describe('[FLR-graph-examples] without a model, an example', () => {
    it('of a memory goes round three times and ends by itself', async () => {
      const { app, run } = await open();
      const id = await run('Memory loop');
      expect(await statusOf(app, id)).toEqual({ status: 'completed', error: null });
      expect((await rows(app, id)).map(({ node_type }) => node_type)).toEqual([
        'start',
        'memory',
        'decision',
        'memory',
        'decision',
        'memory',
        'decision',
        'memory',
        'end',
      ]);
      const { description } = await app.services.database.queries
        .selectFrom('memories')
        .select('description')
        .executeTakeFirstOrThrow();
      expect(description.match(/One more round\./g)).toHaveLength(3);
    });

    it.each([
      [true, 'done'],
      [false, 'in_progress'],
    ])('of a release asks a person and goes on with the answer %s', async (approved, milestone) => {
      const { app, ask, run } = await open();
      const id = await run('Release checklist');
      const { items } = await ask('task.list', {});
      await ask('task.answer', { task_id: items[0].task_id, answer: { approved } });
      await app.services.runtime.settled(id);
      expect(await statusOf(app, id)).toEqual({ status: 'completed', error: null });
      const { queries } = app.services.database;
      const found = await queries.selectFrom('milestones').select('status').executeTakeFirstOrThrow();
      expect(found.status).toBe(milestone);
      const ticked = await queries
        .selectFrom('plan_tasks')
        .select('name')
        .where('completed_at', 'is not', null)
        .execute();
      expect(ticked.map(({ name }) => name).sort()).toEqual(['Freeze the branch', 'Write the notes']);
    });
  });
});
