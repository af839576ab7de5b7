import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { makeStore, type TestStore } from '../support/databases.ts';
import { type Hub, type ProgramOptions, startHub } from '../support/program.ts';
import { must, tokenFor } from './people.ts';
import { ask, expectRefusal, type Question, type Reply } from './rest.ts';

const LIMIT = 5;
const FAILURES = 60;

let store: TestStore;
let hub: Hub;
let options: ProgramOptions;
const tokens = { owner: '', vera: '' };

beforeEach(async () => {
  store = await makeStore('sqlite');
  options = { home: store.home };
  tokens.owner = await tokenFor(options, 'local');
  tokens.vera = await tokenFor(options, 'vera', { role: 'viewer' });
  hub = await startHub({ ...options, env: { FLOWRIGHT_RATE_LIMIT_PER_MINUTE: String(LIMIT) } });
});

afterEach(async () => {
  await hub?.stop();
  await store?.remove();
});

/** Asks the same again and again; returns the last answer. */
const repeat = async (times: number, path: string, question: Question = {}) => {
  const replies: Reply[] = [];
  for (let at = 0; at < times; at += 1) replies.push(await ask(hub, path, question));
  return replies;
};

function expectLimited(reply: Reply | undefined): void {
  expectRefusal(reply as Reply, 429, 'RATE_LIMIT');
  expect(Number(reply?.headers['retry-after'])).toBeGreaterThan(0);
  expect(Number(reply?.headers['retry-after'])).toBeLessThanOrEqual(60);
}

describe('[FLR-rate-limit] a subject on a route', () => {
  it('is refused after its share of a minute, and told when to come back', async () => {
    const replies = await repeat(LIMIT + 1, '/api/v1/flows', { token: tokens.owner });
    expect(replies.slice(0, LIMIT).map(({ status }) => status)).toEqual(Array(LIMIT).fill(200));
    expectLimited(replies.at(-1));
    expectLimited(await ask(hub, '/api/v1/flows?limit=1', { token: tokens.owner }));
  });

  it('uses up nothing of another route or another user', async () => {
    await repeat(LIMIT + 1, '/api/v1/flows', { token: tokens.owner });
    expect((await ask(hub, '/api/v1/whoami', { token: tokens.owner })).status).toBe(200);
    expect((await ask(hub, '/api/v1/flows', { token: tokens.vera })).status).toBe(200);
  });

  it('is one subject whichever token it uses and whatever it claims to be forwarded for', async () => {
    await repeat(LIMIT, '/api/v1/flows', { token: tokens.vera });
    const second = await tokenFor(options, 'vera');
    const headers = { 'x-forwarded-for': '10.1.2.3', forwarded: 'for=10.1.2.3' };
    expectLimited(await ask(hub, '/api/v1/flows', { token: second, headers }));
  });

  it('is one route for all its ids and its older address', async () => {
    for (let at = 0; at < LIMIT; at += 1) await ask(hub, `/api/v1/flows/flow_${at}`, { token: tokens.vera });
    expectLimited(await ask(hub, '/api/v1/flows/flow_other', { token: tokens.vera }));
    expectLimited(await ask(hub, '/api/flows/flow_other', { token: tokens.vera }));
  });

  it('is limited at MCP too', async () => {
    const question = { method: 'POST', token: tokens.vera, json: { jsonrpc: '2.0', id: 1, method: 'ping' } };
    expectLimited((await repeat(LIMIT + 1, '/mcp', question)).at(-1));
  });

  it('is limited by address where nobody signs in', async () => {
    expectLimited((await repeat(LIMIT + 1, '/api/v1/health')).at(-1));
    expectLimited((await repeat(LIMIT + 1, '/signin?code=flwc_guess')).at(-1));
  });

  it.each<[string, Question]>([
    ['that names a vault it may not use', { headers: { 'x-vault-id': 'nothere' } }],
    ['whose body cannot be read', { method: 'POST', raw: '{', headers: { 'content-type': 'application/json' } }],
    ['whose body has a wrong type', { method: 'POST', raw: 'x', headers: { 'content-type': 'text/plain' } }],
  ])('counts a request %s', async (_what, question) => {
    expectLimited((await repeat(LIMIT + 1, '/api/v1/users', { token: tokens.owner, ...question })).at(-1));
  });
});

describe('[FLR-rate-limit] wrong tokens', () => {
  const guess = (path: string, times: number) => repeat(times, path, { token: 'flw_guess' });

  it('are refused by the address after a minute of guessing', async () => {
    const replies = await guess('/api/v1/flows', FAILURES + 1);
    expect(replies.slice(0, FAILURES).every(({ status }) => status === 401)).toBe(true);
    expectRefusal(replies.at(-1) as Reply, 429, 'RATE_LIMIT');
  });

  it('are told when to come back', async () => {
    expectLimited((await guess('/api/v1/flows', FAILURES + 1)).at(-1));
  });

  it('count together whatever the route', async () => {
    await guess('/api/v1/flows', FAILURES / 2);
    await guess('/api/v1/whoami', FAILURES / 2);
    expectRefusal(await ask(hub, '/api/v1/vaults', { token: 'flw_guess' }), 429, 'RATE_LIMIT');
    expectRefusal(await ask(hub, '/api/v1/nothing-here', { token: 'flw_guess' }), 429, 'RATE_LIMIT');
  });

  it('do not lock out those who have a right one', async () => {
    await guess('/api/v1/flows', FAILURES + 5);
    expect((await ask(hub, '/api/v1/flows', { token: tokens.vera })).status).toBe(200);
  });

  it('become a few lines of the audit log', async () => {
    await guess('/api/v1/flows', FAILURES + 5);
    await hub.stop();
    const log = await must(['audit', 'list', '--chain', 'hub', '--json'], options);
    const { entries } = JSON.parse(log) as { entries: { action: string; occurrences: number }[] };
    expect(entries.length).toBeLessThanOrEqual(3);
    expect(entries.reduce((sum, { occurrences }) => sum + occurrences, 0)).toBe(FAILURES);
  });
});
