import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { routesOf } from '../../src/operations/index.ts';
import { createCatalogue } from '../../src/rooms.ts';
import { requestTo } from '../security/routes.ts';
import { onEachDatabase, type TestStore } from '../support/databases.ts';
import { type FakeFlowise, startFakeFlowise } from '../support/fake-flowise/index.ts';
import { type FlowiseScene, isOfFlowise, makeFlowiseScene, sceneServers } from '../support/flowise-scene.ts';
import { type Body, done, type InProcessHub, openInProcessHub } from '../support/in-process-hub.ts';

const operations = (await createCatalogue().all()).filter(({ name }) => isOfFlowise(name));
const routes = operations.flatMap((operation) =>
  routesOf(operation).map((route) => ({ name: operation.name, operation, route, at: `${route.method} ${route.path}` })),
);

onEachDatabase((_engine, makeStore) => {
  let store: TestStore;
  let hub: InProcessHub;
  let fakes: [FakeFlowise, FakeFlowise];
  let scene: FlowiseScene;

  const send = ({ method = 'GET', path, json }: ReturnType<typeof requestTo>) =>
    hub.owner.send(method, path, json, { accept: 'application/json' });
  /** Through the operation's first route, as JSON. */
  const ask = async (name: string, input: Record<string, unknown>): Promise<Body> => {
    const [first] = routes.filter((route) => route.name === name);
    if (!first) throw new Error(`${name} has no route`);
    return done(send(requestTo(first.route, input)));
  };

  beforeAll(async () => {
    store = await makeStore();
    hub = await openInProcessHub(store);
    fakes = await sceneServers(startFakeFlowise);
    scene = await makeFlowiseScene(ask, fakes);
  });
  afterAll(async () => {
    await hub?.close();
    for (const fake of fakes ?? []) await fake.close();
    await store?.remove();
  });

  it('[S002-6-wire-schemas] every operation about Flowise has its place in this walk', () => {
    expect([...scene.names].sort()).toEqual(operations.map(({ name }) => name).sort());
  });

  describe('[S002-6-wire-schemas] [FLR-chatflow-wire] the answer of every operation about Flowise is what its schema says', () => {
    it.each(routes)('$name at $at', async ({ name, operation, route }) => {
      const { status, body, headers } = await send(requestTo(route, await scene.inputFor(name)));
      expect(status, JSON.stringify(body).slice(0, 600)).toBe(route.status ?? 200);
      expect(headers['content-type']).toBe('application/json; charset=utf-8');
      expect(operation.output.parse(body)).toEqual(body);
      expect(() => operation.output.parse({ ...body, surplus: true }), 'the schema is strict').toThrow();
      const declared = JSON.stringify(body);
      for (const { apiKey } of fakes) expect(declared, 'no key comes out').not.toContain(apiKey);
    });
  });
});
