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

  describe('[FLR-graph-auto-refs] what a node works on', () => {
    const nodes = (more: object = {}) => [
      { client_id: 's', node_type: 'start' },
      { client_id: 'p', node_type: 'plan', title: 'Ship it', config: { mode: 'deterministic', store_mode: 'append' } },
      { client_id: 'm', node_type: 'milestone', config: { action: 'create' } },
      { client_id: 'k', node_type: 'memory', title: 'Notes', config: { action: 'add' }, ...more },
    ];
    const edges = ['p', 'm', 'k'].map((target) => ({ source: 's', target, edge_mode: 'solid' }));

    it('is made once, named after the node, and kept when it is not sent again', async () => {
      const flowcharts = await open();
      const { save, database, flowchart_id } = flowcharts;
      const first = await save({ nodes: nodes(), edges });
      expect(first.validation.valid).toBe(true);
      const [, plan, milestone, memory] = first.nodes;
      const row = async (table: 'plans' | 'milestones' | 'memories', id: number): Promise<Payload> =>
        database.queries.selectFrom(table).selectAll().where('id', '=', id).executeTakeFirstOrThrow();
      expect((await row('plans', plan.ref_id)).name).toBe('Ship it plan');
      expect((await row('milestones', milestone.ref_id)).name).toBe(
        `Flowchart ${flowchart_id} node ${milestone.id} milestone`,
      );
      expect(await row('memories', memory.ref_id)).toMatchObject({ title: 'Notes', description: '' });
      const graph = again(first);
      graph.nodes[0].title = 'Begin';
      graph.nodes[1].ref_id = null;
      delete graph.nodes[2].ref_id;
      const second = await save(graph);
      expect(second.nodes.map(({ ref_id }: Payload) => ref_id)).toEqual(
        first.nodes.map(({ ref_id }: Payload) => ref_id),
      );
      for (const table of ['plans', 'milestones', 'memories'] as const) expect(await count(flowcharts, table)).toBe(1);
    });

    it('is made anew when it is gone, of another vault, or of another type', async () => {
      const flowcharts = await open();
      const { save, database, makeVault } = flowcharts;
      const first = await save({ nodes: nodes(), edges });
      await makeVault('other');
      await database.queries.updateTable('plans').set({ vault_id: 'other' }).execute();
      const graph = again(first);
      graph.nodes[2] = { ...graph.nodes[2], node_type: 'plan', config: { mode: 'llm_guided', store_mode: 'update' } };
      delete graph.nodes[2].ref_id;
      const second = await save(graph);
      expect(second.validation.valid).toBe(true);
      expect(second.nodes[1].ref_id).not.toBe(first.nodes[1].ref_id);
      expect(await count(flowcharts, 'plans')).toBe(3);
    });

    it('of a memory that only retrieves is neither made nor kept against its will', async () => {
      const flowcharts = await open();
      const { save } = flowcharts;
      const first = await save({ nodes: nodes({ config: { action: 'retrieve' } }), edges });
      expect(first.nodes[3].ref_id).toBeNull();
      expect(await count(flowcharts, 'memories')).toBe(0);
      const graph = again(first);
      graph.nodes[3].config.action = 'add';
      const second = await save(graph);
      expect(second.nodes[3].ref_id).toEqual(expect.any(Number));
      const third = again(second);
      Object.assign(third.nodes[3], { ref_id: null, config: { action: 'retrieve' } });
      expect((await save(third)).nodes[3].ref_id).toBeNull();
    });
  });

  it('[S004-decision-sync] conditions follow the solid connectors and keep their texts', async () => {
    const { save } = await open();
    const nodes = [
      { client_id: 's', node_type: 'start' },
      {
        client_id: 'd',
        node_type: 'decision',
        config: { decision_conditions: [{ connector_id: 'left', condition_text: 'a.b == c' }] },
      },
      ...['x', 'y', 'z'].map((client_id) => ({ client_id, node_type: 'end', config: { fan_in_mode: 'any' } })),
    ];
    const edges = [
      { source: 's', target: 'd', edge_mode: 'solid' },
      { source: 'd', target: 'x', edge_mode: 'solid', condition_key: 'left' },
      { source: 'd', target: 'y', edge_mode: 'solid' },
      { source: 'd', target: 'z', edge_mode: 'solid', condition_key: 'left' },
    ];
    const first = await save({ nodes, edges });
    const conditions = (saved: Payload) => saved.nodes[1].config.decision_conditions;
    expect(conditions(first)).toEqual([
      { connector_id: 'left', condition_text: 'a.b == c' },
      { connector_id: 'connector_1', condition_text: '' },
      { connector_id: 'connector_2', condition_text: '' },
    ]);
    expect(first.edges.map(({ condition_key }: Payload) => condition_key)).toEqual([
      null,
      'left',
      'connector_1',
      'connector_2',
    ]);
    const graph = again(first);
    graph.nodes[1].config = {};
    graph.edges.splice(2, 1);
    graph.nodes.splice(3, 1);
    const second = await save(graph);
    expect(conditions(second)).toEqual([
      { connector_id: 'left', condition_text: 'a.b == c' },
      { connector_id: 'connector_2', condition_text: '' },
    ]);
    const third = again(second);
    third.edges[1].edge_mode = 'dotted';
    const { validation, ...rest } = await save(third);
    expect(conditions(rest)).toEqual([{ connector_id: 'connector_2', condition_text: '' }]);
    expect(validation.errors.map(({ code }: Payload) => code)).toEqual([
      'non_solid_condition_key',
      'unreachable_nodes',
    ]);
  });

  it('[FLR-graph-validate] a draft is judged whole and nothing is stored', async () => {
    const flowcharts = await open();
    const { ask, refusal, flowchart_id, read } = flowcharts;
    const before = await read();
    expect(await ask('flowchart.validate', { flowchart_id, ...workedGraph() })).toEqual({
      flowchart_id,
      version: null,
      valid: true,
      errors: [],
      warnings: [],
    });
    const graph = workedGraph();
    graph.nodes[4].config = {};
    graph.nodes.push({ client_id: 'lost', node_type: 'task', config: {} });
    const { valid, errors } = await ask('flowchart.validate', { flowchart_id, ...graph });
    expect(valid).toBe(false);
    expect(errors.map(({ code, path }: Payload) => `${code} ${path}`)).toEqual([
      'memory_config_invalid /nodes/4/config/action',
      'task_prompt_required /nodes/5/config/task_prompt',
      'unreachable_nodes /nodes',
    ]);
    expect((await ask('flowchart.validate', { flowchart_id, nodes: 1, edges: [] })).errors).toMatchObject([
      { code: 'graph_shape_invalid' },
    ]);
    let deep: Payload = {};
    for (let depth = 0; depth < 80; depth += 1) deep = { deep };
    const nodes = [{ node_type: 'start', config: deep }];
    expect((await refusal('flowchart.validate', { flowchart_id, nodes, edges: [] })).code).toBe('BAD_REQUEST');
    expect(await read()).toEqual(before);
    expect(await count(flowcharts, 'plans')).toBe(0);
  });

  it('[FLR-graph-subflow-cycle] a flowchart that comes back to itself is told so at every node on the way', async () => {
    const { ask, flowchart_id } = await open();
    const calls = (ref_id: number | null) => ({
      nodes: [
        { client_id: 's', node_type: 'start' },
        { client_id: 'f', node_type: 'flowchart', ref_id },
      ],
      edges: [{ source: 's', target: 'f', edge_mode: 'solid' }],
    });
    const { flowchart: second } = await ask('flowchart.create', { name: 'Second' });
    const { flowchart: third } = await ask('flowchart.create', { name: 'Third' });
    const save = async (id: number, ref: number | null) =>
      (await ask('flowchart.save', { flowchart_id: id, ...calls(ref) })).validation.errors.map(
        ({ code }: Payload) => code,
      );
    expect(await save(flowchart_id, flowchart_id)).toEqual(['subflow_cycle']);
    expect(await save(flowchart_id, null)).toEqual(['missing_ref_id']);
    expect(await save(flowchart_id, second.id)).toEqual([]);
    expect(await save(second.id, third.id)).toEqual([]);
    expect(await save(third.id, flowchart_id)).toEqual(['subflow_cycle']);
    expect((await ask('flowchart.validate', { flowchart_id })).errors).toMatchObject([{ code: 'subflow_cycle' }]);
    await ask('flowchart.delete', { flowchart_id: third.id });
    expect((await ask('flowchart.validate', { flowchart_id: second.id })).errors).toMatchObject([
      { code: 'ref_missing' },
    ]);
  });

  it('[FLR-graph-large] 9,000 nodes are saved, moved and read in seconds', { timeout: 120_000 }, async () => {
    const { save, read } = await open();
    const length = 9_000;
    const task = (at: number) => ({
      client_id: `n${at}`,
      node_type: 'task',
      title: `Step ${at}`,
      x: at,
      y: 0,
      config: { executor: 'static', output: { at } },
    });
    const nodes = [{ client_id: 'n0', node_type: 'start' }, ...Array.from({ length }, (_, at) => task(at + 1))];
    const edges = Array.from({ length }, (_, at) => ({ source: `n${at}`, target: `n${at + 1}`, edge_mode: 'solid' }));
    const began = performance.now();
    const first = await save({ nodes, edges });
    expect(first.validation.valid).toBe(true);
    expect(Object.keys(first.id_map.nodes)).toHaveLength(length + 1);
    const graph = again(first);
    for (const node of graph.nodes) node.y = 10;
    const second = await save(graph);
    expect(second.version).toBe(3);
    expect(second.nodes.map(({ id }: Payload) => id)).toEqual(first.nodes.map(({ id }: Payload) => id));
    const { id_map: _, ...saved } = second;
    expect(await read()).toEqual(saved);
    expect(performance.now() - began).toBeLessThan(60_000);
  });
});
