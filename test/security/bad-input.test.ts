import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Schema } from '../../src/database/index.ts';
import { makeStore, type TestStore } from '../support/databases.ts';
import { type Hub, startHub } from '../support/program.ts';
import { tokenFor } from './people.ts';
import { ask, expectEnvelope, expectRefusal, type Question, speak } from './rest.ts';

/** Every table but the audit log, which tells of refused writes. */
const TABLES: (keyof Schema)[] = [
  'vaults',
  'users',
  'memberships',
  'tokens',
  'streams',
  'events',
  'revisions',
  'flows',
  'flow_tags',
  'flow_versions',
  'flow_steps',
  'flow_records',
  'flow_quarantine',
  'proposals',
  'proposal_comments',
  'flow_mirrors',
  'file_writes',
];
const JSON_TYPE = { 'content-type': 'application/json' };
const MEGABYTE = 1_048_576;
/** What a refusal may weigh, however large the request was. */
const REFUSAL_BYTES = 64 * 1_024;

let store: TestStore;
let hub: Hub;
let token: string;
let before: Record<string, number>;

beforeAll(async () => {
  store = await makeStore('sqlite');
  token = await tokenFor({ home: store.home }, 'local');
  hub = await startHub({ home: store.home, env: { FLOWRIGHT_RATE_LIMIT_PER_MINUTE: '100000' } });
  await ask(hub, '/api/v1/flows', { token });
});

afterAll(async () => {
  await hub?.stop();
  await store?.remove();
});

const rowCounts = async () => {
  const { queries } = await store.open();
  const counts: Record<string, number> = {};
  for (const table of TABLES) {
    const rows = await queries
      .selectFrom(table)
      .select(({ fn }) => fn.countAll<number>().as('rows'))
      .execute();
    counts[table] = Number(rows[0]?.rows);
  }
  return counts;
};

beforeEach(async () => {
  before = await rowCounts();
});

afterEach(async () => {
  expect(await rowCounts()).toEqual(before);
});

const get = (path: string) => ask(hub, path, { token });
const post = (path: string, question: Question) => ask(hub, path, { method: 'POST', token, ...question });

describe('[FLR-bad-input] a read refuses', () => {
  it.each([
    '0',
    '-1',
    '-0',
    '1.5',
    '1e3',
    'NaN',
    'Infinity',
    '201',
    '9'.repeat(400),
    '0x10',
    '+1',
    '１',
    'true',
    '[1]',
  ])('limit=%s', async (limit) => {
    for (const path of ['/api/v1/flows?', '/api/v1/flows/search?query=a&', '/api/v1/audit?']) {
      expectRefusal(await get(`${path}limit=${encodeURIComponent(limit)}`), 400, 'BAD_REQUEST');
    }
  });

  it.each(['x', 'flow_', 'FLOW_A', 'flow_a-b', `flow_${'a'.repeat(65)}`, 'flow_é', 'flow_a%0A', 'flow_a%00', '%20'])(
    'the flow id %s',
    async (id) => expectRefusal(await get(`/api/v1/flows/${encodeURI(decodeURI(id))}`), 400, 'BAD_REQUEST'),
  );

  it.each(['1', 'v1.0.0', '01.0.0', '1.0', '1.0.0-rc', '1.0.0\n', '-1.0.0', `1.0.${'9'.repeat(100)}`, '1.0.0,2.0.0'])(
    'the version %j',
    async (version) => {
      const path = `/api/v1/flows/flow_capture_to_note?version=${encodeURIComponent(version)}`;
      expectRefusal(await get(path), 400, 'BAD_REQUEST');
    },
  );

  it.each([
    '/api/v1/flows?scope=galaxy',
    '/api/v1/flows?scope=personal&scope=org',
    '/api/v1/flows?limit=1&limit=2',
    '/api/v1/flows?tag=a&tag=b',
    '/api/v1/flows?unknown=1',
    '/api/v1/flows?Limit=1',
    '/api/v1/flows?visibleScopes=org',
    '/api/v1/flows?flow_id=flow_a',
    '/api/v1/flows/flow_capture_to_note?flow_id=flow_other',
    '/api/v1/flows/search',
    '/api/v1/flows/search?query=%20',
    `/api/v1/flows/search?query=${'a'.repeat(501)}`,
    '/api/v1/audit?before=0',
    '/api/v1/audit?chain=other',
    '/api/v1/whoami?user_id=eve',
    '/api/v1/health?x=1',
    '/api/v1/flows?=1',
  ])('%s', async (path) => expectRefusal(await get(path), 400, 'BAD_REQUEST'));

  it.each(['constructor', '__proto__', 'toString', 'hasOwnProperty', 'valueOf', 'prototype'])(
    'a parameter named %s, as any unknown one',
    async (name) => {
      expectRefusal(await get(`/api/v1/flows?${name}=1`), 400, 'BAD_REQUEST');
      expectRefusal(await ask(hub, `/api/v1/health?${name}=1`), 400, 'BAD_REQUEST');
    },
  );

  it.each(['%00', 'a%00b', '%0A', '%1B%5B2J', '%E2%80%A8', '%7F', '%C2%9B', 'a'.repeat(65)])(
    'the tag %s',
    async (tag) => expectRefusal(await get(`/api/v1/flows?tag=${tag}`), 400, 'BAD_REQUEST'),
  );

  it('nothing when a parameter is blank: that is the same as leaving it out', async () => {
    const whole = (await get('/api/v1/flows')).text;
    expect((await get('/api/v1/flows?limit=&scope=&tag=')).text).toBe(whole);
  });

  it.each([
    '%00',
    '%ED%A0%80',
    '%FF%FE',
    '%F0%9F',
    '%22%27%3B--',
    '%28%7C%26%21%3A%2A',
    '*',
    '%E2%80%AE',
    'NEAR(',
    '%',
  ])('nothing in the words %s, which simply do not occur', async (query) => {
    const reply = await get(`/api/v1/flows/search?query=${query}`);
    expect(reply.status, reply.text).toBe(200);
    expect(reply.body.flows).toEqual([]);
  });
});

describe('[FLR-bad-input] a write refuses', () => {
  const bodies: [string, Question, number, string][] = [
    ['no body', {}, 400, 'BAD_REQUEST'],
    ['text that is not JSON', { raw: '{user:', headers: JSON_TYPE }, 400, 'BAD_REQUEST'],
    ['two JSON values', { raw: '{"user":"a"}{"user":"b"}', headers: JSON_TYPE }, 400, 'BAD_REQUEST'],
    ['an array', { json: [{ user: 'a' }] }, 400, 'BAD_REQUEST'],
    ['a text', { json: 'user' }, 400, 'BAD_REQUEST'],
    ['a number', { json: 7 }, 400, 'BAD_REQUEST'],
    ['null', { json: null }, 400, 'BAD_REQUEST'],
    ['an unknown key', { json: { user: 'a', admin: true } }, 400, 'BAD_REQUEST'],
    ['a __proto__ key', { raw: '{"user":"a","__proto__":{"x":1}}', headers: JSON_TYPE }, 400, 'BAD_REQUEST'],
    ['a constructor key', { json: { user: 'a', constructor: { prototype: {} } } }, 400, 'BAD_REQUEST'],
    ['a value of a wrong type', { json: { user: { $ne: null } } }, 400, 'BAD_REQUEST'],
    ['a NUL in an id', { json: { user: 'a\u0000b' } }, 400, 'BAD_REQUEST'],
    ['half of a character', { raw: '{"user":"a\\ud800"}', headers: JSON_TYPE }, 400, 'BAD_REQUEST'],
    ['an id that is too long', { json: { user: 'a'.repeat(129) } }, 400, 'BAD_REQUEST'],
    [
      'bytes that are not UTF-8',
      { raw: Buffer.from([0x7b, 0xff, 0xfe, 0x7d]), headers: JSON_TYPE },
      400,
      'BAD_REQUEST',
    ],
    ['UTF-16', { raw: Buffer.from('{"user":"a"}', 'utf16le'), headers: JSON_TYPE }, 400, 'BAD_REQUEST'],
    ['deep nesting', { raw: '['.repeat(500_000), headers: JSON_TYPE }, 400, 'BAD_REQUEST'],
    ['no content type', { raw: '{"user":"a"}' }, 415, 'UNSUPPORTED_MEDIA_TYPE'],
    ['a form', form('user=a', 'application/x-www-form-urlencoded'), 415, 'UNSUPPORTED_MEDIA_TYPE'],
    ['plain text', form('{"user":"a"}', 'text/plain'), 415, 'UNSUPPORTED_MEDIA_TYPE'],
    ['a content type in disguise', form('{"user":"a"}', 'text/plain; application/json'), 415, 'UNSUPPORTED_MEDIA_TYPE'],
  ];
  it.each(bodies)('%s', async (_what, question, status, code) => {
    expectRefusal(await post('/api/v1/users', question), status, code);
  });

  const write = (lines: string[], body: string) => {
    const head = ['POST /api/v1/users HTTP/1.1', `Host: ${new URL(hub.url).host}`, `Authorization: Bearer ${token}`];
    return speak(hub, `${[...head, 'Content-Type: application/json', ...lines].join('\r\n')}\r\n\r\n${body}`);
  };

  it('10 MB as soon as they are announced', async () => {
    expectRefusal(await write([`Content-Length: ${10 * MEGABYTE}`], '{'), 413, 'PAYLOAD_TOO_LARGE');
  });

  it('more than 2 MB that were not announced', async () => {
    const length = 2 * MEGABYTE + 1;
    const reply = await write(['Transfer-Encoding: chunked'], `${length.toString(16)}\r\n${' '.repeat(length)}\r\n`);
    expectRefusal(reply, 413, 'PAYLOAD_TOO_LARGE');
  });

  it('a query string on a write, and a path parameter said again in the body', async () => {
    expectRefusal(await post('/api/v1/users?user=a', { json: { user: 'b' } }), 400, 'BAD_REQUEST');
    const put = { method: 'PUT', token, json: { user: 'other', role: 'viewer' } };
    expectRefusal(await ask(hub, '/api/v1/members/kim', put), 400, 'BAD_REQUEST');
  });

  it('values that would widen a membership', async () => {
    for (const scopes of [[], ['galaxy'], 'org', ['org', 1], null]) {
      const reply = await ask(hub, '/api/v1/members/kim', { method: 'PUT', token, json: { role: 'viewer', scopes } });
      expectRefusal(reply, 400, 'BAD_REQUEST');
    }
  });

  it.each<[string, Record<string, unknown>]>([
    ['many unknown keys', Object.fromEntries(Array.from({ length: 50_000 }, (_, at) => [`key${at}`, 1]))],
    ['a very long key', { ['k'.repeat(1_000_000)]: 1 }],
  ])('%s, in few words', async (_what, json) => {
    const reply = await post('/api/v1/users', { json });
    expectEnvelope(reply);
    expect(Buffer.byteLength(reply.text)).toBeLessThan(REFUSAL_BYTES);
  });
});

function form(raw: string, type: string): Question {
  return { raw, headers: { 'content-type': type } };
}
