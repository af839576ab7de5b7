import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeStore, type TestStore } from '../support/databases.ts';
import { type Hub, startHub } from '../support/program.ts';
import { ask } from './rest.ts';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const GOOD = ['a', 'req-1', 'trace:abc.DEF_9', 'x'.repeat(128)];
const BAD = [
  '',
  'x'.repeat(129),
  'a b',
  '<script>',
  'a;b',
  'a/b',
  '\u00e9',
  '$(id)',
  'a\tb',
  '"',
  '%0d%0aSet-Cookie:x',
];

let store: TestStore;
let hub: Hub;

beforeAll(async () => {
  store = await makeStore('sqlite');
  hub = await startHub({ home: store.home });
});

afterAll(async () => {
  await hub?.stop();
  await store?.remove();
});

describe('[FLR-bad-input] X-Request-ID', () => {
  it.each(GOOD)('%s is honoured in header and envelope', async (id) => {
    const headers = { 'x-request-id': id };
    expect((await ask(hub, '/api/v1/health', { headers })).headers['x-request-id']).toBe(id);
    const refused = await ask(hub, '/api/v1/flows', { headers });
    expect(refused.headers['x-request-id']).toBe(id);
    expect(refused.body.request_id).toBe(id);
  });

  it.each(BAD)('%j is replaced by a new one', async (id) => {
    const first = await ask(hub, '/api/v1/flows', { headers: { 'x-request-id': id } });
    const second = await ask(hub, '/api/v1/flows', { headers: { 'x-request-id': id } });
    expect(first.headers['x-request-id']).toMatch(UUID);
    expect(first.body.request_id).toBe(first.headers['x-request-id']);
    expect(second.body.request_id).not.toBe(first.body.request_id);
    expect(Object.keys(first.headers)).not.toContain('set-cookie');
  });

  it('sent twice is replaced', async () => {
    const reply = await ask(hub, '/api/v1/flows', { headers: { 'x-request-id': ['one', 'two'] } });
    expect(reply.body.request_id).toMatch(UUID);
  });

  it('left out is made, and every answer has its own', async () => {
    const replies = await Promise.all(Array.from({ length: 20 }, () => ask(hub, '/api/v1/health')));
    expect(new Set(replies.map(({ headers }) => headers['x-request-id'])).size).toBe(20);
  });
});

describe('[FLR-bad-input] X-Correlation-ID', () => {
  it.each(GOOD)('%s is echoed in header and envelope', async (id) => {
    const headers = { 'x-correlation-id': id };
    expect((await ask(hub, '/api/v1/health', { headers })).headers['x-correlation-id']).toBe(id);
    const refused = await ask(hub, '/api/v1/flows', { headers });
    expect(refused.headers['x-correlation-id']).toBe(id);
    expect(refused.body.correlation_id).toBe(id);
  });

  it.each(BAD)('%j is left out', async (id) => {
    const reply = await ask(hub, '/api/v1/flows', { headers: { 'x-correlation-id': id } });
    expect(reply.headers['x-correlation-id']).toBeUndefined();
    expect(reply.body).not.toHaveProperty('correlation_id');
  });
});
