import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { onEachDatabase, type TestStore } from '../support/databases.ts';
import { type Chart, type Engine, openEngine } from '../support/engine.ts';
import { workedGraph } from '../support/flowcharts.ts';

onEachDatabase((_engine, make) => {
  describe('[S004-worked-run] the worked example', () => {
    let store: TestStore;
    let engine: Engine;

    beforeAll(async () => {
      store = await make();
      engine = await openEngine(store);
    });
    afterAll(async () => {
      await engine.close();
      await store.remove();
    });

    const saved = async (conditionOfDone: string): Promise<Chart & { ref: Record<string, number | null> }> => {
      const { flowchart } = await engine.ask('flowchart.create', { name: 'Worked' });
      const graph = workedGraph();
      graph.nodes[2].config.decision_conditions = [{ connector_id: 'done', condition_text: conditionOfDone }];
      const answer = await engine.ask('flowchart.save', { flowchart_id: flowchart.id, ...graph });
      const names = new Map(Object.entries(answer.id_map.nodes).map(([name, id]) => [id, name]));
      return {
        id: flowchart.id,
        version: answer.version,
        node: answer.id_map.nodes,
        edge: answer.id_map.edges,
        validation: answer.validation,
        ref: Object.fromEntries(
          answer.nodes.map((node: { id: number; ref_id: number | null }) => [names.get(node.id), node.ref_id]),
        ),
      };
    };

    it('saves with plan and memory made for it, and can run', async () => {
      const chart = await saved('');
      expect(chart.validation.valid).toBe(true);
      expect([chart.ref.p, chart.ref.b].every((id) => typeof id === 'number')).toBe(true);
    });

    it('goes over its fallback when no condition is given: plan, decision, memory', async () => {
      const chart = await saved('');
      const { run, lines, one } = await engine.run(chart);
      expect([run.status, lines]).toEqual(['completed', ['s succeeded', 'p succeeded', 'd succeeded', 'b succeeded']]);
      expect(one('p').routing.route_key).toBe('done');
      expect(one('d').output).toMatchObject({ matched_connector_ids: [], no_match: true });
      const { node_run } = await engine.ask('run.node', { node_run_id: one('b').id });
      const ids = (entries: { node_id: number }[]) => entries.map(({ node_id }) => node_id);
      expect(ids(node_run.input_context.upstream_nodes)).toEqual([chart.node.d]);
      expect(ids(node_run.input_context.context_only_upstream_nodes)).toEqual([chart.node.p]);
      const { queries } = engine.database;
      const plan = await queries
        .selectFrom('plans')
        .select('completed_at')
        .where('id', '=', chart.ref.p as number)
        .executeTakeFirstOrThrow();
      expect(plan.completed_at).not.toBeNull();
    });

    it('remembers what was inferred from before it; the model that would be asked is missing, and that is said', async () => {
      const chart = await saved('');
      const { one } = await engine.run(chart);
      expect(one('b')).toMatchObject({ degraded_reason: 'llm_not_configured' });
      expect(one('b').output).toMatchObject({
        execution_status: 'success_with_warning',
        fallback_used: true,
        failed_mode: 'llm_guided',
        fallback_mode: 'deterministic',
      });
      const memory = await engine.database.queries
        .selectFrom('memories')
        .select('description')
        .where('id', '=', chart.ref.b as number)
        .executeTakeFirstOrThrow();
      expect(memory.description).toContain('no_match');
      expect(memory.description.length).toBeLessThanOrEqual(8_192);
    });

    it('leaves an artifact of each of its four nodes', async () => {
      const chart = await saved('');
      const { run } = await engine.run(chart);
      const { items, total_count } = await engine.ask('artifact.list', { flowchart_id: chart.id });
      expect(total_count).toBe(4);
      expect(items.map((item: { artifact_type: string }) => item.artifact_type).sort()).toEqual([
        'decision',
        'memory',
        'plan',
        'start',
      ]);
      expect(new Set(items.map((item: { flowchart_run_id: number }) => item.flowchart_run_id))).toEqual(
        new Set([run.id]),
      );
    });

    it('ends over the connector whose condition is the route that the plan named', async () => {
      const chart = await saved('done');
      const { run, lines, one } = await engine.run(chart);
      expect([run.status, lines]).toEqual(['completed', ['s succeeded', 'p succeeded', 'd succeeded', 'a succeeded']]);
      expect(run.output_node_run_id).toBe(one('d').id);
    });
  });
});
