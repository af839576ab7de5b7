import { describe, expect, it } from 'vitest';
import type { Database } from '../../src/database/index.ts';
import type { AnyOperation } from '../../src/operations/index.ts';
import { operations } from '../../src/plans/operations.ts';
import { makeVault, useLibrary } from '../data-integrity/library.ts';
import { onEachDatabase } from '../support/databases.ts';
import { invoked, type Payload } from '../support/invoked.ts';
import { runRows } from '../support/run-rows.ts';

const NOW = '2026-01-31T10:00:00.000Z';
const RELEASE = {
  name: 'Release',
  description: 'How we ship',
  stages: [
    { name: 'Build it', tasks: [{ name: 'Write code' }, { name: 'Test' }] },
    { name: 'Ship', tasks: [{ name: 'Test', completed: true }] },
  ],
};

onEachDatabase((_engine, makeStore) => {
  const open = async () => {
    const database = await useLibrary(makeStore);
    const clock = { now: () => new Date(NOW) };
    return { database, ...invoked(operations, { database, clock }) };
  };
  const ids = ({ items }: Payload) => items.map(({ id }: { id: number }) => id);
  const outline = ({ item }: Payload) =>
    item.stages.map(({ name, position, tasks }: Payload) => [
      name,
      position,
      ...tasks.map((task: Payload) => task.name),
    ]);
  const audited = async (database: Database) => {
    const rows = await database.queries.selectFrom('audit').select(['action', 'detail_json']).execute();
    return rows.map(({ action, detail_json }) => [action, JSON.parse(detail_json)]);
  };

  describe('[FLR-plan-entities] plans', () => {
    it('are made with their stages and tasks, and read again', async () => {
      const { ask } = await open();
      const made = await ask('plan.create', RELEASE, { correlation_id: 'chain' });
      expect(made).toMatchObject({ ok: true, plan_id: made.item.id, request_id: 'test', correlation_id: 'chain' });
      expect(made.item).toMatchObject({
        name: 'Release',
        completed_at: null,
        stage_count: 2,
        task_count: 3,
        completed_task_count: 1,
        created_at: NOW,
      });
      expect(outline(made)).toEqual([
        ['Build it', 1, 'Write code', 'Test'],
        ['Ship', 2, 'Test'],
      ]);
      expect(made.item.stages[1]).toMatchObject({
        stage_key: 'ship',
        tasks: [{ task_key: 'test', completed_at: NOW }],
      });
      const { item } = await ask('plan.get', { plan_id: made.plan_id });
      expect(item).toEqual(made.item);
    });

    it('[S004-mcp-get-plan] leave out what is not asked for, and show their artifact history', async () => {
      const { ask, database } = await open();
      const { plan_id } = await ask('plan.create', RELEASE);
      const rows = runRows(database);
      const flowchart = await rows.flowchart([{ type: 'plan' }]);
      const run = await rows.run(flowchart.id);
      for (const sequence of [1, 2, 3]) {
        const nodeRun = await rows.nodeRun(run, flowchart.nodes[0] as number, {
          type: 'plan',
          sequence,
          index: sequence,
        });
        const place = { flowchart: flowchart.id, node: flowchart.nodes[0] as number, run, nodeRun };
        await rows.artifact({ ...place, type: 'plan', ref: plan_id, payload: { at: sequence } });
      }
      const whole = await ask('plan.get', { plan_id, artifact_limit: 2 });
      expect(whole.artifact_history.map(({ payload }: Payload) => payload)).toEqual([{ at: 3 }, { at: 2 }]);
      const bare = await ask('plan.get', { plan_id, include_stages: false, include_artifacts: false });
      expect(bare).not.toHaveProperty('artifact_history');
      expect(bare.item).not.toHaveProperty('stages');
      expect(bare.item).toMatchObject({ stage_count: 2, task_count: 3 });
      const stages = await ask('plan.get', { plan_id, include_tasks: false });
      expect(stages.item.stages[0]).not.toHaveProperty('tasks');
      const tool = (operations as readonly AnyOperation[]).find(({ name }) => name === 'plan.get')?.mcp?.tool;
      expect(tool).toBe('llmctl_get_plan');
    });

    it('are listed newest first, in pages', async () => {
      const { ask } = await open();
      const made = [];
      for (const name of ['One', 'Two', 'Three']) made.push((await ask('plan.create', { ...RELEASE, name })).plan_id);
      const list = await ask('plan.list', { limit: 2 });
      expect(list).toMatchObject({ ok: true, count: 2, total_count: 3, limit: 2, offset: 0 });
      expect(ids(list)).toEqual([made[2], made[1]]);
      expect(list.items[0]).toMatchObject({ stage_count: 2, task_count: 3, completed_task_count: 1 });
      expect(ids(await ask('plan.list', { offset: 2 }))).toEqual([made[0]]);
    });

    it('are found by every name in them, as they are now', async () => {
      const { ask } = await open();
      const { plan_id } = await ask('plan.create', RELEASE);
      const { plan_id: other } = await ask('plan.create', { name: 'Garden', stages: [] });
      for (const query of ['release', 'how we', 'BUILD', 'write co']) {
        expect(ids(await ask('plan.search', { query })), query).toEqual([plan_id]);
      }
      await ask('plan.patch', {
        plan_id,
        store_mode: 'replace',
        patch: { stages: [{ name: 'Rest', tasks: [{ name: 'Water flowers' }] }] },
      });
      expect(ids(await ask('plan.search', { query: 'write' }))).toEqual([]);
      expect(ids(await ask('plan.search', { query: 'flow' }))).toEqual([plan_id]);
      await ask('plan.update', { plan_id: other, name: 'Flower bed' });
      // A name counts for more than what is in it.
      expect(ids(await ask('plan.search', { query: 'flower' }))).toEqual([other, plan_id]);
      await ask('plan.delete', { plan_id: other });
      expect(await ask('plan.search', { query: 'bed' })).toMatchObject({ total_count: 0, items: [] });
    });

    it('are renamed, completed and opened again', async () => {
      const { ask, codeOf } = await open();
      const { plan_id } = await ask('plan.create', RELEASE);
      const done = await ask('plan.update', { plan_id, name: ' Release 2 ', completed: true, description: '' });
      expect(done.item).toMatchObject({ name: 'Release 2', completed_at: NOW, description: null, stage_count: 2 });
      expect((await ask('plan.update', { plan_id, completed: false })).item.completed_at).toBeNull();
      expect(await codeOf('plan.update', { plan_id })).toBe('BAD_REQUEST');
    });

    it('of another vault are as if they were not there', async () => {
      const { ask, codeOf, database } = await open();
      await makeVault(database, 'other');
      const { plan_id, item } = await ask('plan.create', RELEASE);
      const [stage] = item.stages;
      const there = { vault: 'other' };
      const inputs: Record<string, object> = {
        'plan.get': {},
        'plan.update': { name: 'Mine' },
        'plan.patch': { store_mode: 'append', patch: {} },
        'plan.delete': {},
        'plan.stage_add': { name: 'Mine' },
        'plan.stage_update': { stage_id: stage.id, name: 'Mine' },
        'plan.stage_delete': { stage_id: stage.id },
        'plan.task_add': { stage_id: stage.id, name: 'Mine' },
        'plan.task_update': { stage_id: stage.id, task_id: stage.tasks[0].id, name: 'Mine' },
        'plan.task_delete': { stage_id: stage.id, task_id: stage.tasks[0].id },
      };
      for (const [name, input] of Object.entries(inputs)) {
        expect(await codeOf(name, { plan_id, ...input }, there), name).toBe('NOT_FOUND');
        expect(await codeOf(name, { plan_id: 999_999, ...input }), name).toBe('NOT_FOUND');
      }
      expect(await ask('plan.list', {}, there)).toMatchObject({ total_count: 0 });
      expect(await ask('plan.search', { query: 'release' }, there)).toMatchObject({ total_count: 0 });
      expect((await ask('plan.get', { plan_id })).item).toEqual(item);
    });

    it('are read by viewers, changed by editors and deleted by people who administer', async () => {
      const { ask, codeOf } = await open();
      const { plan_id, item } = await ask('plan.create', RELEASE, { role: 'editor', kind: 'agent' });
      const rename = { plan_id, name: 'X' };
      expect(await codeOf('plan.get', { plan_id }, { role: 'viewer' })).toBe('done');
      expect(await codeOf('plan.update', rename, { role: 'viewer' })).toBe('FORBIDDEN');
      expect(await codeOf('plan.update', rename, { role: 'editor' })).toBe('done');
      expect(await codeOf('plan.delete', { plan_id }, { role: 'editor' })).toBe('FORBIDDEN');
      expect(await codeOf('plan.delete', { plan_id }, { kind: 'agent' })).toBe('FORBIDDEN');
      expect(await codeOf('plan.stage_delete', { plan_id, stage_id: item.stages[0].id }, { role: 'editor' })).toBe(
        'FORBIDDEN',
      );
      expect(await codeOf('plan.delete', { plan_id })).toBe('done');
      expect(await codeOf('plan.get', { plan_id })).toBe('NOT_FOUND');
    });

    it('[FLR-plan-in-use] are not deleted while a saved node works on them', async () => {
      const { ask, codeOf, database } = await open();
      const { plan_id } = await ask('plan.create', RELEASE);
      const flowchart = await runRows(database).flowchart([{ type: 'plan' }, { type: 'milestone' }]);
      const [planNodeId, milestoneNodeId] = flowchart.nodes as [number, number];
      const refer = (id: number, change: object) =>
        database.queries.updateTable('flowchart_nodes').set(change).where('id', '=', id).execute();
      await refer(planNodeId, { ref_id: plan_id });
      await expect(ask('plan.delete', { plan_id })).rejects.toMatchObject({
        code: 'CONFLICT',
        message: expect.stringContaining(`flowchart ${flowchart.id} (Release)`),
        details: { flowchart_id: flowchart.id, flowchart_node_id: planNodeId },
      });
      await refer(planNodeId, { removed_at: NOW });
      // A milestone of the same number is another thing.
      await refer(milestoneNodeId, { ref_id: plan_id });
      expect(await codeOf('plan.delete', { plan_id })).toBe('done');
      for (const table of ['plan_stages', 'plan_tasks'] as const) {
        expect(await database.queries.selectFrom(table).selectAll().execute()).toEqual([]);
      }
    });

    it('leave lines in the audit log that tell ids and no content', async () => {
      const { ask, database } = await open();
      const { plan_id } = await ask('plan.create', RELEASE);
      const patch = { stages: [{ name: 'Secret stage' }] };
      await ask('plan.patch', { plan_id, store_mode: 'append', patch });
      const lines = await audited(database);
      expect(lines).toEqual([
        ['plan.create', { plan_id }],
        ['plan.patch', { plan_id, store_mode: 'append', created: 1, updated: 0, replaced: 0, skipped_missing: 0 }],
      ]);
    });

    it('are shown to people as an outline in which nothing is obeyed', async () => {
      const { ask } = await open();
      const { plan_id } = await ask('plan.create', RELEASE);
      const named = (name: string) => operations.find((operation) => operation.name === name) as AnyOperation;
      const payload = await ask('plan.get', { plan_id });
      const [plan, ...rest] = String(await named('plan.get').cli?.render(payload as never)).split('\n');
      expect(plan).toBe(`[ ] Release  (${plan_id})`);
      expect(rest.map((line) => line.replace(/ {2}\(\d+\)$/, ''))).toEqual([
        '    How we ship',
        '  [ ] Build it',
        '    [ ] Write code',
        '    [ ] Test',
        '  [ ] Ship',
        '    [x] Test',
        '',
        '1 of 3 tasks done, 2 stages.',
      ]);
      const nasty = { ...payload, item: { ...payload.item, description: 'a\u001b[2Jb' } };
      expect(await named('plan.get').cli?.render(nasty as never)).toContain('a\\u001b[2Jb');
      expect(await named('plan.list').cli?.render((await ask('plan.list', {})) as never)).toMatch(/1\/3 .* Release$/);
    });
  });

  describe('[FLR-plan-tree] a patch', () => {
    it('answers with the new tree and stored ids', async () => {
      const { ask } = await open();
      const { plan_id } = await ask('plan.create', RELEASE);
      const patch = { stages: [{ name: 'QA', tasks: [{ name: 'Smoke' }, { name: 'Load' }] }, { name: 'Party' }] };
      const answer = await ask('plan.patch', { plan_id, store_mode: 'append', patch });
      expect(outline(answer).slice(2)).toEqual([
        ['QA', 3, 'Smoke', 'Load'],
        ['Party', 4],
      ]);
      const [qa, party] = answer.item.stages.slice(2);
      expect(answer).toMatchObject({
        operation_counts: { created: 4, updated: 0, replaced: 0, skipped_missing: 0 },
        touched: { stage_ids: [qa.id, party.id], task_ids: qa.tasks.map(({ id }: Payload) => id) },
      });
      expect(answer.touched.tasks[0]).toMatchObject({ plan_stage_id: qa.id, stage_key: 'qa', task_key: 'smoke' });
      for (const id of [...answer.touched.stage_ids, ...answer.touched.task_ids]) expect(id).toBeGreaterThan(0);
      expect((await ask('plan.get', { plan_id })).item).toEqual(answer.item);
    });

    it('keeps each row what it is when hundreds are stored at once', async () => {
      const { ask } = await open();
      const { plan_id } = await ask('plan.create', { name: 'Large' });
      const stages = Array.from({ length: 60 }, (_, at) => ({
        name: `Stage ${at}`,
        position: 60 - at,
        tasks: Array.from({ length: 10 }, (__, place) => ({ name: `Task ${at}.${place}` })),
      }));
      const answer = await ask('plan.patch', { plan_id, store_mode: 'replace', patch: { stages } });
      expect((await ask('plan.get', { plan_id })).item).toEqual(answer.item);
      for (const { name, position, tasks } of answer.item.stages) {
        const at = Number(name.slice(6));
        expect(position).toBe(60 - at);
        expect(tasks.map((task: Payload) => task.name)).toEqual(stages[at]?.tasks.map((task) => task.name));
      }
    });

    it('that cannot be applied is refused with its place, and nothing of it is stored', async () => {
      const { ask, codeOf } = await open();
      const { plan_id, item } = await ask('plan.create', RELEASE);
      const patch = { name: 'Changed', stages: [{ stage_key: 'ship', name: 'Sail' }], tasks: [{ task_key: 'test' }] };
      await expect(ask('plan.patch', { plan_id, store_mode: 'update', patch })).rejects.toMatchObject({
        code: 'BAD_REQUEST',
        details: { errors: [{ code: 'ambiguous_target', path: '/patch/tasks/0' }] },
      });
      expect(await codeOf('plan.patch', { plan_id, store_mode: 'replace', patch: { name: 'X' } })).toBe('BAD_REQUEST');
      expect(await codeOf('plan.patch', { plan_id, store_mode: 'merge', patch: {} })).toBe('BAD_REQUEST');
      expect((await ask('plan.get', { plan_id })).item).toEqual(item);
    });

    it('waits for another one to the same plan, so that none is lost', async () => {
      const { ask } = await open();
      const { plan_id } = await ask('plan.create', { name: 'Shared' });
      const names = Array.from({ length: 8 }, (_, at) => `Stage ${at}`);
      await Promise.all(
        names.map((name) => ask('plan.patch', { plan_id, store_mode: 'append', patch: { stages: [{ name }] } })),
      );
      const { item } = await ask('plan.get', { plan_id });
      expect(item.stages.map(({ name }: Payload) => name).sort()).toEqual(names);
      expect(item.stages.map(({ position }: Payload) => position)).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
    });
  });

  describe('[FLR-plan-entities] stages and tasks', () => {
    it('are added at the end, changed, moved, completed and deleted', async () => {
      const { ask } = await open();
      const { plan_id } = await ask('plan.create', RELEASE);
      const { stage_id, item } = await ask('plan.stage_add', { plan_id, name: 'QA', description: 'Look at it' });
      expect(item).toMatchObject({ id: stage_id, name: 'QA', position: 3, tasks: [] });
      const moved = await ask('plan.stage_update', { plan_id, stage_id, position: 1, completed: true });
      expect(moved.item).toMatchObject({ position: 1, completed_at: NOW });
      const added = await ask('plan.task_add', { plan_id, stage_id, name: 'Smoke' });
      expect(added.item).toMatchObject({ id: added.task_id, plan_stage_id: stage_id, position: 1, task_key: 'smoke' });
      const { task_id } = await ask('plan.task_add', { plan_id, stage_id, name: 'Load', completed: true });
      const reopened = await ask('plan.task_update', {
        plan_id,
        stage_id,
        task_id,
        completed: false,
        name: 'Load test',
      });
      expect(reopened.item).toMatchObject({ name: 'Load test', completed_at: null, position: 2 });
      expect(outline(await ask('plan.get', { plan_id }))).toEqual([
        ['QA', 1, 'Smoke', 'Load test'],
        ['Build it', 2, 'Write code', 'Test'],
        ['Ship', 3, 'Test'],
      ]);
      await ask('plan.task_delete', { plan_id, stage_id, task_id });
      expect(outline(await ask('plan.get', { plan_id }))[0]).toEqual(['QA', 1, 'Smoke']);
      await ask('plan.stage_delete', { plan_id, stage_id });
      expect(outline(await ask('plan.get', { plan_id })).map(([name]: string[]) => name)).toEqual(['Build it', 'Ship']);
      expect(await ask('plan.search', { query: 'smoke' })).toMatchObject({ total_count: 0 });
    });

    it('of one name are refused, and so are those of another plan or stage', async () => {
      const { ask, codeOf } = await open();
      const { plan_id, item } = await ask('plan.create', RELEASE);
      const { plan_id: other } = await ask('plan.create', RELEASE);
      const [build, ship] = item.stages;
      expect(await codeOf('plan.stage_add', { plan_id, name: 'BUILD IT' })).toBe('CONFLICT');
      expect(await codeOf('plan.task_add', { plan_id, stage_id: build.id, name: 'test' })).toBe('CONFLICT');
      expect(await codeOf('plan.stage_update', { plan_id: other, stage_id: build.id, name: 'X' })).toBe('NOT_FOUND');
      const wrongStage = { plan_id, stage_id: ship.id, task_id: build.tasks[0].id };
      expect(await codeOf('plan.task_update', { ...wrongStage, name: 'X' })).toBe('NOT_FOUND');
      expect(await codeOf('plan.task_delete', wrongStage)).toBe('NOT_FOUND');
      expect(await codeOf('plan.stage_update', { plan_id, stage_id: build.id })).toBe('BAD_REQUEST');
    });
  });
});
