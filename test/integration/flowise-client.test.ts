import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { FlowiseClient } from '../../src/flowise/client/client.ts';
import { type ClientOptions, createClient } from '../../src/flowise/client/create-client.ts';
import type { FlowrightError } from '../../src/kernel/errors.ts';
import {
  announcedFlood,
  babble,
  drip,
  flood,
  flowiseError,
  half,
  hang,
  hangUp,
  html,
  json,
  type Manner,
  type RudeServer,
  raw,
  redirect,
  startRudeServer,
} from '../support/rude-server.ts';

const KEY = 'Zk3-secret-key-of-the-server_9f';
const MEGABYTE = 1_048_576;
const CHATFLOW = { id: 'c-1', name: 'One', flowData: '{"nodes":[],"edges":[]}', type: 'CHATFLOW' };

let server: RudeServer;
const open: FlowiseClient[] = [];
const logged: unknown[] = [];
const keep = (...line: unknown[]): void => void logged.push(line);
const log = { info: keep, warn: keep, error: keep };

beforeEach(async () => {
  server = await startRudeServer();
});

afterEach(async () => {
  await Promise.all(open.splice(0).map((client) => client.close(0)));
  await server.close();
  expect(JSON.stringify(logged.splice(0))).not.toContain(KEY);
});

function clientOf(options: Partial<ClientOptions> = {}): FlowiseClient {
  const client = createClient({
    server: 'lab',
    url: server.url,
    auth: { kind: 'key', key: KEY },
    timeoutSeconds: 5,
    retryDelayMs: 1,
    log,
    ...options,
  });
  open.push(client);
  return client;
}

async function refused(work: Promise<unknown>): Promise<FlowrightError> {
  const error = await work.then(
    (value) => new Error(`answered ${JSON.stringify(value)}`),
    (thrown: unknown) => thrown as FlowrightError,
  );
  expect(JSON.stringify([error.message, (error as FlowrightError).details, String(error.cause)])).not.toContain(KEY);
  return error as FlowrightError;
}

describe('[FLR-flowise-bad-server] a server that misbehaves', () => {
  it.each<[string, Manner, string, RegExp]>([
    ['refuses the key', json({ error: 'Unauthorized Access' }, 401), 'FLOWISE_UNAUTHORIZED', /API key/],
    ['answers 500 with a page', html(500), 'FLOWISE_REFUSED', /a web page, A page/],
    ['answers 200 with a page', html(), 'FLOWISE_BAD_ANSWER', /does not know that route/],
    ['answers 404 with a page', html(404), 'FLOWISE_BAD_ANSWER', /does not know that route/],
    ['sends no JSON', raw('[{"name":', 'application/json'), 'FLOWISE_BAD_ANSWER', /JSON is due/],
    ['sends something else', raw('hello', 'text/plain'), 'FLOWISE_BAD_ANSWER', /JSON is due/],
    ['sends an object', json({ nodes: [] }), 'FLOWISE_BAD_ANSWER', /a list is due/],
    ['sends entries of another shape', json([{ label: 'x' }]), 'FLOWISE_BAD_ANSWER', /entry 0/],
    ['is no web server', babble, 'FLOWISE_BAD_ANSWER', /not HTTP/],
    ['sends half an answer', half, 'FLOWISE_UNREACHABLE', /broke off/],
    ['hangs up', hangUp, 'FLOWISE_UNREACHABLE', /broke off/],
    ['has a gateway that says 503', html(503), 'FLOWISE_UNREACHABLE', /503/],
  ])('that %s', async (_, manner, code, words) => {
    server.on('/api/v1/nodes', manner);
    const error = await refused(clientOf().listNodes());
    expect(error.code).toBe(code);
    expect(error.message).toMatch(words);
    expect(error.details).toMatchObject({ server: 'lab', method: 'GET', path: '/api/v1/nodes' });
    expect(error.details).toHaveProperty('status');
    expect(String(error.details.message).length).toBeLessThanOrEqual(300);
  });

  it('that is down, or not there at all', async () => {
    const { port } = server;
    await server.close();
    const down = await refused(clientOf({ url: `http://127.0.0.1:${port}` }).listNodes());
    expect(down).toMatchObject({ code: 'FLOWISE_UNREACHABLE', details: { may_have_arrived: false, status: null } });
    const wrong = await refused(clientOf({ url: 'http://no-such-host.invalid' }).listNodes());
    expect(wrong).toMatchObject({ code: 'FLOWISE_UNREACHABLE', details: { may_have_arrived: false } });
    expect(await clientOf({ url: `http://127.0.0.1:${port}` }).version()).toBeNull();
    server = await startRudeServer();
  });

  it.each([
    ['hangs', hang],
    ['drips', drip],
  ])('[FLR-flowise-waited] that %s is left after the time limit, and once more', async (_, manner) => {
    server.on('/api/v1/nodes', manner);
    server.on('/api/v1/chatflows', manner);
    const start = performance.now();
    const [read, write] = await Promise.all([
      refused(clientOf({ timeoutSeconds: 1 }).listNodes()),
      refused(clientOf({ timeoutSeconds: 1 }).createChatflow({ name: 'x', flowData: '{}', type: 'CHATFLOW' })),
    ]);
    expect([read.code, write.code]).toEqual(['FLOWISE_TIMEOUT', 'FLOWISE_TIMEOUT']);
    expect(write.details.may_have_arrived).toBe(true);
    expect(read.message).toContain('no whole answer within 1 s; asked 2 times, 2 s in all.');
    expect(read.details.tries).toBe(2);
    expect(write.message).toContain('no whole answer within 1 s.');
    expect(performance.now() - start).toBeLessThan(4_000);
    expect(server.received.map(({ method }) => method).sort()).toEqual(['GET', 'GET', 'POST']);
  });

  it('that sends elsewhere is not followed, and the key stays', async () => {
    const other = await startRudeServer();
    other.on('/api/v1/nodes', json([]));
    server.on('/api/v1/nodes', redirect(`${other.url}/api/v1/nodes?token=${KEY}`));
    const error = await refused(clientOf().listNodes());
    expect(error.code).toBe('FLOWISE_BAD_ANSWER');
    expect(error.message).toContain(`${other.url}/api/v1/nodes`);
    expect(other.received).toEqual([]);
    await other.close();
  });

  it('is called off by its caller', async () => {
    server.on('/api/v1/ping', hang);
    expect((await refused(clientOf().ping(AbortSignal.timeout(50)))).code).toBe('FLOWISE_UNREACHABLE');
    expect(server.received).toHaveLength(1);
  });
});

describe('[FLR-flowise-bounded-memory] an answer of 100 MB', () => {
  it('is given up once it is larger than allowed', async () => {
    server.on('/api/v1/nodes', flood(100));
    const error = await refused(clientOf({ timeoutSeconds: 30 }).listNodes());
    expect(error).toMatchObject({ code: 'FLOWISE_BAD_ANSWER', details: { message: 'it sends more than 32 MB' } });
    // What the two ends of the connection hold comes on top.
    expect(server.sent()).toBeLessThan(50 * MEGABYTE);
    expect(server.received).toHaveLength(1);
  });

  it('is not even begun when its length is announced', async () => {
    server.on('/api/v1/nodes', announcedFlood(100));
    const error = await refused(clientOf({ timeoutSeconds: 30 }).listNodes());
    expect(error.code).toBe('FLOWISE_BAD_ANSWER');
    server.on('/api/v1/nodes', json([]));
    expect(await clientOf().listNodes()).toEqual([]);
  });

  it('has a bound that can be set', async () => {
    server.on('/api/v1/nodes', json([{ name: 'x'.repeat(2_000) }]));
    expect((await refused(clientOf({ maxBytes: 1_000 }).listNodes())).code).toBe('FLOWISE_BAD_ANSWER');
  });
});

describe('[FLR-flowise-once] requests', () => {
  const writes: [string, string, (client: FlowiseClient) => Promise<unknown>][] = [
    ['POST', '/api/v1/chatflows', (client) => client.createChatflow({ name: 'x', flowData: '{}', type: 'CHATFLOW' })],
    ['PUT', '/api/v1/chatflows/c-1', (client) => client.updateChatflow('c-1', { name: 'y' })],
    ['DELETE', '/api/v1/chatflows/c-1', (client) => client.deleteChatflow('c-1')],
    [
      'POST',
      '/api/v1/tools',
      (client) => client.createTool({ name: 't', description: '', color: '', schema: '', func: '' }),
    ],
    ['POST', '/api/v1/prediction/c-1', (client) => client.predict('c-1', { question: '?' })],
    ['POST', '/api/v1/vector/upsert/c-1', (client) => client.upsertVector('c-1')],
  ];
  it.each(writes)('%s %s is sent once, whatever comes back', async (method, path, act) => {
    for (const manner of [hangUp, half, html(503), json({ message: 'x' }, 502)]) {
      server.received.length = 0;
      server.on(path, manner);
      expect((await refused(act(clientOf()))).code).toBe('FLOWISE_UNREACHABLE');
      expect(server.received.map((request) => request.method)).toEqual([method]);
    }
  });

  it('that read are repeated until one is answered', async () => {
    server.on('/api/v1/nodes', hangUp, html(502), json([{ name: 'chatOpenAI' }]));
    expect(await clientOf().listNodes()).toMatchObject([{ name: 'chatOpenAI' }]);
    expect(server.received).toHaveLength(3);
  });

  it('that read are repeated twice and not more', async () => {
    server.on('/api/v1/nodes', hangUp);
    const seen: (number | null)[] = [];
    const client = clientOf({ onRequest: ({ path, status }) => void (path === '/api/v1/nodes' && seen.push(status)) });
    await refused(client.listNodes());
    expect(seen).toEqual([null, null, null]);
    expect(logged).toMatchObject([
      [{ server: 'lab', tries: 1 }, expect.any(String)],
      [{ server: 'lab', tries: 2 }, expect.any(String)],
    ]);
  });
});

describe('[FLR-flowise-one-pool] connections', () => {
  it('are reused, and bounded', async () => {
    server.on('/api/v1/nodes', json([]));
    const client = clientOf();
    for (let count = 0; count < 20; count += 1) await client.listNodes();
    // A connection is free a moment after its answer is read; by then a second one may be open, and no third.
    expect(server.connections()).toBeLessThanOrEqual(2);
    await Promise.all(Array.from({ length: 40 }, () => client.listNodes()));
    expect(server.connections()).toBeLessThanOrEqual(8);
    await client.close();
    expect((await refused(client.listNodes())).code).toBe('FLOWISE_UNREACHABLE');
    expect(server.received).toHaveLength(60);
  });
});

describe('[FLR-flowise-auth] who asks', () => {
  const headersFor = async (options: Partial<ClientOptions>) => {
    server.on('/api/v1/nodes', json([]));
    await clientOf(options).listNodes();
    const { authorization, 'x-request-from': from, ...others } = server.received.at(-1)?.headers ?? {};
    expect(JSON.stringify(others)).not.toContain('secret');
    return [authorization, from];
  };

  it('is said as each generation wants it', async () => {
    const basic = `Basic ${Buffer.from('admin:secret').toString('base64')}`;
    expect(await headersFor({})).toEqual([`Bearer ${KEY}`, undefined]);
    expect(await headersFor({ auth: { kind: 'basic', username: 'admin', password: 'secret' } })).toEqual([
      basic,
      'internal',
    ]);
    expect(await headersFor({ auth: { kind: 'none' } })).toEqual([undefined, 'internal']);
    const url = `http://admin:secret@127.0.0.1:${server.port}/api/v1/`;
    expect(await headersFor({ auth: { kind: 'none' }, url })).toEqual([basic, 'internal']);
    expect(clientOf({ url }).url).toBe(server.url);
  });

  it('of Flowise 3 is told that it takes keys only', async () => {
    server.on('/api/v1/nodes', json({ error: 'Unauthorized Access' }, 401));
    const basic = { kind: 'basic', username: 'admin', password: 'secret' } as const;
    expect((await refused(clientOf({ auth: basic }).listNodes())).message).toContain('API keys only');
    expect((await refused(clientOf({ auth: { kind: 'none' } }).listNodes())).message).toContain('needs an API key');
  });

  it('may lie below a path', async () => {
    server.on('/team/flowise/api/v1/nodes', json([]));
    await clientOf({ url: `${server.url}/team/flowise/` }).listNodes();
    expect(server.received[0]?.path).toBe('/team/flowise/api/v1/nodes');
  });
});

describe('[FLR-flowise-permission] a key that lacks a permission', () => {
  it('is told which, and that it is no question of the flow', async () => {
    const forbidden = json({ message: 'Forbidden' }, 403);
    server.on('/api/v1/credentials', forbidden);
    server.on('/api/v1/chatflows', forbidden);
    const error = await refused(clientOf().listCredentials());
    expect(error).toMatchObject({
      code: 'FLOWISE_FORBIDDEN',
      details: { permission: 'credentials:view', status: 403, message: 'Forbidden' },
    });
    expect(error.message).toContain('credentials:view');
    const write = clientOf().createChatflow({ name: 'x', flowData: '{}', type: 'AGENTFLOW' });
    expect((await refused(write)).details.permission).toBe('agentflows:create');
  });
});

describe('[FLR-flowise-error-words] what the server says', () => {
  it.each<[string, Manner]>([
    ['{message}', json({ message: 'nodes is not iterable' }, 500)],
    ['{error}', json({ error: 'nodes is not iterable' }, 500)],
    ['{statusCode, success, message, stack}', flowiseError(500, 'nodes is not iterable')],
    ['bare text', raw('nodes is not iterable', 'text/plain', 500)],
  ])('is kept, as %s', async (_, manner) => {
    server.on('/api/v1/chatflows', manner);
    const error = await refused(clientOf().createChatflow({ name: 'x', flowData: '{}', type: 'CHATFLOW' }));
    expect(error.code).toBe('FLOWISE_REFUSED');
    expect(error.details).toMatchObject({ status: 500, message: 'nodes is not iterable' });
  });

  it('is kept of a prediction, without the key that it quotes', async () => {
    const words = `401 Incorrect API key provided: sk-abcdefghijklmnopqrstuvwx and ${KEY} ${'long '.repeat(200)}`;
    server.on('/api/v1/prediction/c-1', flowiseError(500, words));
    const error = await refused(clientOf().predict('c-1', { question: 'Hello?' }));
    expect(error.code).toBe('FLOWISE_REFUSED');
    expect(error.details.message).toMatch(/^401 Incorrect API key provided: \[secret\] and \[secret\] long/);
    expect(JSON.stringify(error.details)).not.toContain('sk-abc');
    expect(String(error.details.message).length).toBeLessThanOrEqual(300);
  });
});

describe('[FLR-flowise-missing] what is not there', () => {
  it.each<[string, Manner]>([
    ['404', flowiseError(404, 'Chatflow c-1 not found in the database!')],
    [
      '404 in a 500',
      flowiseError(500, 'Error: chatflowsService.getChatflowById - Chatflow c-1 not found in the database!'),
    ],
    ['400 for an id that is none', flowiseError(400, 'Invalid Chatflow ID')],
  ])('is null, false or FLOWISE_NOT_FOUND: %s', async (_, manner) => {
    for (const path of ['/api/v1/chatflows/c-1', '/api/v1/prediction/c-1']) server.on(path, manner);
    const client = clientOf();
    expect(await client.getChatflow('c-1')).toBeNull();
    expect(await client.deleteChatflow('c-1')).toBe(false);
    expect((await refused(client.updateChatflow('c-1', { name: 'x' }))).code).toBe('FLOWISE_NOT_FOUND');
    expect((await refused(client.predict('c-1', { question: 'x' }))).code).toBe('FLOWISE_NOT_FOUND');
  });

  it('is looked for after a removal that failed', async () => {
    const failure = flowiseError(500, 'Cannot read properties of null');
    server.on('/api/v1/chatflows/c-1', failure, flowiseError(404, 'Chatflow c-1 not found'));
    expect(await clientOf().deleteChatflow('c-1')).toBe(false);
    server.on('/api/v1/chatflows/c-1', failure, json(CHATFLOW));
    expect((await refused(clientOf().deleteChatflow('c-1'))).code).toBe('FLOWISE_REFUSED');
  });

  it.each<[string, Manner]>([
    ['a page of 404', html(404)],
    ['a gateway without that route', json({ message: 'no Route matched with those values' }, 404)],
    [
      'a gateway that quotes the path',
      json({ message: 'Route GET:/api/v1/chatflows/c-1 not found', statusCode: 404 }, 404),
    ],
    ['an unrelated 500', flowiseError(500, 'Ending nodes not found')],
    ['401', json({ error: 'Unauthorized Access' }, 401)],
  ])('is not believed of %s', async (_, manner) => {
    server.on('/api/v1/chatflows/c-1', manner);
    const client = clientOf();
    expect((await refused(client.getChatflow('c-1'))).code).not.toBe('FLOWISE_NOT_FOUND');
    expect((await refused(client.deleteChatflow('c-1'))).code).not.toBe('FLOWISE_NOT_FOUND');
    expect((await refused(client.updateChatflow('c-1', {}))).code).not.toBe('FLOWISE_NOT_FOUND');
  });

  it('is a node of another name', async () => {
    server.on('/api/v1/nodes/nope', flowiseError(500, 'Error: nodesService.getAllNodes - Node nope not found'));
    expect(await clientOf().getNode('nope')).toBeNull();
    server.on('/api/v1/nodes/nope', flowiseError(500, 'Error: out of memory'));
    expect((await refused(clientOf().getNode('nope'))).code).toBe('FLOWISE_REFUSED');
  });

  it('is what no id can be, without a question', async () => {
    const client = clientOf();
    for (const id of ['', '.', '..', 'a/b', 'a?b', 'a b', '%2e%2e', 'x'.repeat(300)]) {
      expect(await client.getChatflow(id)).toBeNull();
      expect(await client.getNode(id)).toBeNull();
      expect(await client.deleteChatflow(id)).toBe(false);
      expect(await client.deleteTool(id)).toBe(false);
      expect((await refused(client.updateChatflow(id, {}))).code).toBe('FLOWISE_NOT_FOUND');
      expect((await refused(client.predict(id, { question: 'x' }))).code).toBe('FLOWISE_NOT_FOUND');
    }
    expect(server.received).toEqual([]);
  });

  it('is a tool that the server removed nothing of', async () => {
    server.on('/api/v1/tools/t-1', json({ raw: [], affected: 0 }));
    expect(await clientOf().deleteTool('t-1')).toBe(false);
    server.on('/api/v1/tools/t-1', json({ raw: [], affected: 1 }));
    expect(await clientOf().deleteTool('t-1')).toBe(true);
  });
});

describe('[FLR-flowise-shapes] a server that behaves', () => {
  it('is read: pong as a page, version, lists bare or paged, chatflows of both generations', async () => {
    server.on('/api/v1/ping', raw('pong', 'text/html; charset=utf-8'));
    server.on('/api/v1/version', json({ version: '3.1.4' }));
    server.on('/api/v1/chatflows', json({ data: [CHATFLOW, { ...CHATFLOW, id: 'c-2', type: null }], total: 2 }));
    server.on('/api/v1/chatflows/c-1', json({ ...CHATFLOW, webhookSecret: 'secret' }));
    server.on('/api/v1/variables', json([{ id: 'v', name: 'region', type: 'static', value: 'secret' }]));
    const client = clientOf();
    await client.ping();
    expect(await client.version()).toBe('3.1.4');
    expect((await client.listChatflows({ type: 'CHATFLOW' })).map(({ type }) => type)).toEqual(['CHATFLOW', null]);
    expect(server.received.at(-1)?.path).toBe('/api/v1/chatflows?type=CHATFLOW&page=1&limit=100');
    expect(await client.getChatflow('c-1')).toEqual(CHATFLOW);
    expect(await client.listVariables()).toEqual([{ id: 'v', name: 'region', type: 'static' }]);
  });

  it('is sent what it expects, and never asked to stream', async () => {
    server.on('/api/v1/prediction/c-1', json({ text: 'Hi', sessionId: 's' }));
    const body = { question: 'Hello?', overrideConfig: { sessionId: 's' } };
    expect(await clientOf().predict('c-1', body)).toEqual({ text: 'Hi', sessionId: 's' });
    expect(JSON.parse(server.received[0]?.body ?? '')).toEqual({ ...body, streaming: false });
    server.on('/api/v1/prediction/c-1', json('just words'));
    expect(await clientOf().predict('c-1', body)).toEqual({ text: 'just words' });
  });

  it('gives a prediction four times the time', async () => {
    server.on('/api/v1/prediction/c-1', (received, response, socket) => {
      setTimeout(() => json({ text: 'late' })(received, response, socket), 1_500);
    });
    expect(await clientOf({ timeoutSeconds: 1 }).predict('c-1', { question: '?' })).toEqual({ text: 'late' });
  });
});

describe('[S000-B4-metadata-only] credentials', () => {
  it('come in as metadata, whatever is sent with them', async () => {
    const metadata = { id: 'x', name: 'My key', credentialName: 'openAIApi', createdDate: '2026-01-01T00:00:00Z' };
    const extra = { encryptedData: 'U2FsdGVk', plainDataObj: { openAIApiKey: 'sk-x' }, apiKey: 'k', workspaceId: 'w' };
    server.on('/api/v1/credentials', json([{ ...metadata, ...extra }]));
    expect(await clientOf().listCredentials()).toEqual([metadata]);
  });
});
