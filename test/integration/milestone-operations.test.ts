import { describe, expect, it } from 'vitest';
import { milestoneNode } from '../../src/flowcharts/nodes/milestone/index.ts';
import { operations } from '../../src/milestones/operations.ts';
import type { AnyOperation } from '../../src/operations/index.ts';
import { makeVault, useLibrary } from '../data-integrity/library.ts';
import { onEachDatabase } from '../support/databases.ts';
import { invoked, type Payload } from '../support/invoked.ts';
import { entry } from '../support/node-execution.ts';
import { nodeExecution, runNode } from '../support/plan-nodes.ts';
import { runRows } from '../support/run-rows.ts';

onEachDatabase((_engine, makeStore) => {
  const open = async () => {
    const database = await useLibrary(makeStore);
    let looks = 0;
    const clock = {
      now: () => {
        // A minute passes with every look at the clock.
        looks += 1;
        return new Date(Date.parse('2026-01-31T10:00:00Z') + looks * 60_000);
      },
    };
    return { database, clock, ...invoked(operations, { database, clock }) };
  };
  const names = ({ items }: Payload) => items.map(({ name }: { name: string }) => name);
  const named = (name: string) => operations.find((operation) => operation.name === name) as AnyOperation;

  describe('[FLR-milestone-entities] milestones', () => {
    it('are made with defaults, read and changed', async () => {
      const { ask, codeOf } = await open();
      const made = await ask('milestone.create', { name: ' Beta ' }, { correlation_id: 'chain' });
      expect(made).toMatchObject({ ok: true, milestone_id: made.item.id, request_id: 'test', correlation_id: 'chain' });
      expect(made.item).toEqual({
        id: made.milestone_id,
        name: 'Beta',
        description: null,
        status: 'planned',
        priority: 'medium',
        owner: null,
        completed: false,
        start_date: null,
        due_date: null,
        progress_percent: 0,
        health: 'green',
        success_criteria: null,
        dependencies: null,
        links: null,
        latest_update: null,
        created_at: made.item.created_at,
        updated_at: made.item.created_at,
      });
      const { milestone_id } = made;
      const changed = await ask('milestone.update', {
        milestone_id,
        status: 'done',
        owner: 'Ada',
        due_date: '2026-03-31',
      });
      expect(changed.item).toMatchObject({ status: 'done', completed: true, progress_percent: 100, owner: 'Ada' });
      expect(changed.item.updated_at > made.item.updated_at).toBe(true);
      expect((await ask('milestone.get', { milestone_id })).item).toEqual(changed.item);
      const same = await ask('milestone.update', { milestone_id, owner: 'Ada' });
      expect(same.item.updated_at).toBe(changed.item.updated_at);
      expect(await codeOf('milestone.update', { milestone_id })).toBe('BAD_REQUEST');
    });

    it('[FLR-milestone-rules] that break a rule are refused with the place', async () => {
      const { ask, codeOf } = await open();
      const { milestone_id, item } = await ask('milestone.create', { name: 'Beta', start_date: '2026-03-10' });
      const wrong: [object, string][] = [
        [{ due_date: '2026-03-09' }, '/due_date'],
        [{ start_date: 'soon' }, '/start_date'],
        [{ status: 'finished' }, '/status'],
        [{ progress_percent: 101 }, '/progress_percent'],
        [{ status: 'done', completed: false }, '/completed'],
      ];
      for (const [change, path] of wrong) {
        await expect(ask('milestone.update', { milestone_id, ...change })).rejects.toMatchObject({
          code: 'BAD_REQUEST',
          details: { errors: [{ path }] },
        });
      }
      expect(await codeOf('milestone.create', { name: '  ' })).toBe('BAD_REQUEST');
      expect((await ask('milestone.get', { milestone_id })).item).toEqual(item);
    });

    it('are listed open first, by when they are due, without a date last, newest first among equals', async () => {
      const { ask } = await open();
      const make = (name: string, more: object = {}) => ask('milestone.create', { name, ...more });
      await make('no date, older');
      await make('done early', { due_date: '2026-01-01', status: 'done' });
      await make('late', { due_date: '2026-12-01' });
      await make('soon, older', { due_date: '2026-02-01' });
      await make('soon, newer', { due_date: '2026-02-01' });
      await make('no date, newer');
      const order = ['soon, newer', 'soon, older', 'late', 'no date, newer', 'no date, older', 'done early'];
      const list = await ask('milestone.list', {});
      expect(names(list)).toEqual(order);
      expect(list).toMatchObject({ count: 6, total_count: 6, limit: 50, offset: 0 });
      expect(names(await ask('milestone.list', { limit: 2, offset: 3 }))).toEqual(order.slice(3, 5));
      expect(await ask('milestone.list', { status: 'done' })).toMatchObject({ total_count: 1 });
      const table = await named('milestone.list').cli?.render(list as never);
      expect(table).toMatch(/\[x\] .*done early$/);
    });

    it('are found by their words as they are now', async () => {
      const { ask } = await open();
      const { milestone_id } = await ask('milestone.create', { name: 'Beta', latest_update: 'waiting for lawyers' });
      expect(await ask('milestone.search', { query: 'lawy' })).toMatchObject({ query: 'lawy', total_count: 1 });
      await ask('milestone.update', { milestone_id, latest_update: 'signed', owner: 'Grace' });
      expect(names(await ask('milestone.search', { query: 'lawyers' }))).toEqual([]);
      expect(names(await ask('milestone.search', { query: 'grace signed' }))).toEqual(['Beta']);
      await ask('milestone.delete', { milestone_id });
      expect(names(await ask('milestone.search', { query: 'grace' }))).toEqual([]);
    });

    it('of another vault are as if they were not there', async () => {
      const { ask, codeOf, database } = await open();
      await makeVault(database, 'other');
      const { milestone_id } = await ask('milestone.create', { name: 'Beta' });
      const inputs = { 'milestone.get': {}, 'milestone.update': { name: 'Mine' }, 'milestone.delete': {} };
      for (const [name, input] of Object.entries(inputs)) {
        expect(await codeOf(name, { milestone_id, ...input }, { vault: 'other' }), name).toBe('NOT_FOUND');
        expect(await codeOf(name, { milestone_id: 999_999, ...input }), name).toBe('NOT_FOUND');
      }
      expect(await ask('milestone.list', {}, { vault: 'other' })).toMatchObject({ total_count: 0 });
      expect(await ask('milestone.search', { query: 'beta' }, { vault: 'other' })).toMatchObject({ total_count: 0 });
    });

    it('are read by viewers, changed by editors and deleted by people who administer', async () => {
      const { ask, codeOf } = await open();
      const { milestone_id } = await ask('milestone.create', { name: 'Beta' }, { role: 'editor', kind: 'agent' });
      expect(await codeOf('milestone.get', { milestone_id }, { role: 'viewer' })).toBe('done');
      expect(await codeOf('milestone.update', { milestone_id, name: 'X' }, { role: 'viewer' })).toBe('FORBIDDEN');
      expect(await codeOf('milestone.delete', { milestone_id }, { role: 'editor' })).toBe('FORBIDDEN');
      expect(await codeOf('milestone.delete', { milestone_id }, { kind: 'agent' })).toBe('FORBIDDEN');
      expect(await codeOf('milestone.delete', { milestone_id })).toBe('done');
      expect(await codeOf('milestone.get', { milestone_id })).toBe('NOT_FOUND');
    });

    it('[FLR-plan-in-use] are not deleted while a saved node works on them', async () => {
      const { ask, database } = await open();
      const { milestone_id } = await ask('milestone.create', { name: 'Beta' });
      const flowchart = await runRows(database).flowchart([{ type: 'milestone' }]);
      await database.queries.updateTable('flowchart_nodes').set({ ref_id: milestone_id }).execute();
      await expect(ask('milestone.delete', { milestone_id })).rejects.toMatchObject({
        code: 'CONFLICT',
        details: { flowchart_id: flowchart.id, flowchart_name: 'Release' },
      });
      await database.queries.updateTable('flowchart_nodes').set({ removed_at: '2026-02-01T00:00:00.000Z' }).execute();
      expect(await ask('milestone.delete', { milestone_id })).toMatchObject({ deleted: true, milestone_id });
    });

    it('[S004-mcp-get-milestone] show their artifact history', async () => {
      const { ask, database } = await open();
      const { milestone_id } = await ask('milestone.create', { name: 'Beta' });
      const rows = runRows(database);
      const flowchart = await rows.flowchart([{ type: 'milestone' }]);
      const node = flowchart.nodes[0] as number;
      const run = await rows.run(flowchart.id);
      const nodeRun = await rows.nodeRun(run, node, { type: 'milestone', sequence: 1 });
      const place = { flowchart: flowchart.id, node, run, nodeRun };
      await rows.artifact({ ...place, type: 'milestone', ref: milestone_id, payload: { action: 'mark_complete' } });
      const { artifact_history } = await ask('milestone.get', { milestone_id });
      expect(artifact_history).toMatchObject([{ ref_id: milestone_id, payload: { action: 'mark_complete' } }]);
      expect(await ask('milestone.get', { milestone_id, include_artifacts: false })).not.toHaveProperty(
        'artifact_history',
      );
      expect(named('milestone.get').mcp?.tool).toBe('llmctl_get_milestone');
    });

    it('are shown to people as a card in which nothing is obeyed', async () => {
      const { ask } = await open();
      const text = 'line one\n\u001b[2Jline two';
      const made = await ask('milestone.create', { name: 'Beta', due_date: '2026-03-31', latest_update: text });
      const card = (await named('milestone.create').cli?.render(made as never)) as string;
      expect(card).toContain(`[ ] Beta  (${made.milestone_id})`);
      expect(card).toContain('due 2026-03-31');
      expect(card).toContain('  line one\n  \\u001b[2Jline two');
    });
  });

  describe('[S004-milestone-actions] a milestone node', () => {
    it('changes its milestone in the transaction that completes the node run, and tells before and after', async () => {
      const { ask, database } = await open();
      const { milestone_id, item } = await ask('milestone.create', { name: 'Beta' });
      const config = { action: 'create_or_update', completion_source_path: 'latest_upstream.output_state.report' };
      const upstream = [entry({ output_state: { report: { progress_percent: 130, latest_update: 'nearly there' } } })];
      const execution = nodeExecution(milestoneNode, config, { ref_id: milestone_id, database, upstream });
      const result = await milestoneNode.execute(execution);
      expect((await ask('milestone.get', { milestone_id })).item).toEqual(item);
      const { commit } = result as Extract<typeof result, { commit: unknown }>;
      const outcome = await database.transaction(commit);
      const after = (await ask('milestone.get', { milestone_id })).item;
      expect(after).toMatchObject({ progress_percent: 100, latest_update: 'nearly there', status: 'planned' });
      expect(outcome).toMatchObject({
        ref_id: milestone_id,
        output_state: { before_milestone: item, milestone: after, checkpoint_hit: false },
        routing_state: {},
      });
      expect(names(await ask('milestone.search', { query: 'nearly' }))).toEqual(['Beta']);
    });

    it('[FLR-milestone-terminate] ends the run once it is complete', async () => {
      const { ask, database } = await open();
      const { milestone_id } = await ask('milestone.create', { name: 'Beta' });
      const config = { action: 'complete', terminate_on_complete: true, route_key_on_terminate: 'out' };
      const outcome = await runNode(
        milestoneNode,
        nodeExecution(milestoneNode, config, { ref_id: milestone_id, database, execution_index: 3 }),
      );
      expect(outcome.routing_state).toEqual({ route_key: 'out', terminate_run: true });
      expect(outcome.output_state).toMatchObject({ action: 'mark_complete', execution_index: 3 });
      expect((await ask('milestone.get', { milestone_id })).item).toMatchObject({ status: 'done', completed: true });
    });

    it('fails on a milestone that is not there, and on a word that is none, without changing anything', async () => {
      const { ask, database } = await open();
      const { milestone_id, item } = await ask('milestone.create', { name: 'Beta' });
      const run = (config: Record<string, unknown>, options: object) =>
        runNode(milestoneNode, nodeExecution(milestoneNode, config, { database, ...options }));
      const missing = { name: 'NodeFailure', code: 'ref_missing' };
      await expect(run({ action: 'complete' }, {})).rejects.toMatchObject(missing);
      await expect(run({ action: 'complete' }, { ref_id: 999_999 })).rejects.toMatchObject(missing);
      await expect(run({ action: 'complete' }, { ref_id: milestone_id, vault_id: 'x' })).rejects.toMatchObject(missing);
      const upstream = [entry({ output_state: { status: 'finished' } })];
      const config = { action: 'update', completion_source_path: 'latest_upstream.output_state' };
      await expect(run(config, { ref_id: milestone_id, upstream })).rejects.toMatchObject({
        code: 'milestone_patch_invalid',
      });
      await expect(run({}, { ref_id: milestone_id })).rejects.toMatchObject({ code: 'milestone_config_invalid' });
      expect((await ask('milestone.get', { milestone_id })).item).toEqual(item);
    });
  });
});
