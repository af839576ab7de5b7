import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type AnyOperation, type HttpRoute, ROLES, type Role, routesOf } from '../../src/operations/index.ts';
import { createCatalogue } from '../../src/rooms.ts';
import { onEachDatabase, type TestStore } from '../support/databases.ts';
import { type FakeFlowise, startFakeFlowise } from '../support/fake-flowise/index.ts';
import { type FlowiseScene, isOfFlowise, makeFlowiseScene, sceneServers } from '../support/flowise-scene.ts';
import {
  type Asker,
  type Body,
  done,
  type InProcessHub,
  openInProcessHub,
  type Reply,
} from '../support/in-process-hub.ts';
import { requestTo } from './routes.ts';

type Input = Record<string, unknown>;

const operations = (await createCatalogue().all()).filter(({ name }) => isOfFlowise(name));
const named = (name: string) => operations.find((operation) => operation.name === name) as AnyOperation;
const TABLES = ['flowise_servers', 'chatflow_states', 'chatflow_versions', 'chatflow_writes'] as const;

/** As the contract has it; whatever is named nowhere here is for everybody who reads. */
const FOR_EDITORS = [
  'chatflow.apply',
  'chatflow.label',
  'chatflow.promote',
  'chatflow.restore',
  'chatflow.sync',
  'knowledge.audit',
  'knowledge.refresh',
  'server.test',
];
const FOR_ADMINS = ['server.add', 'server.default', 'server.remove'];
/** These change what runs on Flowise: a person decides, unless an admin gave that away. */
const FOR_PEOPLE = ['chatflow.apply', 'chatflow.label', 'chatflow.promote', 'chatflow.restore'];

const HOLDERS = ROLES.flatMap((role) => [
  { holder: role as string, role, agent: false },
  { holder: `agent of a ${role}`, role, agent: true },
]);

function outcomeFor(name: string, role: Role, agent: boolean, agentsWrite: boolean): string {
  if (FOR_ADMINS.includes(name)) return role === 'admin' && !agent ? 'done' : 'FORBIDDEN';
  if (!FOR_EDITORS.includes(name)) return 'done';
  if (role !== 'editor' && role !== 'admin') return 'FORBIDDEN';
  return agent && !agentsWrite && FOR_PEOPLE.includes(name) ? 'approval_required' : 'done';
}

const sent = (asker: Asker, route: HttpRoute, input: Input): Promise<Reply> => {
  const { method = 'GET', path, json } = requestTo(route, input);
  return asker.send(method, path, json, { accept: 'application/json', 'x-request-id': 'access' });
};
const codeOf = ({ status, body }: Reply) => (status < 300 ? 'done' : String(body.code));

onEachDatabase((_engine, makeStore) => {
  describe.each([
    ['unless said otherwise', false],
    ['where agents may write', true],
  ])('[FLR-chatflow-roles] %s', (_words, agentsWrite) => {
    let store: TestStore;
    let hub: InProcessHub;
    let fakes: [FakeFlowise, FakeFlowise];
    let scene: FlowiseScene;

    beforeAll(async () => {
      store = await makeStore();
      hub = await openInProcessHub(store, {
        env: {
          FLOWRIGHT_RATE_LIMIT_PER_MINUTE: '1000000',
          ...(agentsWrite ? { FLOWRIGHT_FLOWISE_AGENT_WRITES: 'true' } : {}),
        },
      });
      fakes = await sceneServers(startFakeFlowise);
      scene = await makeFlowiseScene(asOwner, fakes);
    });
    afterAll(async () => {
      await hub?.close();
      for (const fake of fakes ?? []) await fake.close();
      await store?.remove();
    });

    const asOwner = (name: string, input: Input): Promise<Body> => done(sent(hub.owner, routeFor(name, input), input));
    const rows = async () => {
      const { queries } = hub.app.services.database;
      const counted = TABLES.map((table) =>
        queries
          .selectFrom(table)
          .select((column) => column.fn.countAll().as('rows'))
          .executeTakeFirstOrThrow(),
      );
      return (await Promise.all(counted)).map(({ rows: count }) => Number(count));
    };
    const asked = () => fakes.map(({ requests }) => requests.count());
    /** Making one takes its time, and only what is removed is used up. */
    const inputs = new Map<string, Input>();
    const anInput = async (name: string): Promise<Input> => {
      const known = inputs.get(name) ?? (await scene.inputFor(name));
      inputs.set(name, known);
      return known;
    };

    // Where agents may write, only they may more than before.
    it.each(HOLDERS.filter(({ agent }) => agent || !agentsWrite))(
      'a $holder does what that role may and nothing else',
      async ({ holder, role, agent }) => {
        const asker = await hub.asker(`the-${holder.replaceAll(' ', '-')}`, { role, agent });
        for (const operation of operations) {
          const expected = outcomeFor(operation.name, role, agent, agentsWrite);
          const input = await anInput(operation.name);
          for (const route of routesOf(operation).filter((each) => fits(each, input))) {
            const before = { rows: await rows(), asked: asked() };
            const reply = await sent(asker, route, input);
            expect(codeOf(reply), `${operation.name}: ${JSON.stringify(reply.body).slice(0, 300)}`).toBe(expected);
            if (operation.effect === 'destructive' && expected === 'done') inputs.delete(operation.name);
            if (expected === 'done') continue;
            expect(reply.status).toBe(403);
            // A refusal leaves nothing behind, and Flowise never hears of the question.
            expect({ rows: await rows(), asked: asked() }, operation.name).toEqual(before);
          }
        }
      },
    );

    it('somebody without a token gets nothing', async () => {
      for (const operation of operations) {
        const input = await anInput(operation.name);
        const known = asked();
        const [route] = routesOf(operation) as [HttpRoute];
        const { method = 'GET', path, json } = requestTo(route, input);
        const reply = await hub.owner.send(method, path, json, { authorization: 'Bearer flw_nobody' });
        expect([reply.status, reply.body.code], operation.name).toEqual([401, 'UNAUTHORIZED']);
        expect(asked(), operation.name).toEqual(known);
      }
    });
  });

  describe('[FLR-chatflow-vaults] another vault', () => {
    const ELSEWHERE = 'elsewhere';
    let store: TestStore;
    let hub: InProcessHub;
    let fakes: [FakeFlowise, FakeFlowise];
    let scene: FlowiseScene;
    let other: Asker;

    beforeAll(async () => {
      store = await makeStore();
      fakes = await sceneServers(startFakeFlowise);
      const [, { url, apiKey }] = fakes;
      hub = await openInProcessHub(store, { env: { FLOWISE_API_URL: url, FLOWISE_API_KEY: apiKey } });
      scene = await makeFlowiseScene((name, input) => done(sent(hub.owner, routeFor(name, input), input)), fakes);
      await done(hub.owner.post('/api/v1/vaults', { vault_id: ELSEWHERE }));
      other = await hub.asker('else', { role: 'admin', vault: ELSEWHERE });
      await done(sent(hub.owner, routeFor('knowledge.refresh', {}), { credentials: true, server: 'main' }));
    });
    afterAll(async () => {
      await hub?.close();
      for (const fake of fakes ?? []) await fake.close();
      await store?.remove();
    });

    const ask = (name: string, input: Input) => sent(other, routeFor(name, input), input);

    it('has none of the servers, added or configured, and is told so as of one that is nowhere', async () => {
      expect(await done(ask('server.list', {}))).toMatchObject({ total_count: 0, items: [] });
      const names = operations.map(({ name }) => name).filter((name) => !['server.list', 'server.add'].includes(name));
      const inputs = new Map<string, Input>();
      for (const name of names) inputs.set(name, await scene.inputFor(name));
      const before = fakes.map(({ requests }) => requests.count());
      for (const [name, given] of inputs) {
        const key = name.startsWith('server.') ? 'name' : 'server';
        for (const server of ['main', 'other', 'default']) {
          const hidden = await ask(name, { ...given, [key]: server });
          const missing = await ask(name, { ...given, [key]: 'nowhere' });
          expect([hidden.status, hidden.body.code], name).toEqual([400, 'FLOWISE_SERVER_UNKNOWN']);
          expect(JSON.stringify(hidden.body)).toBe(JSON.stringify(missing.body).replaceAll('nowhere', server));
        }
      }
      expect(fakes.map(({ requests }) => requests.count())).toEqual(before);
    });

    it('that works with the same Flowise has a history, labels and knowledge of its own', async () => {
      const { chatflow_id } = scene;
      const [{ url, apiKey }] = fakes;
      await done(ask('server.add', { name: 'main', url, api_key: apiKey }));
      expect(await done(ask('chatflow.history', { chatflow_id }))).toMatchObject({ total_count: 0, items: [] });
      for (const [name, more] of [
        ['chatflow.label', { version: '1', label: 'mine' }],
        ['chatflow.restore', { version: '1' }],
        ['chatflow.diff', { from: '1' }],
      ] as const) {
        const { status, body } = await ask(name, { chatflow_id, ...more });
        expect([status, body.code], name).toEqual([404, 'NOT_FOUND']);
      }
      const { parts } = await done(ask('knowledge.status', {}));
      expect(parts.find(({ part }: Body) => part === 'credentials')).toMatchObject({ origin: 'none', items: 0 });
      await done(ask('chatflow.sync', { chatflow_id }));
      const { items } = await done(ask('chatflow.history', { chatflow_id }));
      expect(items).toMatchObject([{ version: 1, origin: 'seen', author: '' }]);
      const mine = await done(hub.owner.get(`/api/v1/chatflows/${chatflow_id}/history`));
      expect(mine.total_count).toBe(2);
    });

    it('may use the same idempotency key for a write of its own', async () => {
      const input: Input = { ...(await scene.inputFor('chatflow.apply')), idempotency_key: 'the-same' };
      const first = await done(sent(hub.owner, routeFor('chatflow.apply', input), { ...input, name: 'Ours' }));
      const { payload_hash } = await done(ask('patch.compile', { ops: input.ops }));
      const second = await done(ask('chatflow.apply', { ...input, payload_hash, name: 'Theirs' }));
      expect(second.chatflow_id).not.toBe(first.chatflow_id);
      expect(second.notes).toEqual([]);
    });
  });
});

/** Of several routes the one whose parameters the input has. */
function routeFor(name: string, input: Input): HttpRoute {
  const route = routesOf(named(name)).find((each) => fits(each, input));
  if (!route) throw new Error(`${name} has no route for this input`);
  return route;
}

function fits(route: HttpRoute, input: Input): boolean {
  return [...route.path.matchAll(/\{([^}]+)\}/g)].every(([, parameter]) => {
    const key = route.rename?.[parameter as string] ?? (parameter as string);
    return input[key] !== undefined;
  });
}
