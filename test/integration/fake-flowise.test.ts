import { readFileSync } from 'node:fs';
import path from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { runConformance } from '../flowise/conformance.ts';
import { type Send, sender } from '../flowise/target.ts';
import { tracesText } from '../flowise/trace.ts';
import { type FakeFlowise, type Fault, FIXTURES, useFakeFlowise } from '../support/fake-flowise/index.ts';

const EMPTY = '{"nodes":[],"edges":[]}';

describe('the fake Flowise', () => {
  it('answers every question as a real one did [FLR-fake-conforms]', async () => {
    const fake = await useFakeFlowise();
    const traces = await runConformance({
      url: fake.url,
      apiKey: fake.apiKey,
      modelUrl: 'http://127.0.0.1:9/v1',
      keyWith: async (permissions) => fake.addKey(permissions),
    });
    const recorded = readFileSync(path.join(FIXTURES, 'conformance.json'), 'utf8');
    expect(tracesText(traces).split('\n')).toEqual(recorded.split('\n'));
    expect(Object.keys(traces).length).toBeGreaterThan(120);
  });

  it('gives its templates other ids on every request', async () => {
    const fake = await useFakeFlowise();
    const ids = async () =>
      (await sender(fake)('GET', '/marketplaces/templates')).json.map(({ id }: { id: string }) => id);
    const [first, second] = [await ids(), await ids()];
    expect(first).toHaveLength(50);
    expect(first.filter((id: string) => second.includes(id))).toEqual([]);
  });

  it('keeps a conversation by its session', async () => {
    const fake = await useFakeFlowise({ say: (question, messages) => `${messages}: ${question}` });
    const { flowFor } = await import('../flowise/flows.ts');
    const credential = fake.rows.addCredential({ name: 'key', credentialName: 'openAIApi' }).id;
    const { id } = fake.rows.addChatflow({ name: 'talk', flowData: flowFor('working', { modelUrl: 'x', credential }) });
    const ask = async (question: string, sessionId: string) =>
      (await sender(fake)('POST', `/prediction/${id}`, { question, overrideConfig: { sessionId } })).json.text;
    expect(await ask('one', 'a')).toBe('2: one');
    expect(await ask('two', 'a')).toBe('4: two');
    expect(await ask('three', 'b')).toBe('2: three');
  });

  it('stores times in whole seconds, and none where nothing changed', async () => {
    let now = new Date('2026-01-01T10:00:00.750Z');
    const fake = await useFakeFlowise({ now: () => now });
    const { id } = fake.rows.addChatflow({ name: 'a', flowData: EMPTY });
    now = new Date('2026-01-01T10:00:05.100Z');
    const put = async (name: string) => (await sender(fake)('PUT', `/chatflows/${id}`, { name })).json.updatedDate;
    expect(await put('a')).toBe('2026-01-01T10:00:00.000Z');
    expect(await put('b')).toBe('2026-01-01T10:00:05.000Z');
  });
});

describe('version 2 of the fake Flowise', () => {
  const status = async (fake: FakeFlowise, headers: Record<string, string>) =>
    (await fetch(`${fake.url}/api/v1/nodes`, { headers })).status;
  const internal = { 'x-request-from': 'internal' };

  it('is open to whoever says to be its own page, and to a key of any kind [FLR-fake-two-generations]', async () => {
    const fake = await useFakeFlowise({ version: '2.2.8', permissions: [] });
    expect(await status(fake, internal)).toBe(200);
    expect(await status(fake, {})).toBe(401);
    expect(await status(fake, { authorization: `Bearer ${fake.apiKey}` })).toBe(200);
    expect((await sender(fake)('GET', '/credentials')).status).toBe(200);
    expect((await sender(fake)('POST', '/chatflows', { name: 'a', flowData: EMPTY })).json.type).toBeNull();
  });

  it('asks for a password only together with that header [FLR-fake-two-generations]', async () => {
    const fake = await useFakeFlowise({ version: '2.2.8', basic: { username: 'me', password: 'secret' } });
    const authorization = `Basic ${Buffer.from('me:secret').toString('base64')}`;
    expect(await status(fake, internal)).toBe(401);
    expect(await status(fake, { authorization })).toBe(401);
    expect(await status(fake, { authorization, ...internal })).toBe(200);
  });

  it('has nothing to do with version 3, where that header opens nothing [FLR-fake-two-generations]', async () => {
    const fake = await useFakeFlowise();
    expect(await status(fake, internal)).toBe(401);
  });
});

describe('faults of the fake Flowise', () => {
  let fake: FakeFlowise;
  let send: Send;
  const create = () => send('POST', '/chatflows', { name: 'a', flowData: EMPTY, type: 'CHATFLOW' });
  const place = (fault: Fault) => fake.fault('POST', '/chatflows', fault);
  const impatient = (patience: number) =>
    fetch(`${fake.url}/api/v1/chatflows`, {
      method: 'POST',
      headers: { authorization: `Bearer ${fake.apiKey}` },
      body: JSON.stringify({ name: 'a', flowData: EMPTY, type: 'CHATFLOW' }),
      signal: AbortSignal.timeout(patience),
    }).then((response) => response.text());

  beforeEach(async () => {
    fake = await useFakeFlowise();
    send = sender(fake);
  });

  it('count their requests and then are over [FLR-fake-faults]', async () => {
    place({ kind: 'answer', status: 503, body: 'busy', times: 2 });
    const statuses = [(await create()).status, (await create()).status, (await create()).status];
    expect(statuses).toEqual([503, 503, 200]);
    expect(fake.requests.count('POST', '/chatflows')).toBe(3);
    expect(fake.requests.counters()).toEqual({ 'POST /chatflows': 3 });
  });

  it.each([
    ['answer', { kind: 'answer', status: 500, body: { message: 'x' } }, 0],
    ['answer_after', { kind: 'answer_after', status: 500, body: { message: 'x' } }, 1],
  ] as const)('%s: the row is there afterwards or not [FLR-fake-faults]', async (_name, fault, rows) => {
    place(fault);
    expect((await create()).status).toBe(500);
    expect(fake.rows.chatflows.size).toBe(rows);
  });

  it.each([
    ['drop', 0],
    ['drop_after', 1],
    ['hang', 0],
    ['hang_after', 1],
  ] as const)('%s: nobody hears whether it took effect [FLR-fake-faults]', async (kind, rows) => {
    place({ kind });
    await expect(impatient(150)).rejects.toThrow();
    expect(fake.rows.chatflows.size).toBe(rows);
  });

  it('stall and drip begin an answer and are slow with the rest [FLR-fake-faults]', async () => {
    place({ kind: 'stall', times: 1 });
    await expect(impatient(150)).rejects.toThrow();
    place({ kind: 'drip', bytes: 200, everyMs: 1 });
    expect((await create()).status).toBe(200);
  });

  it('flood goes on for as long as was asked, on any route [FLR-fake-faults]', async () => {
    fake.fault('*', '*', { kind: 'flood', bytes: 1_000_000 });
    expect((await send('GET', '/nodes')).text.length).toBeGreaterThan(1_000_000);
    fake.heal();
    expect((await send('GET', '/version')).json).toEqual({ version: '3.1.4' });
  });

  it('let something happen in the moment before, or wait for it [FLR-fake-faults]', async () => {
    const { id } = fake.rows.addChatflow({ name: 'a', flowData: EMPTY });
    fake.fault('GET', '/chatflows/:id', {
      kind: 'none',
      before: () => void fake.rows.editInCanvas(id, (flow) => Object.assign(flow, { edited: true })),
    });
    expect((await send('GET', `/chatflows/${id}`)).json.flowData).toContain('"edited":true');
    let release = () => {};
    const until = new Promise<void>((resolve) => {
      release = resolve;
    });
    place({ kind: 'wait', until });
    const asked = create();
    while (fake.requests.count('POST', '/chatflows') === 0) await new Promise((resolve) => setImmediate(resolve));
    expect(fake.rows.chatflows.size).toBe(1);
    release();
    expect((await asked).status).toBe(200);
  });
});
