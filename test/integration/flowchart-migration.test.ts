import { describe, expect, it } from 'vitest';
import type { Database } from '../../src/database/index.ts';
import { migrateConfigs } from '../../src/flowcharts/graph/migrate-configs.ts';
import { useStore } from '../data-integrity/library.ts';
import { onEachDatabase } from '../support/databases.ts';
import { openFlowcharts, type Payload, workedGraph } from '../support/flowcharts.ts';

const AT = '2025-01-01T00:00:00.000Z';
const STAMPS = { created_at: AT, updated_at: AT };

/** A flowchart as something older left it: rows, no version, no contract. */
async function oldFlowchart(
  database: Database,
  nodes: { node_type: string; config_json: string | null }[],
  edges: { from: number; to: number; edge_mode: string | null; condition_key?: string }[],
): Promise<{ flowchart_id: number; ids: number[] }> {
  const { id } = await database.queries
    .insertInto('flowcharts')
    .values({ vault_id: 'default', name: 'Old', max_parallel_nodes: 1, graph_version: 0, ...STAMPS })
    .returning('id')
    .executeTakeFirstOrThrow();
  const flowchart_id = Number(id);
  const ids: number[] = [];
  for (const node of nodes) {
    const row = await database.queries
      .insertInto('flowchart_nodes')
      .values({ flowchart_id, ...node, x: 1, y: 2, ref_id: null, title: null, removed_at: null, ...STAMPS })
      .returning('id')
      .executeTakeFirstOrThrow();
    ids.push(Number(row.id));
  }
  for (const { from, to, edge_mode, condition_key = null } of edges) {
    const ends = { source_node_id: ids[from] as number, target_node_id: ids[to] as number };
    await database.queries
      .insertInto('flowchart_edges')
      .values({ flowchart_id, ...ends, edge_mode, condition_key, ...STAMPS })
      .execute();
  }
  return { flowchart_id, ids };
}

onEachDatabase((_engine, makeStore) => {
  const open = async () => openFlowcharts(await useStore(makeStore));

  it('does nothing where there is nothing to do', async () => {
    const { ask, database, clock } = await open();
    const { flowchart } = await ask('flowchart.create', { name: 'New' });
    const saved = await ask('flowchart.save', { flowchart_id: flowchart.id, ...workedGraph() });
    const stamp = await database.stamp();
    expect(await migrateConfigs(database, clock)).toEqual({ migrated: [] });
    expect(await database.stamp()).toBe(stamp);
    expect((await ask('flowchart.graph', { flowchart_id: flowchart.id })).version).toBe(saved.version);
  });

  it('gives old rows a version, and is done after once', async () => {
    const { ask, database, clock } = await open();
    const { flowchart_id, ids } = await oldFlowchart(database, [{ node_type: 'start', config_json: null }], []);
    expect(await migrateConfigs(database, clock)).toEqual({ migrated: [flowchart_id] });
    expect(await ask('flowchart.graph', { flowchart_id })).toMatchObject({
      version: 1,
      nodes: [{ id: ids[0], config: {} }],
      validation: { valid: true },
    });
    expect(await migrateConfigs(database, clock)).toEqual({ migrated: [] });
  });

  it('[S004-hard-cut-plan] brings plan configs to today', async () => {
    const { ask, database, clock } = await open();
    const configs = [
      {},
      { mode: 'llm_guided', store_mode: 'replace', retry_count: 3, fallback_enabled: false },
      { mode: 'magic', action: 'create_or_update_plan' },
      { action: 'complete_plan_item', plan_item_id: 7 },
      { action: 'dance' },
    ];
    const nodes = configs.map((config) => ({ node_type: 'plan', config_json: JSON.stringify(config) }));
    const { flowchart_id } = await oldFlowchart(database, nodes, []);
    await migrateConfigs(database, clock);
    const graph = await ask('flowchart.graph', { flowchart_id });
    const controls = { retry_count: 1, fallback_enabled: true };
    expect(graph.nodes.map(({ config }: Payload) => config)).toMatchObject([
      { mode: 'deterministic', store_mode: 'append', ...controls },
      { mode: 'llm_guided', store_mode: 'replace', retry_count: 3, fallback_enabled: false },
      { mode: 'deterministic', store_mode: 'append', ...controls },
      { mode: 'deterministic', store_mode: 'update', ...controls, patch: { tasks: [{ task_id: 7, completed: true }] } },
      { mode: 'deterministic', store_mode: 'append', ...controls },
    ]);
    for (const { config } of graph.nodes) expect(config).not.toHaveProperty('action');
  });

  it('[S004-hard-cut-memory] brings memory configs to today and binds the system server', async () => {
    const { ask, database, clock } = await open();
    const configs = [
      { action: 'add' },
      { action: 'add', mode: 'psychic', retry_count: 99 },
      { mode: 'deterministic', kept: 1 },
    ];
    const nodes = configs.map((config) => ({ node_type: 'memory', config_json: JSON.stringify(config) }));
    const { flowchart_id } = await oldFlowchart(database, nodes, []);
    await migrateConfigs(database, clock);
    const graph = await ask('flowchart.graph', { flowchart_id });
    expect(graph.nodes.map(({ config }: Payload) => config)).toMatchObject([
      { action: 'add', mode: 'llm_guided', retry_count: 1, fallback_enabled: true },
      { action: 'add', mode: 'llm_guided', retry_count: 5, fallback_enabled: true },
      { mode: 'deterministic', retry_count: 1, fallback_enabled: true, kept: 1 },
    ]);
    for (const { mcp_server_ids } of graph.nodes) expect(mcp_server_ids).toEqual([1]);
  });

  it('[S004-hard-cut-edges] makes connectors of no known mode solid, and decisions whole', async () => {
    const { ask, database, clock } = await open();
    const nodes = ['start', 'decision', 'end', 'end'].map((node_type) => ({ node_type, config_json: null }));
    const { flowchart_id } = await oldFlowchart(database, nodes, [
      { from: 0, to: 1, edge_mode: null },
      { from: 1, to: 2, edge_mode: 'wavy' },
      { from: 1, to: 3, edge_mode: '', condition_key: 'right' },
      { from: 0, to: 2, edge_mode: 'dotted' },
    ]);
    await migrateConfigs(database, clock);
    const graph = await ask('flowchart.graph', { flowchart_id });
    expect(graph.edges.map(({ edge_mode, condition_key }: Payload) => [edge_mode, condition_key])).toEqual([
      ['solid', null],
      ['solid', 'connector_1'],
      ['solid', 'right'],
      ['dotted', null],
    ]);
    expect(graph.nodes[1].config.decision_conditions).toHaveLength(2);
    expect(graph.validation.valid).toBe(true);
  });

  it('leaves a type that nobody knows as it is, for its node to fail', async () => {
    const { ask, database, clock } = await open();
    const nodes = [
      { node_type: 'start', config_json: '' },
      { node_type: 'rag', config_json: '{"mode":"query"}' },
      { node_type: 'task', config_json: '{"fan_in_mode":"few"}' },
    ];
    const { flowchart_id } = await oldFlowchart(database, nodes, []);
    await migrateConfigs(database, clock);
    const graph = await ask('flowchart.graph', { flowchart_id });
    expect(graph.nodes[1]).toMatchObject({ node_type: 'rag', config: { mode: 'query' } });
    expect(graph.nodes[2].config).toMatchObject({ fan_in_mode: 'few' });
    expect(graph.validation.errors.map(({ code }: Payload) => code)).toEqual(
      expect.arrayContaining(['unknown_node_type', 'routing_config_invalid']),
    );
    expect(await migrateConfigs(database, clock)).toEqual({ migrated: [] });
  });

  it('makes a new version of a graph that changes, and only of that', async () => {
    const { ask, database, clock } = await open();
    const { flowchart } = await ask('flowchart.create', { name: 'Half old' });
    const id = { flowchart_id: flowchart.id };
    await ask('flowchart.save', { ...id, ...workedGraph() });
    const rows = database.queries.updateTable('flowchart_nodes').set({ config_contract: 0 });
    await rows.execute();
    expect(await migrateConfigs(database, clock)).toEqual({ migrated: [flowchart.id] });
    expect((await ask('flowchart.graph', id)).version).toBe(2);
    await rows.set({ config_json: '{"mode":"gone"}' }).where('node_type', '=', 'plan').execute();
    await migrateConfigs(database, clock);
    const graph = await ask('flowchart.graph', id);
    expect(graph.version).toBe(3);
    expect((await ask('flowchart.versions', id)).versions[0].created_by).toBe('flowright');
  });

  describe('[S004-hard-cut-malformed] a config that is no object', () => {
    it.each(['[1]', '"text"', '7', 'null', '{broken'])(
      '%s stops the start, names its row and changes nothing',
      async (bad) => {
        const { database, clock } = await open();
        const { ids } = await oldFlowchart(
          database,
          [
            { node_type: 'memory', config_json: '{"action":"add"}' },
            { node_type: 'plan', config_json: bad },
          ],
          [],
        );
        const error = await migrateConfigs(database, clock).catch((thrown) => thrown);
        expect(error).toMatchObject({
          code: 'FLOWCHART_CONFIG_MALFORMED',
          message: expect.stringContaining(`flowchart_nodes.id ${ids[1]}`),
          details: { flowchart_node_id: ids[1] },
        });
        expect(error.message).toContain('update flowchart_nodes');
        const rows = await database.queries
          .selectFrom('flowchart_nodes')
          .select(['config_json', 'config_contract'])
          .orderBy('id')
          .execute();
        expect(rows).toEqual([
          { config_json: '{"action":"add"}', config_contract: 0 },
          { config_json: bad, config_contract: 0 },
        ]);
      },
    );
  });
});
