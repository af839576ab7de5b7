import type { AddressInfo } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { io, type Socket } from 'socket.io-client';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { createHttpServer } from '../../src/surfaces/http/server.ts';
import { onEachDatabase, type TestStore } from '../support/databases.ts';
import { type Body, done, type InProcessHub, openInProcessHub } from '../support/in-process-hub.ts';
import { type RunRows, runRows } from '../support/run-rows.ts';

const EVENTS = ['flowchart.run.updated', 'flowchart.node.updated', 'flowchart:node_artifact:persisted'];

onEachDatabase((_engine, make) => {
  describe('the realtime door', () => {
    let store: TestStore;
    let hub: InProcessHub;
    let server: FastifyInstance;
    let rows: RunRows;
    let url: string;
    let token: string;
    let chart: { id: number; nodes: number[]; edges: number[] };
    const opened: Socket[] = [];

    beforeAll(async () => {
      store = await make();
      hub = await openInProcessHub(store);
      rows = runRows(hub.app.services.database, hub.app.services.clock);
      server = await createHttpServer(hub.app);
      await server.listen({ host: '127.0.0.1', port: 0 });
      url = `http://127.0.0.1:${(server.server.address() as AddressInfo).port}`;
      token = await tokenFor('vera', 'viewer');
      chart = await rows.flowchart([{ type: 'start' }, { type: 'plan' }], [{ from: 0, to: 1 }]);
    });
    afterEach(() => {
      for (const socket of opened.splice(0)) socket.disconnect();
    });
    afterAll(async () => {
      await server.close();
      await hub.close();
      await store.remove();
    });

    const tokenFor = async (user: string, role: string): Promise<string> =>
      (await done(hub.owner.post('/api/v1/tokens', { user, role }))).token;

    interface Client {
      socket: Socket;
      heard: Body[];
      greeting: Promise<Body>;
      ask(name: string, message?: unknown): Promise<Body>;
    }

    const client = (auth: Record<string, unknown>, headers: Record<string, string> = {}): Client => {
      const socket = io(`${url}/rt`, {
        auth,
        extraHeaders: headers,
        transports: ['websocket'],
        forceNew: true,
        reconnection: false,
      });
      opened.push(socket);
      const heard: Body[] = [];
      for (const name of [...EVENTS, 'rt.replay_gap']) socket.on(name, (event) => heard.push({ name, ...event }));
      return {
        socket,
        heard,
        greeting: new Promise((greet) => socket.once('rt.connected', greet)),
        ask: (name, message) => socket.timeout(10_000).emitWithAck(name, message),
      };
    };
    const refusalOf = (socket: Socket): Promise<Body> =>
      new Promise((tell) => socket.once('connect_error', (error) => tell({ ...error, text: error.message })));

    it('greets who has a token and refuses who has none [FLR-rt-authentication]', async () => {
      const known = client({ token });
      expect(await known.greeting).toMatchObject({ ok: true, namespace: '/rt', sid: known.socket.id });
      expect(await known.ask('rt.health', 'hello')).toMatchObject({ ok: true, echo: 'hello' });
      expect((await refusalOf(client({}).socket)).data.code).toBe('UNAUTHORIZED');
      expect((await refusalOf(client({ token: `${token}x` }).socket)).data.code).toBe('UNAUTHORIZED');
      expect((await refusalOf(client({ token, vault_id: 'elsewhere' }).socket)).data.code).toBe('NOT_FOUND');
    });

    it('refuses pages of other origins and other host names before anything else [FLR-rt-origin]', async () => {
      expect((await refusalOf(client({ token }, { origin: 'http://evil.example' }).socket)).text).toMatch(/websocket/);
      expect((await refusalOf(client({ token }, { host: 'evil.example' }).socket)).text).toMatch(/websocket/);
    });

    it('sends the three events with exactly the fields of the contract, at top level [S004-socket-node-updated] [S004-socket-run-updated] [S004-socket-artifact-persisted]', async () => {
      const run = await rows.run(chart.id);
      const node = chart.nodes[1]!;
      const nodeRun = await rows.nodeRun(run, node, {
        type: 'plan',
        sequence: 1,
        output: { mode: 'deterministic' },
        routing: { route_key: 'x' },
      });
      const artifact = await rows.artifact({
        flowchart: chart.id,
        node,
        run,
        nodeRun,
        type: 'plan',
        payload: { mode: 'deterministic' },
      });
      const { ask, heard } = client({ token });
      const answer = await ask('rt.subscribe', { rooms: [`flowchart_run:${run}`] });
      expect(answer).toMatchObject({ ok: true, rooms: [`flowchart_run:${run}`], refused: [], namespace: '/rt' });
      const where = {
        flowchart_id: chart.id,
        flowchart_node_id: node,
        flowchart_node_type: 'plan',
        node_run_id: nodeRun,
      };
      await rows.event(run, EVENTS[0]!, { flowchart_id: chart.id, status: 'running', transition: 'started' });
      await rows.event(run, EVENTS[1]!, { ...where, status: 'succeeded', execution_index: 1 });
      await rows.event(run, EVENTS[2]!, { ...where, artifact_id: artifact, artifact_type: 'plan' });
      await vi.waitFor(() => expect(heard).toHaveLength(3), { timeout: 8_000 });
      const place = { stream: `flowchart_run:${run}`, event_id: expect.any(String), emitted_at: expect.any(String) };
      const ids = { flowchart_id: chart.id, flowchart_run_id: run };
      expect(heard[0]).toEqual({
        ...place,
        ...ids,
        name: EVENTS[0],
        event_type: EVENTS[0],
        sequence: 1,
        status: 'running',
        transition: 'started',
        started_at: '2030-01-01T00:00:00.000Z',
        finished_at: null,
        updated_at: expect.any(String),
        request_id: `flowchart-run-${run}`,
        correlation_id: `flowchart-run-${run}`,
      });
      const trace = { request_id: `flowchart-run-${run}-node-run-${nodeRun}`, correlation_id: `flowchart-run-${run}` };
      expect(heard[1]).toEqual({
        ...place,
        ...ids,
        ...where,
        ...trace,
        name: EVENTS[1],
        event_type: EVENTS[1],
        sequence: 2,
        status: 'succeeded',
        execution_index: 1,
        output_state: { mode: 'deterministic' },
        routing_state: { route_key: 'x' },
        started_at: '2030-01-01T00:00:00.000Z',
        finished_at: '2030-01-01T00:00:01.500Z',
        error: null,
      });
      expect(heard[2]).toMatchObject({
        ...place,
        ...ids,
        ...where,
        ...trace,
        artifact_id: artifact,
        artifact_type: 'plan',
      });
      expect(heard[2].artifact).toMatchObject({ id: artifact, payload: { mode: 'deterministic' } });
    });

    it('tells an event once to a client in several of its rooms, and nothing to others [FLR-rt-once]', async () => {
      const run = await rows.run(chart.id);
      const other = await rows.run(chart.id);
      const node = chart.nodes[1]!;
      const nodeRun = await rows.nodeRun(run, node, { type: 'plan', sequence: 1 });
      const many = client({ token });
      const elsewhere = client({ token });
      await many.ask('rt.subscribe', {
        rooms: [`flowchart:${chart.id}`, `flowchart_run:${run}`, `flowchart_node:${node}`],
      });
      await elsewhere.ask('rt.subscribe', { rooms: [`flowchart_run:${other}`] });
      await rows.event(run, EVENTS[1]!, { flowchart_node_id: node, node_run_id: nodeRun, status: 'succeeded' });
      await rows.event(other, EVENTS[0]!, { status: 'running' });
      await vi.waitFor(() => expect(elsewhere.heard).toHaveLength(1), { timeout: 8_000 });
      await vi.waitFor(() => expect(many.heard).toHaveLength(2), { timeout: 8_000 });
      expect(elsewhere.heard[0].flowchart_run_id).toBe(other);
      expect((await many.ask('rt.unsubscribe', { rooms: [`flowchart:${chart.id}`] })).rooms).toEqual([
        `flowchart_node:${node}`,
        `flowchart_run:${run}`,
      ]);
    });

    it('refuses rooms that are unknown, malformed or of another vault, and joins none of them [FLR-rt-rooms]', async () => {
      await rows.vault('hidden');
      const foreign = await rows.flowchart([{ type: 'start' }], [], 'hidden');
      const foreignRun = await rows.run(foreign.id, { vault: 'hidden' });
      const { ask } = client({ token });
      const rooms = [
        `flowchart:${foreign.id}`,
        `flowchart_run:${foreignRun}`,
        `flowchart_node:${foreign.nodes[0]}`,
        'task:1',
        'flowchart:0',
        'flowchart:1 or 1=1',
        { room: 1 },
        'flowchart:999999',
      ];
      const answer = await ask('rt.subscribe', { rooms, after: { [`flowchart_run:${foreignRun}`]: 0 } });
      expect(answer.ok).toBe(false);
      expect(answer.rooms).toEqual([]);
      expect(answer.refused).toHaveLength(8);
      expect(new Set(answer.refused.map((refused: Body) => refused.code))).toEqual(
        new Set(['BAD_REQUEST', 'NOT_FOUND']),
      );
      expect(await ask('rt.subscribe', 'everything')).toMatchObject({ ok: false, code: 'BAD_REQUEST' });
      expect(await ask('rt.subscribe', { rooms: [], after: -1 })).toMatchObject({ ok: false, code: 'BAD_REQUEST' });
    });

    it('replays from a sequence and goes on live, without gap or repeat [FLR-rt-replay]', async () => {
      const run = await rows.run(chart.id);
      const event = () => rows.event(run, EVENTS[0]!, { status: 'running' });
      for (let at = 0; at < 5; at += 1) await event();
      const { ask, heard } = client({ token });
      let isDone = false;
      const writing = (async () => {
        for (let at = 0; at < 15; at += 1) await event();
        isDone = true;
      })();
      await ask('rt.subscribe', { rooms: [`flowchart_run:${run}`], after: 2 });
      await writing;
      expect(isDone).toBe(true);
      await vi.waitFor(() => expect(heard.length).toBeGreaterThanOrEqual(18), { timeout: 8_000 });
      expect(heard.map(({ sequence }) => sequence)).toEqual(Array.from({ length: 18 }, (_, at) => at + 3));
    });

    it('says when what was asked for is gone [FLR-rt-replay-gap]', async () => {
      const run = await rows.run(chart.id);
      for (let at = 0; at < 3; at += 1) await rows.event(run, EVENTS[0]!, { status: 'running' });
      const { queries } = hub.app.services.database;
      const stream = `flowchart_run:${run}`;
      await queries.deleteFrom('events').where('stream', '=', stream).where('sequence', '<', 3).execute();
      await queries.updateTable('streams').set({ first_sequence: 3 }).where('stream', '=', stream).execute();
      const { ask, heard } = client({ token });
      await ask('rt.subscribe', { rooms: [`flowchart:${chart.id}`], after: { [stream]: 0 } });
      await vi.waitFor(() => expect(heard).toHaveLength(2), { timeout: 8_000 });
      expect(heard.map(({ name, sequence }) => [name, sequence])).toEqual([
        ['rt.replay_gap', undefined],
        [EVENTS[0], 3],
      ]);
    });

    it('ends the connection of a token within seconds of its revocation [FLR-rt-revoked]', async () => {
      const made = await done(hub.owner.post('/api/v1/tokens', { user: 'rita', role: 'viewer' }));
      const { socket, greeting } = client({ token: made.token });
      await greeting;
      const ended = new Promise((tell) => socket.once('disconnect', tell));
      const owner = (await done(hub.owner.post('/api/v1/tokens', { user: 'local' }))).token;
      await fetch(`${url}/api/v1/tokens/${made.token_id}`, {
        method: 'DELETE',
        headers: { authorization: `Bearer ${owner}` },
      });
      expect(await ended).toBe('io server disconnect');
    });

    it('bounds messages in number [FLR-rt-limits]', async () => {
      const { ask } = client({ token });
      const answers = await Promise.all(Array.from({ length: 130 }, () => ask('rt.health')));
      expect(answers.filter(({ code }) => code === 'RATE_LIMIT').length).toBeGreaterThanOrEqual(30);
      expect(answers.filter(({ ok }) => ok).length).toBeGreaterThanOrEqual(100);
    });
  });
});
