import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeStore, type TestStore } from '../support/databases.ts';
import { type Hub, startHub } from '../support/program.ts';
import { tokenFor } from './people.ts';
import { ask, expectEnvelope, expectRefusal, speak } from './rest.ts';

let store: TestStore;
let hub: Hub;
let token: string;

beforeAll(async () => {
  store = await makeStore('sqlite');
  token = await tokenFor({ home: store.home }, 'local');
  hub = await startHub({ home: store.home });
});

afterAll(async () => {
  await hub?.stop();
  await store?.remove();
});

describe('[FLR-bad-input] an address', () => {
  it.each([
    '/api/v1/flows/%',
    '/api/v1/flows/%zz',
    '/api/v1/flows/%c3%28',
    '/api/v1/flows/%ff',
    '/%',
    '/api/v1/flows/..%2f..%2fetc%2fpasswd',
    '/api/v1/flows/..%5c..%5cwindows',
    '/api/v1/flows/%2e%2e',
    '/api/v1/flows/flow_a%00.json',
    '/api/v1/flows/%252e%252e%252f',
    `/api/v1/flows/${'a'.repeat(1_025)}`,
    `/api/v1/flows/${'a'.repeat(8_000)}`,
    '/api/v1/flows/flow_a;version=1.0.0',
    '/api/v1/flows/flow_a%2Fsteps',
  ])('that names no flow is 400: %.60s', async (path) => {
    expectRefusal(await ask(hub, path, { token }), 400, 'BAD_REQUEST');
  });

  it.each([
    '//api/v1/flows',
    '/api//v1/flows',
    '/api/v1//flows',
    '/api/v1/flows/../users',
    '/api/v1/./flows',
    '/api/v1/flows/flow_a/steps',
    '/API/v1/flows',
    '/api/v1/flows/flow_capture_to_note/',
    '/..%2f..%2fpackage.json',
    '/../package.json',
    '/dist/main.js',
    '/config.yaml',
    '/.git/config',
    '/api/v2/flows',
  ])('that leads nowhere is 404: %s', async (path) => {
    const reply = await ask(hub, path, { token });
    expectRefusal(reply, 404, 'NOT_FOUND');
    expect(reply.text).not.toMatch(/identity: local|"dependencies"/);
  });

  it('that leads nowhere under /api needs a token like any other', async () => {
    for (const path of ['/api/v1/nothing', '/api/nothing', '/api/v1/flows/a/b', '/api', '/mcp/x']) {
      expectRefusal(await ask(hub, path), 401, 'UNAUTHORIZED');
    }
  });

  it('in absolute form is the path alone', async () => {
    const request = (target: string) =>
      `GET ${target} HTTP/1.1\r\nHost: ${new URL(hub.url).host}\r\nConnection: close\r\n\r\n`;
    const reply = await speak(hub, request('http://evil.example/api/v1/flows'));
    expectRefusal(reply, 401, 'UNAUTHORIZED');
  });

  it('with an unknown method is a coded refusal', async () => {
    for (const method of ['OPTIONS', 'TRACE', 'PROPFIND', 'LOCK']) {
      const reply = await ask(hub, '/api/v1/flows', { method, token });
      expect([404, 405], method).toContain(reply.status);
      expectEnvelope(reply);
    }
  });
});

describe('[FLR-bad-input] the socket', () => {
  const head = () => `Host: ${new URL(hub.url).host}\r\nConnection: close\r\n`;
  const broken: [string, () => string | Buffer][] = [
    ['words', () => 'hello hub\r\n\r\n'],
    ['NUL bytes', () => Buffer.alloc(64)],
    ['a TLS greeting', () => Buffer.from('16030100a5010000a10303', 'hex')],
    ['HTTP/2', () => 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
    ['a method nobody knows', () => `FLOW /api/v1/flows HTTP/1.1\r\n${head()}\r\n`],
    ['a header without a name', () => `GET / HTTP/1.1\r\n${head()}: x\r\n\r\n`],
    ['a NUL in a header', () => `GET / HTTP/1.1\r\n${head()}x: a\u0000b\r\n\r\n`],
    ['headers past all bounds', () => `GET / HTTP/1.1\r\n${head()}x: ${'a'.repeat(70_000)}\r\n\r\n`],
    ['an address past all bounds', () => `GET /${'a'.repeat(70_000)} HTTP/1.1\r\n${head()}\r\n`],
    ['a length and chunks', () => smuggled('Content-Length: 5\r\nTransfer-Encoding: chunked\r\n')],
    ['two lengths', () => smuggled('Content-Length: 5\r\nContent-Length: 6\r\n')],
    ['a negative length', () => smuggled('Content-Length: -1\r\n')],
    ['a bad chunk', () => `${smuggled('Transfer-Encoding: chunked\r\n')}zz\r\n`],
  ];
  const smuggled = (lines: string) =>
    `POST /api/v1/users HTTP/1.1\r\n${head()}Authorization: Bearer ${token}\r\nContent-Type: application/json\r\n${lines}\r\n`;

  it.each(broken)('that sends %s gets a coded refusal', async (_what, bytes) => {
    const reply = await speak(hub, bytes());
    expectRefusal(reply, 400, 'BAD_REQUEST');
  });

  it('that sends half a request and goes away does no harm', async () => {
    const { port } = new URL(hub.url);
    const { connect } = await import('node:net');
    for (let at = 0; at < 20; at += 1) {
      await new Promise<void>((done) => {
        const socket = connect(Number(port), '127.0.0.1', () => {
          socket.write(smuggled('Content-Length: 100\r\n').slice(0, 20 + at * 10));
          socket.destroy();
        });
        socket.once('close', () => done());
      });
    }
    expect((await ask(hub, '/api/v1/health')).status).toBe(200);
  });
});
