import { describe, expect, it } from 'vitest';
import { useStore } from '../data-integrity/library.ts';
import { onEachDatabase } from '../support/databases.ts';
import { type Flowcharts, openFlowcharts, type Payload, workedGraph } from '../support/flowcharts.ts';

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
    const { ask, database, flowchart_id } = await open();
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
    // No door removes what another flowchart runs; a restored or older database may still lack it.
    await database.queries.deleteFrom('flowcharts').where('id', '=', third.id).execute();
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
