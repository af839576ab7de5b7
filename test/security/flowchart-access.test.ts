import type { AddressInfo } from 'node:net';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import type { FastifyInstance } from 'fastify';
import { io } from 'socket.io-client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type AnyOperation, type HttpRoute, ROLES, type Role, routesOf } from '../../src/operations/index.ts';
import { createCatalogue } from '../../src/rooms.ts';
import { createHttpServer } from '../../src/surfaces/http/server.ts';
import { onEachDatabase, type TestStore } from '../support/databases.ts';
import { type FlowchartScene, isOfFlowcharts, makeFlowchartScene } from '../support/flowchart-scene.ts';
import { type Inside, openInside, type Payload } from './inside.ts';
import { ask, expectRefusal } from './rest.ts';
import { requestTo } from './routes.ts';

const operations = (await createCatalogue().all()).filter(({ name }) => isOfFlowcharts(name));
const named = (name: string) => operations.find((operation) => operation.name === name) as AnyOperation;
const MAY: Record<AnyOperation['effect'], readonly Role[]> = {
  read: ROLES,
  write: ['editor', 'admin'],
  destructive: ['admin'],
};
const HOLDERS = ROLES.flatMap((role) => [
  { holder: role as string, role, agent: false },
  { holder: `agent of a ${role}`, role, agent: true },
]);
const TABLES = [
  'flowcharts',
  'flowchart_versions',
  'flowchart_runs',
  'node_artifacts',
  'memories',
  'plans',
  'plan_stages',
  'plan_tasks',
  'milestones',
  'attachments',
] as const;
const MISSING = 999_999_999;
const ELSEWHERE = 'elsewhere';

onEachDatabase((_engine, make) => {
  let store: TestStore;
  let inside: Inside;
  let server: FastifyInstance;
  let hub: { url: string };
  let scene: FlowchartScene;
  /** The same in another vault, whose members see nothing of the first. */
  let other: FlowchartScene;
  const tokens: Record<string, string> = {};

  beforeAll(async () => {
    store = await make();
    inside = await openInside(store, { FLOWRIGHT_RATE_LIMIT_PER_MINUTE: '1000000' });
    await inside.as('local', 'vault.create', { vault_id: ELSEWHERE });
    for (const { holder, role, agent } of HOLDERS) tokens[holder] = await inside.token(`the-${role}`, { role, agent });
    tokens[ELSEWHERE] = await inside.token('else', { role: 'admin', vault: ELSEWHERE });
    scene = await makeFlowchartScene((name, input) => inside.as('local', name, input));
    other = await makeFlowchartScene((name, input) => inside.as('local', name, input, { vault: ELSEWHERE }));
    server = await createHttpServer(inside.app);
    await server.listen({ host: '127.0.0.1', port: 0 });
    hub = { url: `http://127.0.0.1:${(server.server.address() as AddressInfo).port}` };
  });
  afterAll(async () => {
    await server?.close();
    await inside?.close();
    await store?.remove();
  });

  const send = (route: HttpRoute, input: Payload, token: string | undefined) => {
    const { path, ...question } = requestTo(route, input);
    const headers = { accept: 'application/json', 'x-request-id': 'access' };
    return ask(hub, path, { ...question, headers, ...(token === undefined ? {} : { token }) });
  };
  /** What is refused uses nothing up, so one input serves all who are. */
  const inputs = new Map<string, Payload>();
  const anInput = async (name: string): Promise<Payload> => {
    const known = inputs.get(name) ?? (await scene.inputFor(name));
    inputs.set(name, known);
    return known;
  };
  const sizes = async () => {
    const { queries } = inside.app.services.database;
    const counted = TABLES.map((table) =>
      queries
        .selectFrom(table)
        .select((column) => column.fn.countAll().as('rows'))
        .executeTakeFirstOrThrow(),
    );
    return (await Promise.all(counted)).map(({ rows }) => Number(rows));
  };

  describe('[FLR-flowchart-roles] over REST', () => {
    it.each(HOLDERS)('everything that a $holder may, and nothing else', async ({ holder, role, agent }) => {
      const refused: [HttpRoute, Payload][] = [];
      for (const operation of operations) {
        const isAllowed = MAY[operation.effect].includes(role) && !(operation.effect === 'destructive' && agent);
        for (const route of routesOf(operation)) {
          if (!isAllowed) refused.push([route, await anInput(operation.name)]);
          else {
            const input = await scene.inputFor(operation.name);
            const reply = await send(route, input, tokens[holder]);
            expect(reply.status, `${operation.name}: ${reply.text.slice(0, 300)}`).toBe(route.status ?? 200);
          }
        }
      }
      const before = await sizes();
      for (const [route, input] of refused) expectRefusal(await send(route, input, tokens[holder]), 403, 'FORBIDDEN');
      expect(await sizes()).toEqual(before);
    });

    it('nothing for somebody without a token', async () => {
      for (const operation of operations.slice(0, 30)) {
        const [route] = routesOf(operation) as [HttpRoute];
        expectRefusal(await send(route, { ...other.ids }, undefined), 401, 'UNAUTHORIZED');
      }
    });
  });

  /** Each place of an input that names something, with what is in the other vault and with what is nowhere. */
  const probes = async () => {
    const found: { name: string; key: string; own: Payload; foreign: unknown }[] = [];
    for (const { name } of operations) {
      const [own, foreign] = [await other.inputFor(name), await scene.inputFor(name)];
      for (const key of Object.keys(own).filter((candidate) => /_id$/.test(candidate))) {
        found.push({ name, key, own, foreign: foreign[key] });
      }
    }
    const { flowchart_id, ended_run_id } = other.ids;
    const more: [string, Payload, string, unknown][] = [
      ['flowchart.run', { flowchart_id }, 'start_node_id', scene.ids.decision_node_id],
      ['run.control', { run_id: ended_run_id, action: 'rewind' }, 'rewind_to_node_run_id', scene.ids.node_run_id],
      ['run.list', {}, 'flowchart_id', scene.ids.flowchart_id],
      ['task.list', {}, 'flowchart_id', scene.ids.flowchart_id],
      ['task.list', {}, 'run_id', scene.ids.waiting_run_id],
      ['artifact.list', {}, 'artifact_id', scene.ids.artifacts.plan],
      ['artifact.list', {}, 'flowchart_id', scene.ids.flowchart_id],
      ['artifact.list', {}, 'flowchart_run_id', scene.ids.ended_run_id],
      ['artifact.list', {}, 'flowchart_node_id', scene.ids.decision_node_id],
      ['artifact.list', {}, 'flowchart_run_node_id', scene.ids.node_run_id],
      ['artifact.list', { artifact_type: 'plan' }, 'ref_id', scene.ids.plan_id],
    ];
    for (const [name, own, key, foreign] of more) found.push({ name, key, own, foreign });
    return found;
  };
  /** What was answered about nothing, as if it had been about this. */
  const about = (id: unknown, text: string) => text.replaceAll(String(MISSING), String(id));

  describe('[FLR-flowchart-vaults] what is of another vault is answered like what is missing', () => {
    it('over REST, wherever an id may stand', async () => {
      const asked = await probes();
      const before = await sizes();
      for (const { name, key, own, foreign } of asked) {
        for (const route of routesOf(named(name))) {
          const hidden = await send(route, { ...own, [key]: foreign }, tokens[ELSEWHERE]);
          const missing = await send(route, { ...own, [key]: MISSING }, tokens[ELSEWHERE]);
          const where = `${name} ${key}: ${hidden.text.slice(0, 300)}`;
          expect([hidden.status, hidden.text], where).toEqual([missing.status, about(foreign, missing.text)]);
          if (route.path.includes(`{${key}}`)) expectRefusal(hidden, 404, 'NOT_FOUND');
          else if (hidden.status === 200) expect(hidden.body, where).toMatchObject({ count: 0, total_count: 0 });
        }
      }
      expect(await sizes()).toEqual(before);
    });

    it('over MCP, wherever an id may stand', async () => {
      const client = new Client({ name: 'access', version: '1.0.0' });
      const requestInit = { headers: { authorization: `Bearer ${tokens[ELSEWHERE]}` } };
      await client.connect(new StreamableHTTPClientTransport(new URL('/mcp', hub.url), { requestInit }));
      try {
        const call = async (tool: string, input: Payload) => {
          const result = await client.callTool({ name: tool, arguments: input, _meta: { request_id: 'access' } });
          const [first] = result.content as { text: string }[];
          return { isError: result.isError === true, text: first?.text ?? '' };
        };
        for (const { name, key, own, foreign } of await probes()) {
          const tool = named(name).mcp?.tool;
          if (!tool) continue;
          const hidden = await call(tool, { ...own, [key]: foreign });
          const missing = await call(tool, { ...own, [key]: MISSING });
          expect(hidden, `${name} ${key}`).toEqual({ ...missing, text: about(foreign, missing.text) });
          if (!hidden.isError) expect(JSON.parse(hidden.text)).toMatchObject({ count: 0, total_count: 0 });
        }
      } finally {
        await client.close();
      }
    });

    it('in the rooms of sockets', async () => {
      const socket = io(`${hub.url}/rt`, {
        auth: { token: tokens[ELSEWHERE] },
        transports: ['websocket'],
        forceNew: true,
        reconnection: false,
      });
      try {
        const { ids } = scene;
        const rooms = [
          ['flowchart', ids.flowchart_id, other.ids.flowchart_id],
          ['flowchart_run', ids.waiting_run_id, other.ids.waiting_run_id],
          ['flowchart_node', ids.decision_node_id, other.ids.decision_node_id],
        ] as const;
        for (const [kind, foreign, own] of rooms) {
          const subscribe = (id: number) =>
            socket.timeout(10_000).emitWithAck('rt.subscribe', { rooms: [`${kind}:${id}`], after: 0 });
          const hidden = await subscribe(foreign);
          const missing = await subscribe(MISSING);
          expect(hidden.refused[0]).toEqual({ room: `${kind}:${foreign}`, code: 'NOT_FOUND' });
          expect(missing.refused[0]).toEqual({ room: `${kind}:${MISSING}`, code: 'NOT_FOUND' });
          expect(hidden.refused).toHaveLength(missing.refused.length);
          expect((await subscribe(own)).rooms).toContain(`${kind}:${own}`);
        }
      } finally {
        socket.disconnect();
      }
    });
  });

  it('[FLR-flowchart-vaults] lists of another vault hold nothing of this one', async () => {
    const lists = operations.filter(({ name }) => /\.(list|search)$/.test(name));
    expect(lists.length).toBeGreaterThan(8);
    for (const operation of lists) {
      const [route] = routesOf(operation) as [HttpRoute];
      const input = { ...(await scene.inputFor(operation.name)), limit: 200 };
      const { body } = await send(route, input, tokens[ELSEWHERE]);
      const held = (body.items ?? body.flowcharts) as { id?: number; task_id?: number }[];
      const mine = await send(route, input, tokens.admin);
      const here = ((mine.body.items ?? mine.body.flowcharts) as typeof held).map(({ id, task_id }) => id ?? task_id);
      expect(here.length, operation.name).toBeGreaterThan(0);
      expect(held.length, operation.name).toBeGreaterThan(0);
      for (const { id, task_id } of held) expect(here, operation.name).not.toContain(id ?? task_id);
    }
  });
});
