import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeStore, type TestStore } from '../support/databases.ts';
import { sampleFlow } from '../support/flows.ts';
import { flowright, type Hub, type ProgramOptions, startHub } from '../support/program.ts';
import { storeOf } from './library.ts';
import { must, tokenFor } from './people.ts';
import { ask, type Reply } from './rest.ts';

const SECRET_KEY = /token|oauth|refresh_token|api_key|secret|password/i;
/** Words of the contract that must not occur anywhere in an answer about flows. */
const MARKERS = /oauth|refresh_token|api_key|bearer |"token"|password|-----BEGIN|secret_sha256/i;

let store: TestStore;
let hub: Hub;
let options: ProgramOptions;
let token: string;

beforeAll(async () => {
  store = await makeStore('sqlite');
  options = { home: store.home };
  token = await tokenFor(options, 'local');
  hub = await startHub(options);
});

afterAll(async () => {
  await hub?.stop();
  await store?.remove();
});

const get = (path: string) => ask(hub, path, { token });

describe('[S002-8.4-no-secrets] answers about flows', () => {
  it('have no key named like a secret and no word of one', async () => {
    const list = await get('/api/v1/flows');
    const ids = (list.body.flows as { flow_id: string }[]).map(({ flow_id }) => flow_id);
    expect(ids).toHaveLength(6);
    const search = await get('/api/v1/flows/search?query=flow');
    const whole = await Promise.all(ids.map((id) => get(`/api/v1/flows/${id}`)));
    for (const { status, body, text } of [list, search, ...whole]) {
      expect(status).toBe(200);
      expect(keysOf(body).filter((key) => SECRET_KEY.test(key))).toEqual([]);
      expect(text).not.toMatch(MARKERS);
    }
  });

  it('name handles only: a reference shaped like a credential is never taken in', async () => {
    const refs = [
      'ghp_abcdefghijklmnopqrstuvwxyz0123',
      'AKIAABCDEFGHIJKLMNOP',
      'https://me:hunter22@example.org/x',
      token,
    ];
    const bundles = refs.map((id, at) => {
      const bundle = sampleFlow(`flow_ref_${at}`);
      bundle.steps[0]?.requires?.push({ kind: 'tool', id });
      return bundle;
    });
    const folder = join(store.home, 'hub_flow_store.json');
    writeFileSync(folder, JSON.stringify({ vaults: { default: storeOf(bundles) } }));
    const report = JSON.parse(await must(['flow', 'store', 'import', folder, '--json'], options));
    expect(report).toMatchObject({ flows: 0, quarantined: refs.map(() => ({ kind: 'flows' })) });
    for (const ref of refs) expect(JSON.stringify(report)).not.toContain(ref);
    expect((await get('/api/v1/flows')).text).not.toContain('flow_ref_');
  });

  it('of identity and audit show no hash or secret either', async () => {
    await ask(hub, '/api/v1/whoami', { token: 'flw_wrong-but-plausible-secret' });
    const paths = ['tokens', 'users', 'members', 'vaults', 'whoami', 'audit', 'audit?chain=hub'];
    for (const path of paths) {
      const { status, text } = await get(`/api/v1/${path}`);
      expect(status).toBe(200);
      expect(text).not.toMatch(/secret|sha256|flw_|flws_|flwc_|password/i);
    }
  });
});

describe('[S002-8.4-no-secrets] refusals', () => {
  const refusals: [string, () => Promise<Reply>][] = [
    ['a bad id', () => get("/api/v1/flows/flow_a'%20or%201=1--")],
    ['a bad parameter', () => get('/api/v1/flows?limit=x')],
    ['a strange parameter', () => get('/api/v1/flows?constructor=1')],
    ['a missing flow', () => get('/api/v1/flows/flow_missing')],
    ['a wrong token', () => ask(hub, '/api/v1/flows', { token: 'flw_guess' })],
    ['a broken body', () => ask(hub, '/api/v1/users', { method: 'POST', token, raw: '{', headers: JSON_TYPE })],
    ['a known user', () => ask(hub, '/api/v1/users', { method: 'POST', token, json: { user: 'local' } })],
    ['the last admin', () => ask(hub, '/api/v1/members/local', { method: 'DELETE', token })],
    ['an unreadable address', () => get('/api/v1/flows/%zz')],
    ['an MCP request of nonsense', () => ask(hub, '/mcp', { method: 'POST', token, json: { nonsense: true } })],
    ['a missing page', () => get('/etc/passwd')],
  ];
  it.each(refusals)('for %s tell nothing of the inside', async (_what, request) => {
    const { status, text } = await request();
    expect(status).toBeGreaterThanOrEqual(400);
    expect(text).not.toMatch(/\n\s+at |node_modules|\.[jt]s:\d|\/dist\/|file:\/\/|TypeError|ZodError|Sqlite/i);
    expect(text).not.toMatch(/\b(select|insert into|update|delete from)\b.*\b(from|values|set|where)\b/i);
    expect(text).not.toContain(store.home);
    expect(text).not.toContain(token);
  });

  it('of a command tell no stack and no statement', async () => {
    const env = { FLOWRIGHT_IDENTITY: 'stranger' };
    for (const args of [['signin'], ['flow', 'list'], ['member', 'remove', 'local', '--yes']]) {
      const { status, stderr } = await flowright(args, { ...options, env });
      expect(status, stderr).toBe(1);
      expect(stderr).not.toMatch(/\n\s+at |node_modules|constraint|\.js:\d/i);
    }
  });
});

describe('[S002-8.4-no-secrets] [FLR-config-layers] config show', () => {
  const show = async (env: Record<string, string>) => {
    const texts = [
      ['config', 'show'],
      ['config', 'show', '--json'],
    ].map((args) => must(args, { ...options, env }));
    return (await Promise.all(texts)).join('\n');
  };

  it('hides the hub token', async () => {
    const text = await show({ FLOWRIGHT_HUB: hub.url, FLOWRIGHT_HUB_TOKEN: token });
    expect(text).toContain('[secret]');
    expect(text).not.toContain(token.slice(4, 20));
  });

  it.each([
    'postgres://me:hunter22@127.0.0.1/db',
    'postgresql://me:hunter22@127.0.0.1:5432/db',
    'postgres://me:a:hunter22@127.0.0.1/db',
    'postgres://me:a@hunter22@127.0.0.1/db',
    'postgres://:hunter22@127.0.0.1/db',
    'postgres://me:a/hunter22@127.0.0.1/db',
    'postgres://127.0.0.1/db?user=me&password=hunter22',
    'postgres://127.0.0.1/db?sslpassword=hunter22',
  ])('hides the password of %s', async (DATABASE_URL) => {
    expect(await show({ DATABASE_URL })).not.toContain('hunter22');
  });

  it('is as silent when the database does not answer', async () => {
    for (const DATABASE_URL of [
      'postgres://me:hunter22@127.0.0.1:1/db',
      'postgres://127.0.0.1:1/db?password=hunter22',
    ]) {
      const { status, stdout, stderr } = await flowright(['flow', 'list'], { ...options, env: { DATABASE_URL } });
      expect(status).toBe(2);
      expect(stdout + stderr).not.toContain('hunter22');
    }
  });
});

const JSON_TYPE = { 'content-type': 'application/json' };

function keysOf(value: unknown): string[] {
  if (value === null || typeof value !== 'object') return [];
  const own = Array.isArray(value) ? [] : Object.keys(value);
  return [...own, ...Object.values(value).flatMap(keysOf)];
}
