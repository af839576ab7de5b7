import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { artifactHistory, sweepArtifacts } from '../../src/artifacts/index.ts';
import { createHttpServer } from '../../src/surfaces/http/server.ts';
import { onEachDatabase, type TestStore } from '../support/databases.ts';
import { type Asker, done, type InProcessHub, openInProcessHub, outcome } from '../support/in-process-hub.ts';
import { type RunRows, runRows } from '../support/run-rows.ts';

const NOW = '2030-01-01T12:00:00.000Z';
const PAST = '2030-01-01T11:59:59.000Z';
const LATER = '2030-01-01T13:00:00.000Z';
const clock = { now: () => new Date(NOW) };

onEachDatabase((_engine, make) => {
  describe('artifacts', () => {
    let store: TestStore;
    let hub: InProcessHub;
    let rows: RunRows;
    let viewer: Asker;
    let stranger: Asker;
    let chart: { id: number; nodes: number[]; edges: number[] };
    let run: number;
    let plan: number;
    const nodeRuns: number[] = [];
    const plans: number[] = [];
    let decision: number;
    let bare: number;

    beforeAll(async () => {
      store = await make();
      hub = await openInProcessHub(store, { clock });
      rows = runRows(hub.app.services.database, clock);
      viewer = await hub.asker('vera', { role: 'viewer' });
      await hub.owner.post('/api/v1/vaults', { vault_id: 'other', title: 'Other' });
      stranger = await hub.asker('otto', { role: 'admin', vault: 'other' });
      chart = await rows.flowchart(
        [{ type: 'start' }, { type: 'plan' }, { type: 'decision' }, { type: 'task', title: 'Ask' }],
        [
          { from: 0, to: 1 },
          { from: 1, to: 2 },
          { from: 2, to: 3, condition_key: 'yes' },
        ],
      );
      run = await rows.run(chart.id);
      plan = await rows.plan();
      const [start, planNode, decisionNode, task] = chart.nodes as [number, number, number, number];
      nodeRuns.push(await rows.nodeRun(run, start, { type: 'start', sequence: 1, output: { node_type: 'start' } }));
      for (const sequence of [2, 3, 4]) {
        const nodeRun = await rows.nodeRun(run, planNode, { type: 'plan', sequence, index: sequence - 1, output: {} });
        nodeRuns.push(nodeRun);
        plans.push(
          await rows.artifact({
            flowchart: chart.id,
            node: planNode,
            run,
            nodeRun,
            type: 'plan',
            ref: plan,
            payload: { mode: 'deterministic', plan: { id: plan }, step: sequence },
            expiresAt: sequence === 2 ? PAST : LATER,
            ...(sequence === 4 ? { requestId: 'asked', correlationId: 'together' } : {}),
          }),
        );
      }
      const decided = await rows.nodeRun(run, decisionNode, { type: 'decision', sequence: 5, output: {} });
      decision = await rows.artifact({
        flowchart: chart.id,
        node: decisionNode,
        run,
        nodeRun: decided,
        type: 'decision',
        payload: { matched_connector_ids: ['yes'], evaluations: [], no_match: false, routing_state: {} },
      });
      const asked = await rows.nodeRun(run, task, {
        sequence: 6,
        output: { node_type: 'task', text: 'hello' },
        routing: { route_key: 'a' },
        references: { upstream: [[decided, chart.edges[2]!]], dotted: [[nodeRuns[0]!, 1]] },
      });
      bare = await rows.artifact({ flowchart: chart.id, node: task, run, nodeRun: asked, type: 'task' });
    });
    afterAll(async () => {
      await hub.close();
      await store.remove();
    });

    it('lists what a plan was given by runs, newest first, with its identity and pages [S004-artifact-list] [S004-artifact-success-payload]', async () => {
      const body = await done(viewer.get(`/api/plans/${plan}/artifacts`, { 'x-request-id': 'r-1' }));
      expect(Object.keys(body)).toEqual([
        'ok',
        'plan_id',
        'count',
        'total_count',
        'limit',
        'offset',
        'items',
        'request_id',
      ]);
      expect(body).toMatchObject({ ok: true, plan_id: plan, count: 2, total_count: 2, limit: 50, offset: 0 });
      expect(body.items.map((item: { id: number }) => item.id)).toEqual([plans[2], plans[1]]);
      expect(body.request_id).toBe('r-1');
      const second = await done(
        viewer.get(`/api/plans/${plan}/artifacts?limit=1&offset=1&order=asc`, { 'x-correlation-id': 'c-1' }),
      );
      expect(second).toMatchObject({ count: 1, total_count: 2, correlation_id: 'c-1' });
      expect(second.items[0].id).toBe(plans[2]);
    });

    it('sends every column of an artifact with its payload [S004-artifact-record]', async () => {
      const body = await done(viewer.get(`/api/plans/${plan}/artifacts/${plans[1]}`));
      const nodeRun = nodeRuns[2];
      expect(body).toMatchObject({ ok: true, plan_id: plan });
      expect(body.item).toEqual({
        id: plans[1],
        flowchart_id: chart.id,
        flowchart_node_id: chart.nodes[1],
        flowchart_run_id: run,
        flowchart_run_node_id: nodeRun,
        node_type: 'plan',
        artifact_type: 'plan',
        ref_id: plan,
        execution_index: 1,
        variant_key: `run-${run}-node-run-${nodeRun}`,
        retention_mode: 'ttl',
        expires_at: LATER,
        request_id: `flowchart-run-${run}-node-run-${nodeRun}`,
        correlation_id: `flowchart-run-${run}`,
        payload: { mode: 'deterministic', plan: { id: plan }, step: 3 },
        contract_version: 'v1',
        payload_version: 1,
        idempotency_key: `flowchart_run:${run}:node_run:${nodeRun}:artifact:plan`,
        created_at: '2030-01-01T00:00:00.000Z',
        updated_at: '2030-01-01T00:00:00.000Z',
      });
    });

    it('never shows what has expired, swept or not [FLR-artifact-expired]', async () => {
      expect(await outcome(viewer.get(`/api/v1/artifacts/${plans[0]}`))).toBe('NOT_FOUND');
      expect(await outcome(viewer.get(`/api/v1/plans/${plan}/artifacts/${plans[0]}`))).toBe('NOT_FOUND');
      expect((await done(viewer.get('/api/v1/artifacts?artifact_type=plan'))).total_count).toBe(2);
    });

    it('makes the payload of a plain node from its node run, with sources only [FLR-artifact-compact-context]', async () => {
      const { item } = await done(viewer.get(`/api/v1/artifacts/${bare}`));
      expect(item.payload).toEqual({
        node_type: 'task',
        input_context: {
          trigger_sources: [
            {
              source_edge_id: chart.edges[2],
              source_node_id: chart.nodes[2],
              source_node_type: 'decision',
              condition_key: 'yes',
              execution_index: 1,
              sequence: 5,
              edge_mode: 'solid',
            },
          ],
          context_only_sources: [expect.objectContaining({ source_node_type: 'start', edge_mode: 'dotted' })],
          attachment_only_sources: [],
        },
        output_state: { node_type: 'task', text: 'hello' },
        routing_state: { route_key: 'a' },
      });
    });

    it('filters the general list by everything an artifact carries [S004-artifact-filters]', async () => {
      const found = async (query: string) =>
        (await done(viewer.get(`/api/v1/artifacts?${query}`))).items.map((item: { id: number }) => item.id);
      expect(await found(`artifact_type=plan&ref_id=${plan}`)).toEqual([plans[2], plans[1]]);
      expect(await found('trace_request_id=asked')).toEqual([plans[2]]);
      expect(await found(`trace_request_id=flowchart-run-${run}-node-run-${nodeRuns[2]}`)).toEqual([plans[1]]);
      expect(await found('trace_correlation_id=together')).toEqual([plans[2]]);
      expect(await found(`trace_correlation_id=flowchart-run-${run}&node_type=decision`)).toEqual([decision]);
      expect(await found(`flowchart_run_node_id=${nodeRuns[2]}`)).toEqual([plans[1]]);
      expect(await found(`flowchart_id=${chart.id}&flowchart_node_id=${chart.nodes[2]}`)).toEqual([decision]);
      expect(await found(`flowchart_run_id=${run + 1}`)).toEqual([]);
      expect((await done(viewer.get(`/api/v1/artifacts?artifact_id=${decision}`))).item.id).toBe(decision);
      expect(await outcome(viewer.get('/api/v1/artifacts?limit=201'))).toBe('BAD_REQUEST');
      expect(await outcome(viewer.get('/api/v1/artifacts?order=sideways'))).toBe('BAD_REQUEST');
    });

    it('lists and shows the artifacts of a decision node, and of no other node [S004-decision-artifacts]', async () => {
      const path = (node: number) => `/api/flowcharts/${chart.id}/nodes/${node}/decision-artifacts`;
      const list = await done(viewer.get(path(chart.nodes[2]!)));
      expect(list).toMatchObject({ ok: true, flowchart_id: chart.id, flowchart_node_id: chart.nodes[2], count: 1 });
      expect(list.items[0].payload).toEqual({
        matched_connector_ids: ['yes'],
        evaluations: [],
        no_match: false,
        routing_state: {},
      });
      const one = await done(viewer.get(`${path(chart.nodes[2]!)}/${decision}`));
      expect(one.item).toEqual(list.items[0]);
      expect(await outcome(viewer.get(path(chart.nodes[1]!)))).toBe('BAD_REQUEST');
      expect(await outcome(viewer.get(path(999_999)))).toBe('NOT_FOUND');
      expect(await outcome(viewer.get(`${path(chart.nodes[2]!)}/${plans[1]}`))).toBe('NOT_FOUND');
    });

    it('answers for a missing parent before anything else, with the shared envelope [S004-artifact-error-payload]', async () => {
      for (const path of ['plans', 'memories', 'milestones']) {
        expect(await outcome(viewer.get(`/api/v1/${path}/999999/artifacts`))).toBe('NOT_FOUND');
        const { status, body } = await viewer.get(`/api/v1/${path}/999999/artifacts/${plans[1]}`);
        expect(status).toBe(404);
        expect(Object.keys(body)).toEqual(expect.arrayContaining(['code', 'message', 'details', 'request_id']));
      }
    });

    it('shows nothing of another vault [FLR-artifact-vault]', async () => {
      expect((await done(stranger.get('/api/v1/artifacts'))).total_count).toBe(0);
      for (const path of [
        `artifacts/${decision}`,
        `plans/${plan}/artifacts`,
        `flowcharts/${chart.id}/nodes/${chart.nodes[2]}/decision-artifacts`,
      ]) {
        expect(await outcome(stranger.get(`/api/v1/${path}`)), path).toBe('NOT_FOUND');
      }
    });

    it('lets admins, and only them, remove one artifact of an entity [S004-artifact-delete]', async () => {
      const memory = await rows.memory();
      const milestone = await rows.milestone();
      const server = await createHttpServer(hub.app);
      const remove = async (url: string, token: string) =>
        (
          await server.inject({
            method: 'DELETE',
            url,
            headers: { authorization: `Bearer ${token}`, host: 'localhost' },
          })
        ).json();
      const token = (await done(hub.owner.post('/api/v1/tokens', { user: 'local' }))).token;
      const editor = (await done(hub.owner.post('/api/v1/tokens', { user: 'edda', role: 'editor' }))).token;
      for (const [word, table, ref] of [
        ['memory', 'memories', memory],
        ['milestone', 'milestones', milestone],
      ] as const) {
        const nodeRun = await rows.nodeRun(run, chart.nodes[3]!, {
          sequence: 100 + ref + (word === 'memory' ? 0 : 50),
        });
        const artifact = await rows.artifact({
          flowchart: chart.id,
          node: chart.nodes[3]!,
          run,
          nodeRun,
          type: word,
          ref,
          payload: {},
        });
        const url = `/api/v1/${table}/${ref}/artifacts/${artifact}`;
        expect((await done(viewer.get(`/api/v1/${table}/${ref}/artifacts`))).count).toBe(1);
        expect((await remove(url, editor)).code).toBe('FORBIDDEN');
        expect(await remove(url, token)).toMatchObject({
          ok: true,
          deleted: true,
          [`${word}_id`]: ref,
          artifact_id: artifact,
        });
        expect((await remove(url, token)).code).toBe('NOT_FOUND');
      }
      await server.close();
    });

    it('hands the history of an entity to other rooms [FLR-artifact-history]', async () => {
      const request = { vault_id: 'default', artifact_type: 'plan', ref_id: plan, limit: 1, offset: 0, now: NOW };
      const { items, total } = await artifactHistory(hub.app.services.database.queries, request);
      expect(items.map(({ id }) => id)).toEqual([plans[2]]);
      expect(total).toBe(2);
    });

    it('sweeps what has expired, in batches, and nothing else [FLR-artifact-sweep]', async () => {
      const { database } = hub.app.services;
      const many = 1_100;
      const other = await rows.run(chart.id);
      for (let sequence = 1; sequence <= many; sequence += 1) {
        const node = chart.nodes[3]!;
        const nodeRun = await rows.nodeRun(other, node, { sequence });
        await rows.artifact({
          flowchart: chart.id,
          node,
          run: other,
          nodeRun,
          type: 'task',
          expiresAt: PAST,
          payload: { at: sequence },
        });
      }
      const before = (await done(viewer.get('/api/v1/artifacts'))).total_count;
      expect(await sweepArtifacts(database, clock)).toBe(many + 1);
      expect(await sweepArtifacts(database, clock)).toBe(0);
      expect((await done(viewer.get('/api/v1/artifacts'))).total_count).toBe(before);
    });
  });
});
