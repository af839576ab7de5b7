import { describe, expect, it } from 'vitest';
import { useStore } from '../data-integrity/library.ts';
import { onEachDatabase } from '../support/databases.ts';
import { codesOf, type Flowcharts, openFlowcharts, type Payload, workedGraph } from '../support/flowcharts.ts';

onEachDatabase((_engine, makeStore) => {
  const open = async () => {
    const flowcharts = await openFlowcharts(await useStore(makeStore));
    const { flowchart } = await flowcharts.ask('flowchart.create', { name: 'Graph' });
    const flowchart_id: number = flowchart.id;
    const save = (graph: object): Promise<Payload> => flowcharts.ask('flowchart.save', { flowchart_id, ...graph });
    const read = (more: object = {}): Promise<Payload> => flowcharts.ask('flowchart.graph', { flowchart_id, ...more });
    return { ...flowcharts, flowchart_id, save, read };
  };
  const count = async ({ database }: Flowcharts, table: 'plans' | 'milestones' | 'memories') =>
    (await database.queries.selectFrom(table).select('id').execute()).length;
  const again = ({ nodes, edges }: Payload) => structuredClone({ nodes, edges });

  it('[S004-graph-worked] [S004-save-semantic-200] the worked example is saved whole and is valid', async () => {
    const { save, read } = await open();
    const saved = await save(workedGraph());
    const { id_map, ...graph } = saved;
    expect(graph).toMatchObject({ version: 2, validation: { valid: true, errors: [], warnings: [] } });
    expect(Object.keys(id_map.nodes).sort()).toEqual(['a', 'b', 'd', 'p', 's']);
    const byId = new Map(graph.nodes.map((node: Payload) => [node.id, node]));
    const at = (name: string): Payload => byId.get(id_map.nodes[name]);
    expect(at('p').ref_id).toEqual(expect.any(Number));
    expect(at('b')).toMatchObject({
      ref_id: expect.any(Number),
      mcp_server_ids: [1],
      config: {
        action: 'add',
        mode: 'llm_guided',
        store_mode: 'replace',
        additive_prompt: '',
        retry_count: 1,
        fallback_enabled: true,
        retention_mode: 'ttl',
        retention_ttl_seconds: 3_600,
        retention_max_count: 25,
      },
      compatibility: { ref: 'optional', mcp: true, attachments: true },
    });
    expect(at('d').config.decision_conditions).toEqual([
      { connector_id: 'done', condition_text: '' },
      { connector_id: 'other', condition_text: '' },
    ]);
    expect(await read()).toEqual(graph);
  });

  describe('[S004-save-structural-400] a graph in bad form', () => {
    it('[FLR-graph-all-mistakes] is refused with all its mistakes, and nothing is saved', async () => {
      const flowcharts = await open();
      const { read, refusal, flowchart_id } = flowcharts;
      const before = await read();
      const graph = workedGraph();
      graph.nodes[1].config.mode = 'psychic';
      graph.nodes[4].config = {};
      delete graph.edges[0].edge_mode;
      const error = await refusal('flowchart.save', { flowchart_id, ...graph, extra: 1, base_version: 'x' });
      expect(error).toMatchObject({ code: 'BAD_REQUEST', status: 400 });
      expect(codesOf(error)).toEqual([
        'unknown_key /extra',
        'field_not_integer /base_version',
        'plan_config_invalid /nodes/1/config/mode',
        'memory_config_invalid /nodes/4/config/action',
        'edge_mode_required /edges/0/edge_mode',
      ]);
      expect(await read()).toEqual(before);
      expect(await count(flowcharts, 'plans')).toBe(0);
    });

    it('[FLR-graph-bindings] names files that are not there', async () => {
      const { refusal, flowchart_id, makeVault, database } = await open();
      await makeVault('other');
      const { id } = await database.queries
        .insertInto('attachments')
        .values({
          vault_id: 'other',
          file_name: 'a',
          content_type: 'text/plain',
          size_bytes: 1,
          sha256: 'a'.repeat(64),
          created_by: 'local',
          created_at: '2026-03-01T10:00:00.000Z',
        })
        .returning('id')
        .executeTakeFirstOrThrow();
      const nodes = [
        { client_id: 's', node_type: 'start' },
        { node_type: 'task', attachment_ids: [Number(id)], config: { executor: 'static' } },
      ];
      expect(codesOf(await refusal('flowchart.save', { flowchart_id, nodes, edges: [] }))).toEqual([
        'binding_ids_invalid /nodes/1/attachment_ids/0',
      ]);
    });
  });

  it('[S004-save-semantic-200] a graph that cannot run is saved and says why', async () => {
    const { save, read } = await open();
    const saved = await save({ nodes: [{ node_type: 'task', config: {} }], edges: [] });
    expect(saved.validation.valid).toBe(false);
    expect(saved.validation.errors.map(({ code }: Payload) => code)).toEqual([
      'task_prompt_required',
      'start_node_count',
    ]);
    expect((await read()).nodes).toHaveLength(1);
  });

  it('[S004-connector-modes] connectors keep mode, handles, label and bends', async () => {
    const { save, read } = await open();
    const nodes = [
      { client_id: 's', node_type: 'start' },
      { client_id: 'a', node_type: 'task', config: { executor: 'static' } },
      { client_id: 'b', node_type: 'task', config: { executor: 'static' } },
    ];
    const bends = { control_points: [{ x: 1.234, y: 2 }], control_point_style: 'curved' };
    const edges = [
      { source: 's', target: 'a', edge_mode: 'solid', source_handle_id: 'r1', target_handle_id: 'L2', ...bends },
      { source: 's', target: 'b', edge_mode: 'solid' },
      { source: 'a', target: 'b', edge_mode: 'dotted', label: 'context' },
      { source: 'b', target: 'a', edge_mode: 'dashed' },
    ];
    const saved = await save({ nodes, edges });
    expect(saved.validation.valid).toBe(true);
    expect((await read()).edges).toMatchObject([
      {
        edge_mode: 'solid',
        source_handle_id: 'r1',
        target_handle_id: 'l2',
        control_points: [{ x: 1.23, y: 2 }],
        control_point_style: 'curved',
      },
      { edge_mode: 'solid', control_points: [], control_point_style: 'hard' },
      { edge_mode: 'dotted', label: 'context' },
      { edge_mode: 'dashed' },
    ]);
  });

  describe('[FLR-graph-version] a graph that is sent back', () => {
    it('as it was read keeps its version and writes nothing', async () => {
      const flowcharts = await open();
      const first = await flowcharts.save(workedGraph());
      const { id_map: _, ...second } = await flowcharts.save(again(first));
      expect(second).toEqual(await flowcharts.read());
      expect(second.version).toBe(2);
      expect(await count(flowcharts, 'plans')).toBe(1);
      const { versions } = await flowcharts.ask('flowchart.versions', { flowchart_id: flowcharts.flowchart_id });
      expect(versions.map(({ version }: Payload) => version)).toEqual([2, 1]);
    });

    it('[FLR-graph-stable-ids] changed is a new version with the same ids', async () => {
      const { save, read, ask, flowchart_id } = await open();
      const first = await save(workedGraph());
      const graph = again(first);
      graph.nodes[2].x = 444;
      graph.nodes[2].title = 'Choose';
      graph.edges[0].label = 'first';
      for (const edge of graph.edges) delete edge.id;
      const second = await save(graph);
      expect(second.version).toBe(3);
      expect(second.nodes.map(({ id }: Payload) => id)).toEqual(first.nodes.map(({ id }: Payload) => id));
      expect(second.edges.map(({ id }: Payload) => id)).toEqual(first.edges.map(({ id }: Payload) => id));
      const { id, created_at } = second.nodes[2];
      expect(second.nodes[2]).toMatchObject({ x: 444, title: 'Choose' });
      expect(created_at).toBe(first.nodes[2].created_at);
      expect(second.nodes[2].updated_at > first.nodes[2].updated_at).toBe(true);
      expect(second.nodes[1].updated_at).toBe(first.nodes[1].updated_at);
      expect(await ask('flowchart.diff', { flowchart_id })).toEqual({
        flowchart_id,
        from: 2,
        to: 3,
        nodes: { added: [], removed: [], changed: [{ id, fields: ['title', 'x'] }] },
        edges: { added: [], removed: [], changed: [{ id: first.edges[0].id, fields: ['label'] }] },
      });
      expect((await read({ version: 2 })).nodes[2]).toMatchObject({ id, title: null, x: 400 });
    });

    it('[FLR-graph-stable-ids] has its start node back, and maps the names of what is new', async () => {
      const { save, read } = await open();
      const start = (await read()).nodes[0].id;
      const nodes = [
        { client_id: 's', node_type: 'start' },
        { id: 987_654, client_id: 't', node_type: 'end' },
      ];
      const edges = [{ client_id: 'x', source: start, target: 987_654, edge_mode: 'solid' }];
      const saved = await save({ nodes, edges });
      expect(saved.nodes[0].id).toBe(start);
      const end = saved.nodes[1].id;
      expect(saved.id_map).toEqual({ nodes: { s: start, t: end, '987654': end }, edges: { x: saved.edges[0].id } });
    });
  });

  it('[FLR-graph-conflict] a save on an older version is refused and changes nothing', async () => {
    const { save, refusal, flowchart_id, read } = await open();
    await save({ ...workedGraph(), base_version: 1 });
    const before = await read();
    const error = await refusal('flowchart.save', { flowchart_id, nodes: [], edges: [], base_version: 1 });
    expect(error).toMatchObject({
      code: 'graph_conflict',
      status: 409,
      details: { base_version: 1, current_version: 2 },
    });
    expect(await read()).toEqual(before);
  });

  it('[FLR-graph-conflict] of many saves on one version exactly one wins', async () => {
    const { ask, flowchart_id, read } = await open();
    const graph = (title: string) => ({
      flowchart_id,
      nodes: [{ node_type: 'start', title }],
      edges: [],
      base_version: 1,
    });
    const results = await Promise.allSettled(
      Array.from({ length: 8 }, (_, at) => ask('flowchart.save', graph(`Start ${at}`))),
    );
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    expect((await read()).version).toBe(2);
  });

  it('[FLR-graph-history] a removed node stays in older versions and comes back under its id', async () => {
    const { save, read, database } = await open();
    const first = await save(workedGraph());
    const graph = again(first);
    const [gone] = graph.nodes.splice(4, 1);
    graph.edges = graph.edges.filter(({ target_node_id }: Payload) => target_node_id !== gone.id);
    const second = await save(graph);
    expect(second.nodes).toHaveLength(4);
    const row = await database.queries
      .selectFrom('flowchart_nodes')
      .select(['removed_at', 'ref_id'])
      .where('id', '=', gone.id)
      .executeTakeFirstOrThrow();
    expect(row.removed_at).not.toBeNull();
    expect((await read({ version: 2 })).nodes.map(({ id }: Payload) => id)).toContain(gone.id);
    const third = await save(again(first));
    expect(third.nodes.map(({ id }: Payload) => id)).toEqual(first.nodes.map(({ id }: Payload) => id));
    expect(third.nodes[4].ref_id).toBe(gone.ref_id);
    expect(third.version).toBe(4);
  });
});
