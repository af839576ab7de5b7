import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { onEachDatabase, type TestStore } from '../support/databases.ts';
import { type Asker, done, type InProcessHub, openInProcessHub, outcome } from '../support/in-process-hub.ts';
import { type RunRows, runRows } from '../support/run-rows.ts';

const clock = { now: () => new Date('2030-01-01T12:00:00.000Z') };
const LONG = 'ü'.repeat(5_000);
const FILE = { id: 4, file_name: 'a.txt', content_type: 'text/plain', size_bytes: 3 };

onEachDatabase((_engine, make) => {
  describe('history of runs', () => {
    let store: TestStore;
    let hub: InProcessHub;
    let rows: RunRows;
    let viewer: Asker;
    let stranger: Asker;
    let chart: { id: number; nodes: number[]; edges: number[] };
    let run: number;
    let replay: number;
    let ids: number[];

    beforeAll(async () => {
      store = await make();
      hub = await openInProcessHub(store, { clock });
      rows = runRows(hub.app.services.database, clock);
      viewer = await hub.asker('vera', { role: 'viewer' });
      await hub.owner.post('/api/v1/vaults', { vault_id: 'other', title: 'Other' });
      stranger = await hub.asker('otto', { role: 'admin', vault: 'other' });
      chart = await rows.flowchart(
        [{ type: 'start' }, { type: 'task', title: 'Draft' }, { type: 'memory', title: 'Recall' }, { type: 'end' }],
        [
          { from: 0, to: 1 },
          { from: 0, to: 2, edge_mode: 'dashed' },
          { from: 1, to: 2, condition_key: 'go' },
          { from: 2, to: 3 },
        ],
      );
      const [start, task, memory, end] = chart.nodes as [number, number, number, number];
      const [, dashed, solid] = chart.edges as [number, number, number];
      run = await rows.run(chart.id, {
        input: { topic: 'x' },
        warnings: [{ code: 'fan_in_starved', message: 'lost' }],
      });
      const one = await rows.nodeRun(run, start, {
        type: 'start',
        sequence: 1,
        output: { node_type: 'start', secretish: 'not for dashed', attachments: [FILE] },
      });
      const two = await rows.nodeRun(run, task, { sequence: 2, output: { text: LONG, attachments: [FILE] } });
      const three = await rows.nodeRun(run, memory, {
        type: 'memory',
        sequence: 3,
        degraded: 'llm_not_configured',
        output: { action: 'retrieve', fallback_reason: 'llm_not_configured' },
        references: { upstream: [[two, solid]], dashed: [[one, dashed]], total: 3 },
      });
      const four = await rows.nodeRun(run, end, { type: 'end', sequence: 4, status: 'failed', error: 'no end' });
      ids = [one, two, three, four];
      await rows.artifact({ flowchart: chart.id, node: memory, run, nodeRun: three, type: 'memory', payload: {} });
      await rows.setRun(run, { status: 'completed', output_node_run_id: two, finished_at: '2030-01-01T00:00:09.000Z' });
      replay = await rows.run(chart.id, { limit: 7 });
      await rows.nodeRun(replay, start, { type: 'start', sequence: 1, reusedFrom: one });
      await rows.nodeRun(replay, task, { sequence: 2, output: { text: 'short', attachments: [FILE] } });
    });
    afterAll(async () => {
      await hub.close();
      await store.remove();
    });

    it('lists runs newest first with filters and pages, long outputs as excerpts [FLR-run-list]', async () => {
      const all = await done(viewer.get('/api/v1/flowcharts/runs'));
      expect(all.items.map((item: { id: number }) => item.id)).toEqual([replay, run]);
      expect(all).toMatchObject({ count: 2, total_count: 2, limit: 50, offset: 0 });
      expect(all.items[1].warning_count, 'with node runs that only just succeeded').toBe(2);
      expect(all.items[1].output.truncated).toBe(true);
      expect(Buffer.byteLength(JSON.stringify(all.items[1].output))).toBeLessThanOrEqual(2_048);
      const ended = await done(viewer.get(`/api/v1/flowcharts/runs?status=completed&flowchart_id=${chart.id}`));
      expect(ended.items.map((item: { id: number }) => item.id)).toEqual([run]);
      expect((await done(viewer.get('/api/v1/flowcharts/runs?parent_run_id=5'))).count).toBe(0);
    });

    it('shows a run with titles of its graph, its counts and its output [FLR-run-show]', async () => {
      const body = await done(viewer.get(`/api/v1/flowcharts/runs/${run}`));
      expect(body.flowchart).toEqual({ id: chart.id, name: 'Release' });
      expect(body.flowchart_run).toMatchObject({
        id: run,
        input: { topic: 'x' },
        output: { text: LONG, attachments: [FILE] },
        warning_count: 2,
        node_run_count: 4,
        cycle_count: 1,
      });
      expect(body.node_runs.map((item: { node_title: string }) => item.node_title)).toEqual([
        null,
        'Draft',
        'Recall',
        null,
      ]);
      expect(body.node_runs[2]).toMatchObject({
        degraded_status: true,
        degraded_reason: 'llm_not_configured',
        idempotency_key: `flowchart_run:${run}:flowchart_node:${chart.nodes[2]}:execution:1`,
        output_contract_version: 'v1',
        routing_contract_version: 'v1',
        cycle_index: 1,
        input_context: null,
      });
      expect(body.node_runs[1].output_state.truncated).toBe(true);
      const page = await done(viewer.get(`/api/v1/flowcharts/runs/${run}/nodes?limit=1&offset=3`));
      expect(page).toMatchObject({ count: 1, total_count: 4 });
      expect((await done(viewer.get(`/api/v1/flowcharts/runs/${run}/nodes?status=failed`))).total_count).toBe(1);
      const history = await done(viewer.get(`/api/v1/flowcharts/${chart.id}/history`));
      expect(history.runs[1]).toMatchObject({ id: run, node_run_count: 4, cycle_count: 1 });
    });

    it('takes the output of a replayed node run from where it was made [FLR-run-reused-output]', async () => {
      const { node_runs } = await done(viewer.get(`/api/v1/flowcharts/runs/${replay}/nodes`));
      expect(node_runs[0]).toMatchObject({ reused_from_id: ids[0], output_state: { node_type: 'start' } });
    });

    it('keeps a run without an end from showing an output [FLR-run-output-when-over]', async () => {
      await rows.setRun(replay, { output_node_run_id: ids[1]! });
      expect((await done(viewer.get(`/api/v1/flowcharts/runs/${replay}`))).flowchart_run.output).toBeNull();
    });

    it('gives one node run whole, with the context it was given [S004-context-propagation]', async () => {
      const { node_run } = await done(viewer.get(`/api/v1/flowcharts/node-runs/${ids[2]}`));
      const context = node_run.input_context;
      expect(context.flowchart).toEqual({ id: chart.id, run_id: run, total_execution_count: 3 });
      expect(context.upstream_nodes).toHaveLength(1);
      expect(context.upstream_nodes[0]).toMatchObject({ condition_key: 'go', edge_mode: 'solid', node_run_id: ids[1] });
      expect(context.upstream_nodes[0].output_state.truncated).toBe(true);
      expect(context.latest_upstream).toEqual(context.upstream_nodes[0]);
      expect(context.attachment_only_upstream_nodes[0].output_state).toEqual({ attachments: [FILE] });
      expect(context.attachment_only_upstream_nodes[0].routing_state).toEqual({});
      expect(context.propagated_attachments).toEqual([FILE]);
      expect(context.attachment_only_source_count).toBe(1);
      const whole = await done(viewer.get(`/api/v1/flowcharts/node-runs/${ids[1]}`));
      expect(whole.node_run.output_state.text).toBe(LONG);
    });

    it('says where a run stands, with counts and warnings [FLR-run-status]', async () => {
      expect(await done(viewer.get(`/api/v1/flowcharts/runs/${run}/status`))).toMatchObject({
        id: run,
        status: 'completed',
        counts: { succeeded: 3, failed: 1 },
        warning_count: 2,
        warnings: [
          { code: 'fan_in_starved', message: 'lost' },
          { code: 'degraded', flowchart_run_node_id: ids[2], message: 'llm_not_configured' },
        ],
      });
    });

    it('traces a run in pages cut by the database, newest first [FLR-run-trace]', async () => {
      const path = `/api/v1/flowcharts/runs/${run}/trace`;
      const all = await done(viewer.get(path));
      expect(all.node_trace.total_count).toBe(4);
      expect(all.failure_trace.items.map((item: { id: number }) => item.id)).toEqual([ids[3]]);
      expect(all.tool_trace.items[0]).toMatchObject({
        tool_name: 'deterministic.memory',
        operation: 'retrieve',
        fallback_used: true,
      });
      expect(all.artifact_trace.total_count).toBe(1);
      expect(all.timeline.total_count).toBe(9);
      expect(all.timeline.items[0].event_type).toBe('flowchart_run_finished');
      expect(all.timeline.items.map((item: { event_type: string }) => item.event_type)).toContain('flowchart_warning');
      const some = await done(viewer.get(`${path}?include=node,timeline&degraded_only=true&limit=1`));
      expect(some.node_trace).toMatchObject({ total_count: 1, limit: 1 });
      expect(some.artifact_trace).toEqual({ items: [], total_count: 0, limit: 1, offset: 0 });
      expect(some.timeline.items).toHaveLength(1);
      const traced = await done(viewer.get(`${path}?trace_request_id=flowchart-run-${run}-node-run-${ids[1]}`));
      expect(traced.node_trace.items.map((item: { id: number }) => item.id)).toEqual([ids[1]]);
      expect((await done(viewer.get(`${path}?status=failed,succeeded`))).node_trace.total_count).toBe(4);
      expect(await outcome(viewer.get(`${path}?include=everything`))).toBe('BAD_REQUEST');
    });

    it('compares two runs: version, limits, path, outputs and durations [FLR-run-compare]', async () => {
      const body = await done(viewer.get(`/api/v1/flowcharts/runs/${run}/compare/${replay}`));
      expect(body).toMatchObject({
        same_flowchart: true,
        same_version: true,
        same_path: false,
        limits: [{ limit: 'max_node_executions', left: null, right: 7 }],
        input_changed_keys: ['topic'],
        counts: { both: 2, only_left: 2, only_right: 0, output_equal: 1, output_different: 1 },
      });
      expect(body.steps[1]).toMatchObject({
        output: 'different',
        changed_keys: ['text'],
        left: { duration_ms: 1_500 },
      });
      expect(body.steps[2]).toMatchObject({ ran_in: 'left', right: null, output: null });
      expect(await outcome(viewer.get(`/api/v1/flowcharts/runs/${run}/compare/999999`))).toBe('NOT_FOUND');
    });

    it('replays the events of a run from a sequence on, and says when some are gone [FLR-run-events]', async () => {
      const { database } = hub.app.services;
      for (const [node, status] of [
        [0, 'running'],
        [0, 'succeeded'],
        [1, 'running'],
      ] as const) {
        await rows.event(run, 'flowchart.node.updated', {
          flowchart_id: chart.id,
          flowchart_node_id: chart.nodes[node],
          node_run_id: ids[node],
          status,
        });
      }
      const path = `/api/v1/flowcharts/runs/${run}/events`;
      const first = await done(viewer.get(`${path}?limit=2`));
      expect(first).toMatchObject({ next_after: 2, last_sequence: 3, replay_gap: false });
      expect(first.events.map((event: { output_state: unknown }) => event.output_state === null)).toEqual([
        true,
        false,
      ]);
      const second = await done(viewer.get(`${path}?after=2`));
      expect(second.events).toHaveLength(1);
      expect(second.titles).toEqual({ [String(chart.nodes[1])]: 'Draft' });
      await database.queries
        .updateTable('streams')
        .set({ first_sequence: 3 })
        .where('stream', '=', `flowchart_run:${run}`)
        .execute();
      expect((await done(viewer.get(`${path}?after=1`))).replay_gap).toBe(true);
      expect((await done(viewer.get(`${path}?after=2`))).replay_gap).toBe(false);
    });

    it('answers as its schemas say [FLR-run-schemas]', async () => {
      const { app } = hub;
      const principal = await app.principals.local({
        identity: 'local',
        vaultId: 'default',
        narrowTo: null,
        agent: false,
      });
      const call = { principal, door: 'cli', request_id: 'r', correlation_id: 'c' } as const;
      const inputs: Record<string, Record<string, unknown>> = {
        'run.list': {},
        'run.history': { flowchart_id: chart.id },
        'run.show': { run_id: run },
        'run.status': { run_id: run },
        'run.nodes': { run_id: run },
        'run.node': { node_run_id: ids[2] },
        'run.trace': { run_id: run },
        'run.compare': { run_id: run, other_run_id: replay },
        'run.events': { run_id: run },
        'artifact.list': {},
      };
      for (const operation of await app.catalogue.all()) {
        const input = inputs[operation.name];
        if (!input) continue;
        const payload = await app.invoke(operation, call, input);
        expect(operation.output.parse(payload), operation.name).toEqual(payload);
        if (operation.cli) expect(await operation.cli.render(payload), operation.name).toEqual(expect.any(String));
        delete inputs[operation.name];
      }
      expect(inputs).toEqual({});
    });

    it('shows nothing of another vault [FLR-run-vault]', async () => {
      expect((await done(stranger.get('/api/v1/flowcharts/runs'))).total_count).toBe(0);
      for (const path of [
        `runs/${run}`,
        `runs/${run}/status`,
        `runs/${run}/nodes`,
        `runs/${run}/trace`,
        `runs/${run}/events`,
        `runs/${run}/compare/${run}`,
        `node-runs/${ids[0]}`,
        `${chart.id}/history`,
      ]) {
        expect(await outcome(stranger.get(`/api/v1/flowcharts/${path}`)), path).toBe('NOT_FOUND');
      }
    });
  });
});
