import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeStore, type TestStore } from '../support/databases.ts';
import { sampleFlow } from '../support/flows.ts';
import { flowright, type Hub, MAIN, type ProgramOptions, programEnv, startHub } from '../support/program.ts';
import { AUTHORING_ON, type Inside, openInside } from './inside.ts';
import { ask, expectEnvelope, expectRefusal } from './rest.ts';

const LIMIT = 2 * 1_048_576;
const DEEP = 100_000;
const MANY = 500_000;
const FITTING = 300_000;
/** What a refusal may weigh, however large the request was. */
const REFUSAL_BYTES = 64 * 1_024;
/** A refusal may cost so many times what it costs to read and refuse plain text of the same size. */
const RATIO = 100;
const TRIES = 2;
const SIZE_STEP = 262_144;
const JSON_TYPE = { 'content-type': 'application/json' };

let store: TestStore;
let hub: Hub;
let options: ProgramOptions;
let inside: Inside;
let token: string;

beforeAll(async () => {
  store = await makeStore('sqlite');
  options = { home: store.home, env: AUTHORING_ON };
  inside = await openInside(store);
  token = await inside.token('local');
  await inside.as('local', 'flow.list');
  hub = await startHub({ ...options, env: { ...AUTHORING_ON, FLOWRIGHT_RATE_LIMIT_PER_MINUTE: '100000' } });
});

afterAll(async () => {
  await hub?.stop();
  await inside?.close();
  await store?.remove();
});

const { flow, steps } = sampleFlow('flow_big');
const list = (items: number, item = '1') => `[${Array(items).fill(item).join(',')}]`;
const nested = (open: string, close: string) => `${open.repeat(DEEP)}1${close.repeat(DEEP)}`;
const arrays = nested('[', ']');
const objects = nested('{"a":', '}');
const keys = (count: number) => Array.from({ length: count }, (_, at) => `"key${at}":1`).join(',');
const draft = (parts: { flow?: string; steps?: string; more?: string }) =>
  `{"flow":${parts.flow ?? JSON.stringify(flow)},"steps":${parts.steps ?? JSON.stringify(steps)},"intent":"x"${parts.more ?? ''}}`;
const flowWith = (key: string, value: string) => JSON.stringify({ ...flow, [key]: '@' }).replace('"@"', value);
const stepsWith = (key: string, value: string) =>
  JSON.stringify(steps.map((step, at) => (at === 0 ? { ...step, [key]: '@' } : step))).replace('"@"', value);

const BODIES: [string, string][] = [
  ['arrays nested deep in steps', draft({ steps: arrays })],
  ['objects nested deep in the flow', draft({ flow: objects })],
  ['objects nested deep in a step', draft({ steps: stepsWith('verification', objects) })],
  ['arrays nested deep under a key that is ignored', draft({ more: `,"auto_approvable":${arrays}` })],
  ['arrays nested deep under an unknown key', draft({ more: `,"other":${arrays}` })],
  ...crowds(),
  ['many unknown keys', draft({ more: `,${keys(100_000)}` })],
  ['many unknown keys of the flow', draft({ flow: `{${keys(60_000)}}` })],
  ['many unknown keys of a step', draft({ steps: `[{${keys(60_000)}}]` })],
  ['steps that are wrong in many ways', draft({ steps: list(100, `{${keys(500)}}`) })],
  ['a long text', draft({ flow: flowWith('summary', `"${'a'.repeat(LIMIT - 5_000)}"`) })],
  ['a long intent', draft({ more: `,"intent":"${'a'.repeat(LIMIT - 5_000)}"` })],
  ['a long key', draft({ more: `,"${'k'.repeat(1_000_000)}":1` })],
  ['a long id', draft({ flow: flowWith('flow_id', `"flow_${'a'.repeat(1_000_000)}"`) })],
  ['a long version', draft({ flow: flowWith('version', `"1.0.${'9'.repeat(1_000_000)}"`) })],
  ['a long base', draft({ more: `,"base_version":"1.0.0","base_state_id":"${'f'.repeat(1_000_000)}"` })],
];

/** Lists with far too many items. */
function crowds(): [string, string][] {
  return [
    [`${MANY} steps`, draft({ steps: list(MANY) })],
    [`${MANY} tags`, draft({ flow: flowWith('tags', list(MANY)) })],
    [`${MANY} boundaries`, draft({ steps: stepsWith('boundaries', list(MANY)) })],
    // These are within the size of a bundle, so that each item is looked at.
    [`${FITTING} steps`, draft({ steps: list(FITTING) })],
    [`${FITTING / 2} empty steps`, draft({ steps: list(FITTING / 2, '{}') })],
    [`${FITTING} step ids`, draft({ flow: flowWith('steps', list(FITTING)) })],
    [`${FITTING} tags`, draft({ flow: flowWith('tags', list(FITTING)) })],
    [`${FITTING / 2} equal tags`, draft({ flow: flowWith('tags', list(FITTING / 2, '"a"')) })],
    [`${FITTING} inputs of the flow`, draft({ flow: flowWith('inputs', list(FITTING)) })],
    [`${FITTING} boundaries`, draft({ steps: stepsWith('boundaries', list(FITTING)) })],
    [`${FITTING} inputs of a step`, draft({ steps: stepsWith('inputs', list(FITTING)) })],
    [`${FITTING / 2} outputs of a step`, draft({ steps: stepsWith('outputs', list(FITTING / 2, '{}')) })],
    ['80000 inputs from nowhere', draft({ steps: stepsWith('inputs', list(80_000, '{"from":""}')) })],
    ['many outputs of a step with a long id', longNamed()],
    [`${FITTING} requirements of a step`, draft({ steps: stepsWith('requires', list(FITTING)) })],
  ];
}

/** Whatever joins the one with each of the others makes a hundred times as much text. */
function longNamed(): string {
  const outputs = Array.from({ length: 300 }, (_, at) => ({ name: `output-${at}`, type: 'text' }));
  const [first] = steps;
  return draft({ steps: JSON.stringify([{ ...first, step_id: `flow_big#${'1'.repeat(500_000)}`, outputs }]) });
}

const PROPOSING = '/api/v1/flows';
const ROUTES = [PROPOSING, '/api/v1/flows/flow_big/proposals', '/api/v1/flows/import'];

const rows = async () => {
  const counts: Record<string, number> = {};
  for (const table of ['proposals', 'flows', 'flow_versions', 'events', 'file_writes'] as const) {
    const found = await inside.app.services.database.queries
      .selectFrom(table)
      .select(({ fn }) => fn.countAll<number>().as('count'))
      .executeTakeFirstOrThrow();
    counts[table] = Number(found.count);
  }
  return counts;
};

/** The least time of a few tries: what it costs when nothing else is in the way. */
async function cost(send: () => Promise<unknown>): Promise<number> {
  let least = Number.POSITIVE_INFINITY;
  for (let at = 0; at < TRIES; at += 1) {
    const start = performance.now();
    await send();
    least = Math.min(least, performance.now() - start);
  }
  return least;
}

const post = (path: string, raw: string) => ask(hub, path, { method: 'POST', token, raw, headers: JSON_TYPE });
const plainCosts = new Map<number, Promise<number>>();

/** Reads and refuses a body of about that size which holds nothing but one text; measured once for each size. */
function plainCost(bytes: number): Promise<number> {
  const size = Math.ceil(bytes / SIZE_STEP) * SIZE_STEP;
  const known = plainCosts.get(size) ?? cost(() => post(PROPOSING, `{"flow":"${'a'.repeat(size - 100)}"}`));
  plainCosts.set(size, known);
  return known;
}

describe('[FLR-bad-input] a draft that is too much', () => {
  it.each(BODIES)('is refused over REST, in few words and without much work: %s', async (_what, body) => {
    expect(Buffer.byteLength(body)).toBeLessThan(LIMIT);
    const before = await rows();
    const isDeep = body.includes('[[[[') || body.includes('{"a":{"a":');
    for (const path of isDeep ? ROUTES : [PROPOSING]) {
      const reply = await post(path, body);
      expect(reply.status, reply.text.slice(0, 300)).toBe(400);
      expectEnvelope(reply);
      expect(Buffer.byteLength(reply.text)).toBeLessThan(REFUSAL_BYTES);
    }
    const plain = await plainCost(body.length);
    const hostile = await cost(() => post(PROPOSING, body));
    expect(hostile, `${Math.round(hostile)} ms against ${Math.round(plain)} ms`).toBeLessThan(plain * RATIO);
    expect(await rows()).toEqual(before);
  });

  it.each(['/api/v1/flows', '/api/v1/flows/import', '/api/v1/proposals', '/mcp'])(
    'of more than 2 MiB is refused at %s before it is looked at',
    async (path) => {
      const before = await rows();
      const reply = await post(path, draft({ flow: flowWith('summary', `"${'a'.repeat(LIMIT)}"`) }));
      expectRefusal(reply, 413, 'PAYLOAD_TOO_LARGE');
      expect(await rows()).toEqual(before);
    },
  );

  it('hides no mistake behind its size: many small ones are still listed', async () => {
    const bad = Array.from({ length: 100 }, () => ({ trigger: 1 }));
    const { body } = await post('/api/v1/flows', draft({ steps: JSON.stringify(bad) }));
    expect((body.details as { errors: unknown[] }).errors.length).toBeGreaterThanOrEqual(100);
  });
});

describe('[FLR-bad-input] other inputs that are too much', () => {
  const id = '00000000-0000-4000-8000-000000000000';
  const requests: [string, string, string, string][] = [
    ['labels', 'POST', '/api/v1/proposals', `{"labels":${list(MANY)}}`],
    ['a front block nested deep', 'POST', '/api/v1/proposals', `{"path":"a.md","frontmatter":${objects}}`],
    ['a wide front block', 'POST', '/api/v1/proposals', `{"path":"a.md","frontmatter":{${keys(100_000)}}}`],
    ['a long body', 'POST', '/api/v1/proposals', `{"path":"a.md","body":"${'a'.repeat(1_100_000)}"}`],
    ['a long path', 'POST', '/api/v1/proposals', `{"path":"${'a/'.repeat(500_000)}a.md"}`],
    ['a checklist', 'POST', `/api/v1/proposals/${id}/evaluation`, `{"outcome":"pass","checklist":${list(MANY)}}`],
    ['a long outcome', 'POST', `/api/v1/proposals/${id}/evaluation`, `{"outcome":"${'-'.repeat(1_000_000)}"}`],
    ['a long comment', 'POST', `/api/v1/proposals/${id}/comments`, `{"body":"${'a'.repeat(1_000_000)}"}`],
    ['a long reason', 'POST', `/api/v1/proposals/${id}/discard`, `{"reason":"${' '.repeat(1_000_000)}a"}`],
    ['a long waiver', 'POST', `/api/v1/proposals/${id}/approve`, `{"waiver_reason":"${'a'.repeat(1_000_000)}"}`],
    ['a long policy', 'PUT', '/api/v1/policy/flow_import_allowed_tools', `{"value":"${'a,'.repeat(500_000)}"}`],
    ['a policy nested deep', 'PUT', '/api/v1/policy/flow_import_allowed_tools', `{"value":${arrays}}`],
    ['a note nested deep', 'PUT', '/api/v1/notes/a.md', `{"body":"","frontmatter":${objects}}`],
  ];
  it.each(requests)('are refused in few words: %s', async (_what, method, path, raw) => {
    const before = await rows();
    const send = () => ask(hub, path, { method, token, raw, headers: JSON_TYPE });
    const reply = await send();
    expectEnvelope(reply);
    expect([400, 404]).toContain(reply.status);
    expect(Buffer.byteLength(reply.text)).toBeLessThan(REFUSAL_BYTES);
    const plain = await plainCost(raw.length);
    expect(await cost(send)).toBeLessThan(plain * RATIO);
    expect(await rows()).toEqual(before);
  });
});

describe('[FLR-bad-input] a draft that is too much, at the other doors', () => {
  const FEW = BODIES.filter(([what]) => /deep|^many unknown keys$|^300000 (steps|tags)$/.test(what));
  const call = (args: string, id = 1) =>
    `{"jsonrpc":"2.0","id":${id},"method":"tools/call","params":{"name":"flow_propose","arguments":${args}}}`;
  const codeIn = (answer: string): string => /\\"code\\":\\"([A-Za-z_]+)\\"/.exec(answer)?.[1] ?? answer.slice(0, 300);

  it.each(FEW)('is refused over MCP and HTTP: %s', async (_what, body) => {
    const before = await rows();
    const headers = { ...JSON_TYPE, accept: 'application/json, text/event-stream' };
    const reply = await ask(hub, '/mcp', { method: 'POST', token, raw: call(body), headers });
    expect(['BAD_REQUEST', 'FLOW_DRAFT_INVALID']).toContain(codeIn(reply.text));
    expect(Buffer.byteLength(reply.text)).toBeLessThan(2 * REFUSAL_BYTES);
    expect(await rows()).toEqual(before);
  });

  it('is refused over MCP and HTTP where it stands for a vault', async () => {
    const headers = { ...JSON_TYPE, accept: 'application/json, text/event-stream' };
    for (const vault of [arrays, objects, list(MANY), '{}', '[]', '7', 'true', `"${'v'.repeat(1_000_000)}"`]) {
      const raw = call(draft({ more: `,"vault_id":${vault}` }));
      const reply = await ask(hub, '/mcp', { method: 'POST', token, raw, headers });
      expect(['BAD_REQUEST', 'NOT_FOUND'], vault.slice(0, 20)).toContain(codeIn(reply.text));
      expect(Buffer.byteLength(reply.text)).toBeLessThan(2 * REFUSAL_BYTES);
    }
  });

  it('is refused over stdio, and the session goes on', async () => {
    const before = await rows();
    const child = spawn(process.execPath, [MAIN, 'mcp'], {
      env: programEnv(options),
      stdio: ['pipe', 'pipe', 'ignore'],
    });
    const answers = new Map<number, string>();
    const lines = createInterface({ input: child.stdout });
    const allHere = new Promise<void>((done) => {
      lines.on('line', (line) => {
        answers.set(Number(/"id":(\d+)\}?$/.exec(line)?.[1] ?? JSON.parse(line).id), line);
        if (answers.size === FEW.length + 2) done();
      });
    });
    const hello = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'big', version: '1' } };
    child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id: 1_000, method: 'initialize', params: hello })}\n`);
    child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' })}\n`);
    for (const [at, [, body]] of FEW.entries()) child.stdin.write(`${call(body, at)}\n`);
    const whoami = { jsonrpc: '2.0', id: 2_000, method: 'tools/call', params: { name: 'whoami', arguments: {} } };
    child.stdin.write(`${JSON.stringify(whoami)}\n`);
    await allHere;
    child.stdin.end();
    for (const [at, [what]] of FEW.entries()) {
      expect(['BAD_REQUEST', 'FLOW_DRAFT_INVALID'], what).toContain(codeIn(answers.get(at) ?? ''));
    }
    expect(answers.get(2_000)).toContain('local');
    expect(await rows()).toEqual(before);
  });

  it.each(['local', 'hub'])('is refused from a file, at the command line (%s)', async (where) => {
    const before = await rows();
    const remote = { FLOWRIGHT_HUB: hub.url, FLOWRIGHT_HUB_TOKEN: token };
    const env = { ...AUTHORING_ON, ...(where === 'hub' ? remote : {}) };
    const some = FEW.filter(([what]) => /steps$|in a step$|keys$|tags$/.test(what));
    const runs = [...some.map((body) => ['propose', ...body]), ['import', ...(some[0] ?? [])]];
    await Promise.all(
      runs.map(async ([command = '', what = '', body = ''], at) => {
        const file = join(store.home, `big-${where}-${at}.json`);
        writeFileSync(file, body);
        const { status, stderr } = await flowright(['flow', command, file, '--json'], { ...options, env });
        const { code } = JSON.parse(stderr) as { code: string };
        const codes = ['BAD_REQUEST', 'USAGE_ERROR', 'FLOW_DRAFT_INVALID', 'FLOW_IMPORT_BUNDLE_MALFORMED'];
        expect(codes, `${what}: ${stderr.slice(0, 300)}`).toContain(code);
        expect(status, what).toBe(1);
      }),
    );
    expect(await rows()).toEqual(before);
  });

  it('of 3 MB is refused from a file', async () => {
    const file = join(store.home, 'huge.json');
    writeFileSync(file, draft({ flow: flowWith('summary', `"${'a'.repeat(3_000_000)}"`) }));
    const remote = { FLOWRIGHT_HUB: hub.url, FLOWRIGHT_HUB_TOKEN: token };
    for (const [env, code] of [
      [AUTHORING_ON, 'FLOW_DRAFT_INVALID'],
      [remote, 'PAYLOAD_TOO_LARGE'],
    ] as const) {
      const { status, stderr } = await flowright(['flow', 'propose', file, '--json'], { ...options, env });
      expect({ status, code: JSON.parse(stderr).code }).toEqual({ status: 1, code });
    }
  });
});
