import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ERRORS, type ErrorCode } from '../../src/kernel/errors.ts';
import { type AnyOperation, type HttpRoute, routesOf } from '../../src/operations/index.ts';
import { createCatalogue } from '../../src/rooms.ts';
import { documentedCodes } from '../../src/surfaces/http/openapi.ts';
import { makeStore, type TestStore } from '../support/databases.ts';
import { type Hub, type ProgramOptions, startHub } from '../support/program.ts';
import { must, newToken, tokenFor } from './people.ts';
import { type GeneratedRequest, type Pools, requestsFor } from './requests.ts';
import { ask, expectEnvelope, type Reply } from './rest.ts';

const RUNS = Number(process.env.FUZZ_RUNS ?? 200);
const SEED = Number(process.env.FUZZ_SEED ?? Math.floor(Math.random() * 2 ** 31));
const ROUTE_TIMEOUT_MS = 60_000 + RUNS * 100;
const OWNER = 'local';

const routes = (await createCatalogue().all()).flatMap((operation) =>
  routesOf(operation).map((route) => ({ name: operation.name, operation, route, at: `${route.method} ${route.path}` })),
);

let store: TestStore;
let hub: Hub;
const pools: Pools = {
  tokens: [],
  values: {
    flow_id: ['flow_capture_to_note', 'flow_overseer_handover', 'flow_missing'],
    version: ['0.1.0', '9.9.9'],
    tag: ['review', 'process', 'nothing'],
    query: ['handover', 'note review', 'über', '漢字', 'a & b | c'],
    user: ['fuzz-1', 'fuzz-2', 'fuzz-3', 'fuzz-4', 'fuzz-5', 'fuzz.6@example.org', 'nobody'],
    vault_id: ['vault-a', 'vault-b', 'vault-c', 'default'],
    token_id: ['tok_0000000000000000'],
  },
};

beforeAll(async () => {
  store = await makeStore('sqlite');
  const options: ProgramOptions = { home: store.home };
  await must(['vault', 'create', 'team'], options);
  pools.tokens.push(await tokenFor(options, OWNER), await tokenFor(options, OWNER), await tokenFor(options, OWNER));
  pools.tokens.push(await tokenFor(options, OWNER, { agent: true }), 'flw_unknown', '');
  for (const role of ['viewer', 'editor', 'evaluator'])
    pools.tokens.push(await tokenFor(options, `a-${role}`, { role }));
  for (let at = 0; at < 8; at += 1) {
    const { token_id } = await newToken(options, 'fuzz-1', at === 0 ? { role: 'viewer' } : {});
    pools.values.token_id?.push(token_id);
  }
  hub = await startHub({ ...options, env: { FLOWRIGHT_RATE_LIMIT_PER_MINUTE: '100000000' } });
  console.log(`fuzz: FUZZ_SEED=${SEED} FUZZ_RUNS=${RUNS}, ${routes.length} routes`);
});

afterAll(async () => {
  await hub?.stop();
  await store?.remove();
});

describe('[FLR-fuzz] generated requests see only what is documented', () => {
  it.concurrent.each(routes)('$name at $at', { timeout: ROUTE_TIMEOUT_MS }, async ({ operation, route }) => {
    const seen = new Set<string>();
    const property = fc.asyncProperty(requestsFor(operation, route, pools), async (request) => {
      fc.pre(!concernsOwner(operation, request));
      const reply = await ask(hub, request.path, request);
      seen.add(String(reply.body.code ?? reply.status));
      expectDocumented(operation, route, reply);
    });
    await fc.assert(property, { seed: SEED, numRuns: RUNS });
    // A generator that never gets past the door would prove nothing.
    expect([...seen]).toContain(String(route.status ?? 200));
    expect([...seen]).toContain('BAD_REQUEST');
  });

  it('and the hub is alive and sound afterwards', async () => {
    const [token] = pools.tokens;
    expect((await ask(hub, '/api/v1/health')).status).toBe(200);
    expect((await ask(hub, '/api/v1/whoami', { token })).body).toMatchObject({ user_id: OWNER, role: 'admin' });
    expect((await ask(hub, '/api/v1/flows', { token })).body.flows).toHaveLength(6);
    expect((await ask(hub, '/api/v1/audit/verify', { token })).body).toMatchObject({ ok: true });
    expect((await ask(hub, '/api/v1/audit/verify?chain=hub', { token })).body).toMatchObject({ ok: true });
  });
});

function expectDocumented(operation: AnyOperation, route: HttpRoute, reply: Reply): void {
  if (reply.status < 300) {
    expect(reply.status).toBe(route.status ?? 200);
    const parsed = operation.output.safeParse(reply.body);
    expect(parsed.error?.issues ?? [], reply.text).toEqual([]);
    return;
  }
  expectEnvelope(reply);
  const code = reply.body.code as ErrorCode;
  expect(documentedCodes(operation, route), reply.text).toContain(code);
  expect(reply.status, reply.text).toBe(ERRORS[code].status);
  expect(reply.status, reply.text).toBeLessThan(500);
}

/** The owner stays: a request that would disable, demote or remove it is not sent. */
function concernsOwner(operation: AnyOperation, { input }: GeneratedRequest): boolean {
  return operation.effect !== 'read' && input.user === OWNER;
}
