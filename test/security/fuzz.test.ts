import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ERRORS, type ErrorCode } from '../../src/kernel/errors.ts';
import { type AnyOperation, type HttpRoute, routesOf } from '../../src/operations/index.ts';
import { createCatalogue } from '../../src/rooms.ts';
import { documentedCodes } from '../../src/surfaces/http/openapi.ts';
import { ABSENT_NOTE_STATE_ID } from '../../src/vault/index.ts';
import { makeStore, type TestStore } from '../support/databases.ts';
import { type FakeFlowise, startFakeFlowise } from '../support/fake-flowise/index.ts';
import { makeFlowchartScene } from '../support/flowchart-scene.ts';
import { makeFlowiseScene, sceneServers } from '../support/flowise-scene.ts';
import { sampleFlow } from '../support/flows.ts';
import { type Hub, startHub } from '../support/program.ts';
import { AUTHORING_ON, approve, baseOf, type Inside, openInside, propose } from './inside.ts';
import { type GeneratedRequest, type Pools, requestsFor } from './requests.ts';
import { ask, expectEnvelope, type Reply } from './rest.ts';

const RUNS = Number(process.env.FUZZ_RUNS ?? 60);
const SEED = Number(process.env.FUZZ_SEED ?? Math.floor(Math.random() * 2 ** 31));
const MOST_BATCHES = 8;
const ROUTE_TIMEOUT_MS = 60_000 + RUNS * 100;
const OWNER = 'local';
const WAITING = 300;

const routes = (await createCatalogue().all())
  .flatMap((operation) => routesOf(operation).map((route) => ({ operation, route })))
  // Two routes with one seed would ask for the same things at the same time.
  .map(({ operation, route }, place) => ({
    name: operation.name,
    operation,
    route,
    at: `${route.method} ${route.path}`,
    seed: SEED + place,
  }));

let store: TestStore;
let hub: Hub;
let fakes: [FakeFlowise, FakeFlowise];
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
    proposal_id: ['00000000-0000-4000-8000-000000000000'],
    outcome: ['pass', 'fail', 'Needs-Changes'],
    checklist: ['accurate', 'no_secrets', 'matches_intent', 'pii', 'tone'],
    path: Array.from({ length: 100 }, (_, at) => `fuzz/note-${at}.md`),
    'note.get path': ['fuzz/kept.md', 'meta/flows/restored.md', 'inbox/none.md'],
    prefix: ['fuzz', 'meta/flows', 'approvals', 'none'],
    path_prefix: ['fuzz', 'meta/flows'],
    from: ['0.1.0'],
    to: ['0.1.0', '9.9.9'],
    intent: ['Because it is better', 'Ünïcode \u202e'],
    waiver_reason: ['Looked at it together'],
    'proposal.approve base_state_id': [ABSENT_NOTE_STATE_ID],
    'flow.retire flow_id': ['flow_capture_to_note', 'flow_missing'],
    'flow.retire base_version': ['0.1.0'],
    'flow.mirror_restore flow_id': ['flow_restored', 'flow_missing'],
    'flow.mirror_propose flow_id': ['flow_edited', 'flow_missing'],
    'policy.set key': ['flow_import_allowed_tools', 'evaluator_may_approve', 'flow_authoring_writes_enabled'],
    'policy.set value': ['default', 'false'],
  },
  wholes: {},
  right: {
    'flow.diff': [
      { flow_id: 'flow_capture_to_note' },
      { flow_id: 'flow_overseer_handover', from: '0.1.0', to: '0.1.0' },
    ],
  },
};
/** What an operation uses up is there this often. */
const HELPINGS = 8;
const USES_UP = ['task.answer', 'run.cancel', 'run.pause'];

beforeAll(async () => {
  store = await makeStore('sqlite');
  const inside = await openInside(store);
  await inside.as(OWNER, 'vault.create', { vault_id: 'team' });
  for (let at = 0; at < 3; at += 1) pools.tokens.push(await inside.token(OWNER));
  pools.tokens.push(await inside.token(OWNER, { agent: true }), 'flw_unknown', '');
  for (const role of ['viewer', 'editor', 'evaluator']) pools.tokens.push(await inside.token(`a-${role}`, { role }));
  await inside.member('fuzz-1', 'viewer');
  for (let at = 0; at < 8; at += 1) {
    const { token_id } = await inside.as(OWNER, 'token.create', { user: 'fuzz-1' });
    pools.values.token_id?.push(token_id);
  }
  await fillWithProposals(inside);
  await fillWithFlowcharts(inside);
  await fillWithChatflows(inside);
  await inside.close();
  hub = await startHub({
    home: store.home,
    // Whatever server is added and marked, this one stays the usual one.
    env: { ...AUTHORING_ON, FLOWRIGHT_RATE_LIMIT_PER_MINUTE: '100000000', FLOWRIGHT_FLOWISE_SERVER: 'main' },
  });
  console.log(`fuzz: FUZZ_SEED=${SEED} FUZZ_RUNS=${RUNS}, ${routes.length} routes`);
});

/** Proposals to decide about, notes, one flow with a mirror and one whose mirror was edited, and drafts to hand in. */
async function fillWithProposals(inside: Inside): Promise<void> {
  for (let at = 0; at < WAITING; at += 1) {
    const wish = { path: `fuzz/wish-${at}.md`, body: `Wish ${at}`, intent: 'A wish', labels: ['fuzz'] };
    const { proposal_id } = await inside.as(OWNER, 'proposal.create', wish);
    pools.values.proposal_id?.push(proposal_id);
  }
  await inside.as(OWNER, 'note.put', { path: 'fuzz/kept.md', body: 'Kept' });
  for (const flowId of ['flow_restored', 'flow_edited']) {
    const { proposal_id } = await propose(inside, OWNER, sampleFlow(flowId));
    const { mirror_path } = await approve(inside, OWNER, proposal_id);
    const mirror = join(store.home, 'vaults', 'default', mirror_path);
    if (flowId === 'flow_edited') writeFileSync(mirror, editedMirror());
  }
  const base = await baseOf(inside, OWNER, 'flow_capture_to_note');
  pools.values['flow.retire base_state_id'] = [base.base_state_id];
  const fresh = fc.nat(1_000_000).map((at) => ({ ...sampleFlow(`flow_fuzz_${at}`), intent: 'A draft' }));
  pools.wholes['POST /api/v1/flows'] = fresh;
  pools.wholes['POST /api/v1/flows/import'] = fresh.map(({ intent, ...bundle }) => ({ bundle, intent }));
  pools.wholes['POST /api/v1/flows/{id}/proposals'] = fc.nat(1_000).map((at) => ({
    ...sampleFlow('flow_capture_to_note', { version: `1.0.${at}` }),
    intent: 'An edit',
    flow_id: 'flow_capture_to_note',
    ...base,
  }));
}

/** Right inputs for everything about flowcharts: runs that wait and runs that ended, entities, files, artifacts. */
async function fillWithFlowcharts(inside: Inside): Promise<void> {
  const scene = await makeFlowchartScene((name, input) => inside.as(OWNER, name, input));
  for (const name of scene.names) {
    const operation = await inside.operation(name);
    const isUsedUp = operation.effect === 'destructive' || USES_UP.includes(name);
    // Two routes share what there is, and neither may find it all gone.
    const helpings = !isUsedUp ? 1 : routesOf(operation).length > 1 ? Math.ceil(RUNS / 2) : HELPINGS;
    const inputs: Record<string, unknown>[] = [];
    for (let at = 0; at < helpings; at += 1) inputs.push(await scene.inputFor(name));
    pools.right[name] = inputs;
  }
}

/** Right inputs for everything about Flowise, on two servers that answer. */
async function fillWithChatflows(inside: Inside): Promise<void> {
  fakes = await sceneServers(startFakeFlowise);
  const scene = await makeFlowiseScene((name, input) => inside.as(OWNER, name, input), fakes);
  const [{ url, apiKey }] = fakes;
  Object.assign(pools.values, {
    server: ['main', 'other', 'nowhere'],
    to_server: ['other', 'nowhere'],
    chatflow_id: [scene.chatflow_id, '00000000-0000-4000-8000-000000000000'],
    'chatflow.label version': ['1', '2', 'live', '99'],
    'chatflow.restore version': ['1', '2', '99'],
    'chatflow.diff from': ['1', '2', 'live'],
    'chatflow.diff to': ['live', '1'],
    'server.add name': ['fuzz-server'],
    'server.add url': [url],
    'server.add api_key': [apiKey],
    'server.remove name': ['fuzz-server', 'nowhere'],
    'server.test name': ['main', 'fuzz-server', 'nowhere'],
    'server.add username': ['admin'],
  });
  for (const name of scene.names) {
    const { effect } = await inside.operation(name);
    const inputs: Record<string, unknown>[] = [];
    for (let at = 0; at < (effect === 'destructive' ? HELPINGS : 1); at += 1) inputs.push(await scene.inputFor(name));
    pools.right[name] = inputs;
  }
}

function editedMirror(): string {
  const bundle = sampleFlow('flow_edited', { title: 'Edited by hand' });
  return `---\ntype: flow\n---\nBy hand.\n\n\`\`\`json\n${JSON.stringify(bundle)}\n\`\`\`\n`;
}

afterAll(async () => {
  await hub?.stop();
  for (const fake of fakes ?? []) await fake.close();
  await store?.remove();
});

describe('[FLR-fuzz] generated requests see only what is documented', () => {
  it.concurrent.each(routes)('$name at $at', { timeout: ROUTE_TIMEOUT_MS }, async ({ operation, route, seed }) => {
    const seen = new Set<string>();
    const property = fc.asyncProperty(requestsFor(operation, route, pools), async (request) => {
      fc.pre(!concernsOwner(operation, request));
      const reply = await ask(hub, request.path, request);
      seen.add(String(reply.body.code ?? reply.status));
      expectDocumented(operation, route, reply);
    });
    // A generator that never gets past the door would prove nothing; one that was only unlucky goes on.
    const wanted = [String(route.status ?? 200), 'BAD_REQUEST'];
    for (let batch = 0; batch < MOST_BATCHES && !wanted.every((code) => seen.has(code)); batch += 1) {
      await fc.assert(property, { seed: seed + batch * routes.length, numRuns: RUNS });
    }
    expect([...seen]).toEqual(expect.arrayContaining(wanted));
  });

  it('and the hub is alive and sound afterwards', async () => {
    const [token] = pools.tokens;
    expect((await ask(hub, '/api/v1/health')).status).toBe(200);
    expect((await ask(hub, '/api/v1/whoami', { token })).body).toMatchObject({ user_id: OWNER, role: 'admin' });
    expect((await ask(hub, '/api/v1/flows', { token })).body.flows).toHaveLength(8);
    expect((await ask(hub, '/api/v1/audit/verify', { token })).body).toMatchObject({ ok: true });
    expect((await ask(hub, '/api/v1/audit/verify?chain=hub', { token })).body).toMatchObject({ ok: true });
  });
});

function expectDocumented(operation: AnyOperation, route: HttpRoute, reply: Reply): void {
  if (reply.status < 300) {
    expect(reply.status).toBe(route.status ?? 200);
    // A file is sent as itself.
    if (route.raw && !/json/.test(String(reply.headers['content-type']))) return;
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
