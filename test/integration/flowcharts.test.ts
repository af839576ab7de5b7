import { describe, expect, it } from 'vitest';
import type { Database } from '../../src/database/index.ts';
import { useStore } from '../data-integrity/library.ts';
import { onEachDatabase } from '../support/databases.ts';
import { openFlowcharts, type Payload, workedGraph } from '../support/flowcharts.ts';

async function addRun(database: Database, flowchart_id: number, status: 'running' | 'completed', id = 'default') {
  const { id: run } = await database.queries
    .insertInto('flowchart_runs')
    .values({
      vault_id: id,
      flowchart_id,
      graph_version: 1,
      status,
      warnings_json: '[]',
      trigger_source: 'manual',
      started_by: 'local',
      started_as: 'local',
      depth: 0,
      cycle: 1,
      max_parallel_nodes: 8,
      executions: 0,
      completions: 0,
      active_ms: 0,
      fence: 0,
      wakes: 0,
      created_at: '2026-03-01T10:00:00.000Z',
      updated_at: '2026-03-01T10:00:00.000Z',
    } as never)
    .returning('id')
    .executeTakeFirstOrThrow();
  return Number(run);
}

onEachDatabase((_engine, makeStore) => {
  const open = async () => openFlowcharts(await useStore(makeStore));

  describe('[FLR-graph-crud] a flowchart', () => {
    it('is made with one start node and eight nodes at once', async () => {
      const { ask } = await open();
      const { flowchart } = await ask('flowchart.create', { name: '  Release  ', description: '' });
      expect(flowchart).toMatchObject({
        name: 'Release',
        description: null,
        max_node_executions: null,
        max_runtime_minutes: null,
        max_parallel_nodes: 8,
        graph_version: 1,
      });
      const graph = await ask('flowchart.graph', { flowchart_id: flowchart.id });
      expect(graph).toMatchObject({
        version: 1,
        nodes: [{ node_type: 'start', title: 'Start', x: 280, y: 170, flowchart_id: flowchart.id }],
        edges: [],
        validation: { valid: true, errors: [], warnings: [] },
      });
    });

    it('is listed newest first with what it has, in pages', async () => {
      const { ask, database } = await open();
      for (const name of ['one', 'two', 'three']) await ask('flowchart.create', { name });
      const { flowcharts } = await ask('flowchart.list');
      expect(flowcharts.map(({ name }: Payload) => name)).toEqual(['three', 'two', 'one']);
      await ask('flowchart.save', { flowchart_id: flowcharts[2].id, ...workedGraph() });
      await addRun(database, flowcharts[2].id, 'completed');
      const page = await ask('flowchart.list', { limit: 1, offset: 2 });
      expect(page).toMatchObject({ count: 1, total_count: 3, limit: 1, offset: 2 });
      expect(page.flowcharts[0]).toMatchObject({ name: 'one', node_count: 5, edge_count: 5, run_count: 1 });
    });

    it('is read whole with its latest runs', async () => {
      const { ask, database } = await open();
      const { flowchart } = await ask('flowchart.create', { name: 'Read' });
      const runs: number[] = [];
      for (let count = 0; count < 27; count += 1) runs.push(await addRun(database, flowchart.id, 'completed'));
      const answer = await ask('flowchart.get', { flowchart_id: flowchart.id });
      expect(answer).toMatchObject({ flowchart, graph: { version: 1 }, validation: { valid: true } });
      expect(answer.runs.map(({ id }: Payload) => id)).toEqual(runs.toReversed().slice(0, 25));
    });

    it('changes in the fields that are given', async () => {
      const { ask, refusal } = await open();
      const { flowchart } = await ask('flowchart.create', { name: 'Old', description: 'Kept', max_node_executions: 5 });
      const id = { flowchart_id: flowchart.id };
      const { flowchart: after } = await ask('flowchart.update', { ...id, name: 'New', max_node_executions: null });
      expect(after).toMatchObject({ name: 'New', description: 'Kept', max_node_executions: null, graph_version: 1 });
      for (const wrong of [{ name: ' ' }, { max_parallel_nodes: 0 }, { max_runtime_minutes: 1.5 }, { colour: 'red' }]) {
        expect((await refusal('flowchart.update', { ...id, ...wrong })).code, JSON.stringify(wrong)).toBe(
          'BAD_REQUEST',
        );
      }
    });

    it('is deleted with its history, but not while a run is under way', async () => {
      const { ask, refusal, database } = await open();
      const { flowchart } = await ask('flowchart.create', { name: 'Gone' });
      const id = { flowchart_id: flowchart.id };
      const run = await addRun(database, flowchart.id, 'running');
      expect(await refusal('flowchart.delete', id)).toMatchObject({
        code: 'CONFLICT',
        details: { flowchart_run_id: run },
      });
      await database.queries.updateTable('flowchart_runs').set({ status: 'completed' }).execute();
      expect(await ask('flowchart.delete', id)).toEqual({ deleted: true, ...id });
      expect((await refusal('flowchart.get', id)).code).toBe('NOT_FOUND');
      for (const table of ['flowchart_nodes', 'flowchart_versions', 'flowchart_runs'] as const) {
        expect(await database.queries.selectFrom(table).selectAll().execute()).toEqual([]);
      }
    });
  });

  it('[FLR-graph-in-use] that another one runs is not deleted before its node is gone', async () => {
    const { ask, refusal, makeVault } = await open();
    await makeVault('other');
    const make = async (name: string, who = {}) => (await ask('flowchart.create', { name }, who)).flowchart.id;
    const graph = (ref_id: number) => ({
      nodes: [
        { client_id: 's', node_type: 'start' },
        { client_id: 'f', node_type: 'flowchart', ref_id },
      ],
      edges: [{ source: 's', target: 'f', edge_mode: 'solid' }],
    });
    const sub = await make('Sub');
    const caller = await make('The caller');
    const stranger = await make('Of others', { vault: 'other' });
    await ask('flowchart.save', { flowchart_id: sub, ...graph(sub) });
    await ask('flowchart.save', { flowchart_id: stranger, ...graph(sub) }, { vault: 'other' });
    const { id_map } = await ask('flowchart.save', { flowchart_id: caller, ...graph(sub) });
    expect(await refusal('flowchart.delete', { flowchart_id: sub })).toMatchObject({
      code: 'CONFLICT',
      message: expect.stringContaining('"The caller"'),
      details: { flowchart_id: caller, flowchart_name: 'The caller', flowchart_node_id: id_map.nodes.f },
    });
    await ask('flowchart.save', { flowchart_id: caller, nodes: [{ client_id: 's', node_type: 'start' }], edges: [] });
    expect(await ask('flowchart.delete', { flowchart_id: sub })).toEqual({ deleted: true, flowchart_id: sub });
  });

  describe('[FLR-graph-agents-answer] who may answer a human task', () => {
    const agent = { kind: 'agent' as const, role: 'editor' as const };
    const graph = (allow_agents: boolean, more: Payload = {}) => ({
      nodes: [
        { client_id: 's', node_type: 'start' },
        {
          client_id: 'ask',
          node_type: 'task',
          ...more,
          config: { executor: 'human', task_prompt: 'May it go out?', allow_agents, ...more.config },
        },
      ],
      edges: [{ source: 's', target: 'ask', edge_mode: 'solid' }],
    });

    it('is not widened by an agent, only by a person', async () => {
      const { ask, refusal } = await open();
      const { flowchart } = await ask('flowchart.create', { name: 'Guarded' }, agent);
      const flowchart_id = flowchart.id;
      const save = { flowchart_id, ...graph(true) };
      expect(await refusal('flowchart.save', save, agent)).toMatchObject({
        code: 'FORBIDDEN',
        message: expect.stringContaining('"ask"'),
        details: { path: '/nodes/1/config/allow_agents' },
      });
      expect((await ask('flowchart.get', { flowchart_id })).flowchart.graph_version).toBe(1);
      const { id_map } = await ask('flowchart.save', { flowchart_id, ...graph(false) }, agent);
      const known = { id: id_map.nodes.ask };
      const widened = { flowchart_id, ...graph(true, known) };
      expect(await refusal('flowchart.save', widened, agent)).toMatchObject({
        code: 'FORBIDDEN',
        message: expect.stringContaining(`Node ${known.id}`),
        details: { node_id: known.id },
      });
      await ask('flowchart.save', widened);
      const retitled = { flowchart_id, ...graph(true, { ...known, title: 'Retitled' }) };
      expect(await ask('flowchart.save', retitled, agent)).toMatchObject({ version: 4 });
      expect((await refusal('flowchart.save', save, agent)).code).toBe('FORBIDDEN');
    });

    it('is not widened on a detour: over another executor, or a node that was removed', async () => {
      const { ask, refusal } = await open();
      const { flowchart_id } = { flowchart_id: (await ask('flowchart.create', { name: 'Guarded' })).flowchart.id };
      const parked = graph(true, { config: { executor: 'static' } });
      const { id_map } = await ask('flowchart.save', { flowchart_id, ...parked }, agent);
      const known = { id: id_map.nodes.ask };
      const widened = { flowchart_id, ...graph(true, known) };
      expect((await refusal('flowchart.save', widened, agent)).code).toBe('FORBIDDEN');
      await ask('flowchart.save', widened);
      await ask('flowchart.save', { flowchart_id, nodes: [{ node_type: 'start', client_id: 's' }], edges: [] });
      expect((await refusal('flowchart.save', widened, agent)).code).toBe('FORBIDDEN');
    });

    it('is not widened by an import of an agent', async () => {
      const { ask, refusal } = await open();
      const flowchart_id = (await ask('flowchart.create', { name: 'Guarded' })).flowchart.id;
      await ask('flowchart.save', { flowchart_id, ...graph(true) });
      const file = await ask('flowchart.export', { flowchart_id });
      expect((await refusal('flowchart.import', file, agent)).code).toBe('FORBIDDEN');
      expect((await ask('flowchart.list')).total_count).toBe(1);
      await ask('flowchart.import', file);
      await ask('flowchart.save', { flowchart_id, ...graph(false) });
      await ask('flowchart.import', await ask('flowchart.export', { flowchart_id }), agent);
    });
  });

  it('[FLR-graph-vaults] [FLR-graph-ref-missing] of another vault is not there', async () => {
    const { ask, refusal, makeVault } = await open();
    await makeVault('other');
    const { flowchart } = await ask('flowchart.create', { name: 'Mine' });
    const id = flowchart.id;
    const there = { vault: 'other' };
    for (const [name, more] of [
      ['flowchart.get', {}],
      ['flowchart.graph', {}],
      ['flowchart.update', { name: 'x' }],
      ['flowchart.delete', {}],
      ['flowchart.save', workedGraph()],
      ['flowchart.validate', {}],
      ['flowchart.versions', {}],
      ['flowchart.diff', {}],
      ['flowchart.export', {}],
    ] as const) {
      const hidden = await refusal(name, { flowchart_id: id, ...more }, there);
      const missing = await refusal(name, { flowchart_id: id + 1_000, ...more }, there);
      expect(hidden.code, name).toBe('NOT_FOUND');
      expect(hidden.message.replace(String(id), 'N')).toBe(missing.message.replace(String(id + 1_000), 'N'));
    }
    expect((await ask('flowchart.list', {}, there)).flowcharts).toEqual([]);
    const { flowchart: calling } = await ask('flowchart.create', { name: 'Calls' }, there);
    const nodes = [
      { client_id: 's', node_type: 'start' },
      { client_id: 'f', node_type: 'flowchart', ref_id: id },
    ];
    const edges = [{ source: 's', target: 'f', edge_mode: 'solid' }];
    const { validation } = await ask('flowchart.save', { flowchart_id: calling.id, nodes, edges }, there);
    expect(validation.errors).toMatchObject([{ code: 'ref_missing' }]);
  });

  it('[FLR-graph-roles] viewers read, editors write, admins delete, agents delete nothing', async () => {
    const { ask, refusal } = await open();
    const editor = { role: 'editor' } as const;
    const { flowchart } = await ask('flowchart.create', { name: 'Ours' }, editor);
    const id = { flowchart_id: flowchart.id };
    await ask('flowchart.save', { ...id, ...workedGraph() }, editor);
    for (const name of ['list', 'node_types']) await ask(`flowchart.${name}`, {}, { role: 'viewer' });
    for (const name of ['get', 'graph', 'validate', 'versions', 'diff', 'export']) {
      await ask(`flowchart.${name}`, id, { role: 'viewer' });
    }
    for (const name of ['create', 'update', 'save', 'import', 'delete']) {
      expect((await refusal(`flowchart.${name}`, id, { role: 'viewer' })).code, name).toBe('FORBIDDEN');
    }
    expect((await refusal('flowchart.delete', id, editor)).code).toBe('FORBIDDEN');
    expect((await refusal('flowchart.delete', id, { kind: 'agent' })).code).toBe('FORBIDDEN');
    await ask('flowchart.delete', id);
  });

  it('[FLR-graph-reads-only] reading changes nothing, also where a start node is missing', async () => {
    const { ask, database } = await open();
    const { flowchart } = await ask('flowchart.create', { name: 'Bare' });
    const id = { flowchart_id: flowchart.id };
    await ask('flowchart.save', { ...id, nodes: [], edges: [] });
    const count = async () =>
      (await database.queries.selectFrom('flowchart_nodes').select('id').where('removed_at', 'is', null).execute())
        .length;
    const stamp = await database.stamp();
    for (const name of ['get', 'graph', 'validate', 'export']) await ask(`flowchart.${name}`, id);
    expect(await count()).toBe(0);
    expect(await database.stamp()).toBe(stamp);
    expect((await ask('flowchart.validate', id)).errors).toMatchObject([{ code: 'start_node_count' }]);
  });

  it('[S004-inspector] tells every type with its fields and defaults', async () => {
    const { ask } = await open();
    const { node_types } = await ask('flowchart.node_types');
    expect(node_types.map(({ name }: Payload) => name)).toEqual([
      'start',
      'end',
      'task',
      'flowchart',
      'memory',
      'plan',
      'milestone',
      'decision',
    ]);
    const memory = node_types.find(({ name }: Payload) => name === 'memory');
    expect(memory.defaults).toMatchObject({ mode: 'llm_guided', retry_count: 1, fallback_enabled: true });
  });
});
