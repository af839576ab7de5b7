import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeStore, type TestStore } from '../support/databases.ts';
import { type Hub, type ProgramOptions, startHub } from '../support/program.ts';
import { tokenFor } from './people.ts';
import { ask, expectRefusal, type Question, type Reply, speak } from './rest.ts';

const SECURITY_HEADERS = {
  'content-security-policy': expect.stringContaining("default-src 'none'"),
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'x-request-id': expect.stringMatching(/^[A-Za-z0-9._:-]{1,128}$/),
};
const PATHS = ['/api/v1/flows', '/api/v1/health', '/mcp', '/signin?code=x', '/', '/api/v1/openapi.json', '/nowhere'];

let store: TestStore;
let hub: Hub;
let open: Hub;
let options: ProgramOptions;
let token: string;

beforeAll(async () => {
  store = await makeStore('sqlite');
  options = { home: store.home };
  token = await tokenFor(options, 'local');
  hub = await startHub(options);
  const env = {
    FLOWRIGHT_ALLOWED_HOSTS: 'Hub.example,proxy.example:8443',
    FLOWRIGHT_ALLOWED_ORIGINS: 'https://studio.example',
  };
  open = await startHub({ ...options, env });
});

afterAll(async () => {
  await hub?.stop();
  await open?.stop();
  await store?.remove();
});

const own = () => new URL(hub.url).host;
const port = () => new URL(hub.url).port;

describe('[FLR-host-origin] the Host header', () => {
  it.each([
    'evil.example',
    '127.0.0.1.evil.example',
    'localhost.evil.example:7480',
    '127.0.0.1@evil.example',
    'evil.example#127.0.0.1',
    '127.0.0.2',
    '[::2]',
    '127.0.0.1:port',
    '127.0.0.1:80:80',
    'localhost,evil.example',
  ])('%s is refused everywhere', async (host) => {
    for (const path of PATHS) {
      expectRefusal(await ask(hub, path, { token, headers: { host } }), 403, 'HOST_NOT_ALLOWED');
      const posted = await ask(hub, path, { method: 'POST', token, headers: { host }, json: {} });
      expectRefusal(posted, 403, 'HOST_NOT_ALLOWED');
    }
  });

  it.each(['127.0.0.1', 'localhost', 'LOCALHOST', '[::1]'])('%s is this machine, with any port', async (name) => {
    for (const host of [name, `${name}:${port()}`]) {
      expect((await ask(hub, '/api/v1/flows', { token, headers: { host } })).status).toBe(200);
    }
  });

  it('of further names is accepted when listed', async () => {
    for (const host of ['hub.example', 'hub.example:99', 'proxy.example:8443']) {
      expect((await ask(open, '/api/v1/health', { headers: { host } })).status).toBe(200);
    }
    for (const host of ['proxy.example', 'nothub.example', 'hub.example.evil']) {
      expectRefusal(await ask(open, '/api/v1/health', { headers: { host } }), 403, 'HOST_NOT_ALLOWED');
    }
  });

  it('left out is a coded refusal', async () => {
    const request = (version: string) => `GET /api/v1/health HTTP/${version}\r\nConnection: close\r\n\r\n`;
    expectRefusal(await speak(hub, request('1.0')), 403, 'HOST_NOT_ALLOWED');
    const reply = await speak(hub, request('1.1'));
    expect([400, 403]).toContain(reply.status);
    expect(reply.text, 'a body without a code').toMatch(/BAD_REQUEST|HOST_NOT_ALLOWED/);
  });
});

describe('[FLR-host-origin] the Origin header', () => {
  it.each([
    'http://evil.example',
    'null',
    'file://',
    'http://127.0.0.1:1',
    'http://127.0.0.1',
    'http://localhost:3000',
    'chrome-extension://abcdef',
    '',
  ])('%s is refused everywhere', async (origin) => {
    for (const path of PATHS) {
      for (const method of ['GET', 'POST', 'OPTIONS']) {
        const reply = await ask(hub, path, { method, token, headers: { origin } });
        expectRefusal(reply, 403, 'ORIGIN_NOT_ALLOWED');
        expect(reply.headers['access-control-allow-origin']).toBeUndefined();
      }
    }
  });

  it('of the hub itself is accepted, and no other site may read the answer', async () => {
    const reply = await ask(hub, '/api/v1/flows', { token, headers: { origin: `http://${own()}` } });
    expect(reply.status).toBe(200);
    expect(reply.headers['access-control-allow-origin']).toBeUndefined();
  });

  it('of a listed site is accepted and of another is not', async () => {
    const from = (origin: string, question: Question = {}) =>
      ask(open, '/api/v1/flows', { token, ...question, headers: { origin, ...question.headers } });
    const listed = await from('https://studio.example');
    expect(listed.status).toBe(200);
    expect(listed.headers['access-control-allow-origin']).toBe('https://studio.example');
    const headers = { 'access-control-request-method': 'GET' };
    const preflight = await from('https://studio.example', { method: 'OPTIONS', headers });
    expect(preflight.status).toBe(204);
    for (const origin of ['https://studio.example.evil', 'http://studio.example', 'https://evil.example']) {
      for (const method of ['GET', 'OPTIONS']) {
        const refused = await from(origin, { method, headers });
        expectRefusal(refused, 403, 'ORIGIN_NOT_ALLOWED');
        expect(refused.headers['access-control-allow-origin']).toBeUndefined();
      }
    }
  });
});

describe('[FLR-host-origin] security headers come with', () => {
  const kinds: [string, () => Promise<Reply>, number][] = [
    ['a list', () => ask(hub, '/api/v1/flows', { token }), 200],
    ['health', () => ask(hub, '/api/v1/health'), 200],
    ['the front page', () => ask(hub, '/'), 200],
    ['the API description', () => ask(hub, '/api/v1/openapi.json'), 200],
    ['a refused sign-in', () => ask(hub, '/signin?code=x'), 401],
    ['a missing token', () => ask(hub, '/api/v1/flows'), 401],
    ['a missing page', () => ask(hub, '/nowhere'), 404],
    ['a wrong method', () => ask(hub, '/api/v1/flows', { method: 'DELETE' }), 405],
    ['a refused input', () => ask(hub, '/api/v1/flows?limit=0', { token }), 400],
    ['a refused host', () => ask(hub, '/', { headers: { host: 'evil.example' } }), 403],
    ['a body that is no JSON', () => ask(hub, '/api/v1/users', { method: 'POST', token, raw: 'x' }), 415],
    ['MCP', () => ask(hub, '/mcp', { method: 'POST', token, json: { jsonrpc: '2.0', id: 1, method: 'ping' } }), 406],
    ['MCP without a token', () => ask(hub, '/mcp', { method: 'POST', json: {} }), 401],
    ['a HEAD request', () => ask(hub, '/api/v1/flows', { method: 'HEAD', token }), 200],
    ['an address that cannot be read', () => ask(hub, '/api/v1/flows/%zz', { token }), 400],
    ['a parameter that is too long', () => ask(hub, `/api/v1/flows/${'a'.repeat(2_000)}`, { token }), 400],
    ['bytes that are no request', () => speak(hub, 'not http\r\n\r\n'), 400],
  ];
  it.each(kinds)('%s', async (_kind, request, status) => {
    const reply = await request();
    expect(reply.status, reply.text).toBe(status);
    expect(reply.headers).toMatchObject(SECURITY_HEADERS);
    expect(reply.headers['x-powered-by']).toBeUndefined();
    expect(reply.headers.server).toBeUndefined();
  });

  it('an address that cannot be read is no way around the Host check', async () => {
    const reply = await ask(hub, '/api/v1/flows/%zz', { headers: { host: 'evil.example' } });
    expectRefusal(reply, 403, 'HOST_NOT_ALLOWED');
  });
});
