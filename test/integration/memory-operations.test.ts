import { describe, expect, it } from 'vitest';
import type { Database } from '../../src/database/index.ts';
import { operations } from '../../src/memories/operations.ts';
import { makeVault, useLibrary } from '../data-integrity/library.ts';
import { onEachDatabase } from '../support/databases.ts';
import { invoked, type Payload } from '../support/invoked.ts';

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
    return { database, ...invoked(operations, { database, clock }) };
  };
  const ids = ({ items }: Payload) => items.map(({ id }: { id: number }) => id);

  describe('[FLR-memory-crud] memories', () => {
    it('are made, read, changed and listed, the last changed first', async () => {
      const { ask } = await open();
      const made = await ask('memory.create', { description: 'one', title: 'First' });
      const { item: first } = made;
      const { item: second } = await ask('memory.create', { description: 'two' });
      expect(first).toEqual({
        id: expect.any(Number),
        title: 'First',
        description: 'one',
        created_at: '2026-01-31T10:01:00.000Z',
        updated_at: '2026-01-31T10:01:00.000Z',
      });
      expect(second.title).toBeNull();
      const changed = await ask('memory.update', { memory_id: first.id, description: 'uno', title: '' });
      expect(changed.item).toMatchObject({ id: first.id, title: null, description: 'uno' });
      const read = await ask('memory.get', { memory_id: first.id, include_artifacts: false });
      for (const answer of [made, changed, read, await ask('memory.get', { memory_id: first.id })]) {
        expect(answer.memory_id).toBe(first.id);
      }
      expect(changed.item.updated_at > first.updated_at).toBe(true);
      const list = await ask('memory.list', {}, { correlation_id: 'chain' });
      expect(list).toMatchObject({ ok: true, count: 2, total_count: 2, limit: 50, offset: 0, request_id: 'test' });
      expect(list.correlation_id).toBe('chain');
      expect(ids(list)).toEqual([first.id, second.id]);
      const page = await ask('memory.list', { limit: 1, offset: 1 });
      expect([page.count, page.total_count, ids(page)]).toEqual([1, 2, [second.id]]);
    });

    it('are found by their words as they are now', async () => {
      const { ask } = await open();
      const { item } = await ask('memory.create', { description: 'The hedgehog sleeps' });
      expect(await ask('memory.search', { query: 'hedge' })).toMatchObject({ query: 'hedge', total_count: 1 });
      await ask('memory.update', { memory_id: item.id, description: 'The badger digs' });
      expect(ids(await ask('memory.search', { query: 'hedge' }))).toEqual([]);
      expect(ids(await ask('memory.search', { query: 'badger!' }))).toEqual([item.id]);
      await ask('memory.delete', { memory_id: item.id });
      expect(ids(await ask('memory.search', { query: 'badger' }))).toEqual([]);
    });

    it('of another vault are as if they were not there', async () => {
      const { ask, codeOf, database } = await open();
      await makeVault(database, 'other');
      const { item } = await ask('memory.create', { description: 'ours' });
      const there = { vault: 'other' };
      expect(ids(await ask('memory.list', {}, there))).toEqual([]);
      expect(ids(await ask('memory.search', { query: 'ours' }, there))).toEqual([]);
      for (const name of ['memory.get', 'memory.delete']) {
        expect(await codeOf(name, { memory_id: item.id }, there)).toBe('NOT_FOUND');
      }
      expect(await codeOf('memory.update', { memory_id: item.id, title: 'x' }, there)).toBe('NOT_FOUND');
      expect(await codeOf('memory.get', { memory_id: 999_999 })).toBe('NOT_FOUND');
      expect((await ask('memory.get', { memory_id: item.id })).item.description).toBe('ours');
    });

    it('take text of up to 64 KiB that says something', async () => {
      const { codeOf } = await open();
      expect(await codeOf('memory.create', { description: 'x'.repeat(65_536) })).toBe('done');
      for (const description of ['x'.repeat(65_537), 'ä'.repeat(40_000), ' \n', '', 'a\u0000b', 7]) {
        expect(await codeOf('memory.create', { description })).toBe('BAD_REQUEST');
      }
      expect(await codeOf('memory.update', { memory_id: 1 })).toBe('BAD_REQUEST');
    });

    it('are written by editors and deleted by admins who are people', async () => {
      const { ask, codeOf } = await open();
      expect(await codeOf('memory.create', { description: 'x' }, { role: 'viewer' })).toBe('FORBIDDEN');
      const { item } = await ask('memory.create', { description: 'x' }, { role: 'editor', kind: 'agent' });
      const input = { memory_id: item.id };
      expect(await codeOf('memory.get', input, { role: 'viewer' })).toBe('done');
      expect(await codeOf('memory.delete', input, { role: 'editor' })).toBe('FORBIDDEN');
      expect(await codeOf('memory.delete', input, { kind: 'agent' })).toBe('FORBIDDEN');
      expect(await codeOf('memory.delete', input)).toBe('done');
      expect(await codeOf('memory.get', input)).toBe('NOT_FOUND');
    });

    it('that a node works on are not deleted', async () => {
      const { ask, codeOf, database } = await open();
      const { item } = await ask('memory.create', { description: 'x' });
      const node = await aNode(database, item.id);
      expect(await codeOf('memory.delete', { memory_id: item.id })).toBe('CONFLICT');
      expect(ids(await ask('memory.search', { query: 'x' }))).toEqual([item.id]);
      await database.queries
        .updateTable('flowchart_nodes')
        .set({ removed_at: '2026-01-31T12:00:00.000Z' })
        .where('id', '=', node)
        .execute();
      expect(await codeOf('memory.delete', { memory_id: item.id })).toBe('done');
    });
  });

  it('[S004-memory-get-artifacts] a memory comes with what node runs left behind about it', async () => {
    const { ask, database } = await open();
    const { item } = await ask('memory.create', { description: 'x' });
    const node = await aNode(database, item.id);
    for (const nodeRun of [1, 2, 3]) await anArtifact(database, node, nodeRun, item.id);
    const whole = await ask('memory.get', { memory_id: item.id });
    expect(whole.item).toEqual(item);
    expect(whole.artifact_history.map(({ payload }: Payload) => payload.action_results)).toEqual([['3'], ['2'], ['1']]);
    expect(whole.artifact_history[0]).toMatchObject({ artifact_type: 'memory', ref_id: item.id });
    const some = await ask('memory.get', { memory_id: item.id, artifact_limit: 1 });
    expect(some.artifact_history).toHaveLength(1);
    const none = await ask('memory.get', { memory_id: item.id, include_artifacts: false });
    expect(Object.keys(none)).toEqual(['ok', 'memory_id', 'item', 'request_id']);
    expect(operations.find(({ name }) => name === 'memory.get')?.mcp).toEqual({ tool: 'llmctl_get_memory' });
  });
});

const NOW = '2026-01-31T09:00:00.000Z';

async function aNode(database: Database, ref_id: number): Promise<number> {
  const stamps = { created_at: NOW, updated_at: NOW };
  const { id: flowchart_id } = await database.queries
    .insertInto('flowcharts')
    .values({ vault_id: 'default', name: 'chart', max_parallel_nodes: 8, graph_version: 1, ...stamps })
    .returning('id')
    .executeTakeFirstOrThrow();
  const { id } = await database.queries
    .insertInto('flowchart_nodes')
    .values({ flowchart_id, node_type: 'memory', ref_id, x: 0, y: 0, config_json: '{}', ...stamps })
    .returning('id')
    .executeTakeFirstOrThrow();
  return id;
}

async function anArtifact(database: Database, flowchart_node_id: number, nodeRun: number, ref_id: number) {
  const { flowchart_id } = await database.queries
    .selectFrom('flowchart_nodes')
    .select('flowchart_id')
    .where('id', '=', flowchart_node_id)
    .executeTakeFirstOrThrow();
  const { id: flowchart_run_id } = await database.queries
    .insertInto('flowchart_runs')
    .values({
      vault_id: 'default',
      flowchart_id,
      graph_version: 1,
      status: 'completed',
      warnings_json: '[]',
      trigger_source: 'manual',
      started_by: 'local',
      started_as: 'local',
      depth: 0,
      cycle: 1,
      max_parallel_nodes: 8,
      executions: 1,
      completions: 1,
      active_ms: 0,
      fence: 0,
      wakes: 0,
      created_at: NOW,
      updated_at: NOW,
    })
    .returning('id')
    .executeTakeFirstOrThrow();
  await database.queries
    .insertInto('flowchart_run_nodes')
    .values({
      id: nodeRun,
      flowchart_run_id,
      flowchart_node_id,
      node_type: 'memory',
      sequence: 1,
      execution_index: 1,
      status: 'succeeded',
      started_order: 0,
      completed_order: 1,
      input_context_json: '{}',
      started_at: NOW,
      finished_at: NOW,
    })
    .execute();
  await database.queries
    .insertInto('node_artifacts')
    .values({
      id: nodeRun,
      flowchart_id,
      flowchart_node_id,
      flowchart_run_id,
      flowchart_run_node_id: nodeRun,
      node_type: 'memory',
      artifact_type: 'memory',
      ref_id,
      execution_index: 1,
      retention_mode: 'forever',
      payload_json: JSON.stringify({ action_results: [String(nodeRun)] }),
      created_at: NOW,
    })
    .execute();
}
