import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeFolder } from '../support/home.ts';
import { flowright, flowrightJson, type Hub, startHub } from '../support/program.ts';

type Json = Record<string, unknown>;

/** One act of an administrator, as it is said at a terminal and over REST. */
interface Act {
  args: string[];
  rest: [method: string, path: string, body?: Json];
}

const listOf = (name: string): Act => ({ args: [name, 'list'], rest: ['GET', `/api/v1/${name}s`] });
const createVault = (id: string): Act => ({
  args: ['vault', 'create', id, '--title', 'A title', '--no-starters'],
  rest: ['POST', '/api/v1/vaults', { vault_id: id, title: 'A title', starters: false }],
});
const createUser = (user: string): Act => ({
  args: ['user', 'create', user],
  rest: ['POST', '/api/v1/users', { user }],
});
const switchUser = (user: string, verb: 'enable' | 'disable'): Act => ({
  args: ['user', verb, user, '--yes'],
  rest: ['POST', `/api/v1/users/${user}/${verb}`],
});
const setMember = (user: string, role: string, scopes: string[]): Act => ({
  args: ['member', 'set', user, '--role', role, '--scopes', scopes.join(',')],
  rest: ['PUT', `/api/v1/members/${user}`, { role, scopes }],
});
const removeMember = (user: string): Act => ({
  args: ['member', 'remove', user, '--yes'],
  rest: ['DELETE', `/api/v1/members/${user}`],
});
const createToken = (user: string, role: string): Act => ({
  args: ['token', 'create', '--user', user, '--role', role, '--label', 'for tests', '--days', '3', '--agent'],
  rest: ['POST', '/api/v1/tokens', { user, role, label: 'for tests', days: 3, agent: true }],
});
const revokeToken = (id: string): Act => ({
  args: ['token', 'revoke', id, '--yes'],
  rest: ['DELETE', `/api/v1/tokens/${id}`],
});
const audit: Act = { args: ['audit', 'list', '--limit', '200'], rest: ['GET', '/api/v1/audit?limit=200'] };
const verify: Act = { args: ['audit', 'verify'], rest: ['GET', '/api/v1/audit/verify'] };

const { folder: home, remove } = makeFolder();
let hub: Hub;
let ownToken: string;

beforeAll(async () => {
  ownToken = (await flowrightJson<{ token: string }>(['token', 'create', '--user', 'local'], { home })).token;
  hub = await startHub({ home });
});
afterAll(async () => {
  await hub?.stop();
  remove();
});

const command =
  (env: () => Record<string, string>) =>
  async ({ args }: Act): Promise<Json> => {
    const { status, stdout, stderr } = await flowright([...args, '--json'], { home, env: env() });
    return JSON.parse(status === 0 ? stdout : stderr);
  };

const rest = async ({ rest: [method, path, body] }: Act): Promise<Json> => {
  const headers: Record<string, string> = { authorization: `Bearer ${ownToken}` };
  if (body) headers['content-type'] = 'application/json';
  const response = await fetch(new URL(path, hub.url), {
    method,
    headers,
    ...(body ? { body: JSON.stringify(body) } : {}),
  });
  return (await response.json()) as Json;
};

const statusWith = async (token: string) =>
  (await fetch(new URL('/api/v1/whoami', hub.url), { headers: { authorization: `Bearer ${token}` } })).status;

describe.each([
  { door: 'command line', who: 'ann', does: command(() => ({})) },
  {
    door: 'command line --hub',
    who: 'bob',
    does: command(() => ({ FLOWRIGHT_HUB: hub.url, FLOWRIGHT_HUB_TOKEN: ownToken })),
  },
  { door: 'REST', who: 'eve', does: rest },
])('administration through the $door', ({ who, does }) => {
  it('creates a vault once and lists it', async () => {
    const created = await does(createVault(`vault-${who}`));
    expect(created.vault).toMatchObject({ vault_id: `vault-${who}`, title: 'A title', role: 'admin' });
    expect((await does(listOf('vault'))).vaults).toContainEqual(created.vault);
    expect(await does(createVault(`vault-${who}`))).toMatchObject({ code: 'CONFLICT' });
  });

  it('creates a user once, stops and readmits it', async () => {
    const user = `user-${who}`;
    expect((await does(createUser(user))).user).toMatchObject({ user_id: user, disabled_at: null });
    expect(await does(createUser(user))).toMatchObject({ code: 'CONFLICT' });
    const { token } = (await does(createToken(user, 'viewer'))) as { token: string };
    expect(await statusWith(token)).toBe(200);
    expect((await does(switchUser(user, 'disable'))).user).toMatchObject({ disabled_at: expect.any(String) });
    expect(await statusWith(token)).not.toBe(200);
    expect((await does(switchUser(user, 'enable'))).user).toMatchObject({ disabled_at: null });
    expect(await statusWith(token)).toBe(200);
    expect(await does(switchUser('nobody', 'disable'))).toMatchObject({ code: 'NOT_FOUND' });
  });

  it('sets, lists and removes a member, and never the last admin', async () => {
    const user = `member-${who}`;
    const member = { user_id: user, role: 'viewer', scopes: ['personal', 'project'], ambiguous: false };
    expect((await does(setMember(user, 'viewer', ['personal', 'project']))).member).toEqual(member);
    expect((await does(listOf('member'))).members).toContainEqual(member);
    expect((await does(setMember(user, 'editor', ['org']))).member).toMatchObject({ role: 'editor', scopes: ['org'] });
    expect(await does(removeMember(user))).toMatchObject({ user_id: user, vault_id: 'default' });
    expect(await does(removeMember(user))).toMatchObject({ code: 'NOT_FOUND' });
    expect(JSON.stringify(await does(listOf('member')))).not.toContain(user);
    expect(await does(removeMember('local'))).toMatchObject({ code: 'CONFLICT' });
  });

  it('[FLR-token-lifecycle] creates a token that works, lists it without the secret, and revokes it at once', async () => {
    const created = await does(createToken(`token-${who}`, 'viewer'));
    const { token, token_id } = created as { token: string; token_id: string };
    expect(created).toMatchObject({ role: 'viewer', vault_id: 'default', label: 'for tests', agent: true });
    expect(await statusWith(token)).toBe(200);
    const list = await does(listOf('token'));
    expect(list.tokens).toContainEqual(
      expect.objectContaining({ token_id, user_id: `token-${who}`, revoked_at: null }),
    );
    expect(JSON.stringify(list)).not.toContain(token);
    expect(await does(revokeToken(token_id))).toEqual({ schema: 'flowright.token_revoked/v1', token_id });
    expect(await statusWith(token)).toBe(401);
    expect(await does(revokeToken(token_id))).toMatchObject({ code: 'NOT_FOUND' });
    expect(await does(createToken(`token-${who}`, 'admin')), 'a token changes nobody’s role').toMatchObject({
      code: 'CONFLICT',
    });
  });

  it('[FLR-audit-chain] finds all of that in the log, without secrets, and the log sound', async () => {
    const { entries } = (await does(audit)) as { entries: { action: string; outcome: string; detail: Json }[] };
    const mine = entries.filter(({ detail }) => JSON.stringify(detail).includes(`-${who}`));
    expect(new Set(mine.map(({ action }) => action))).toEqual(
      new Set([
        'vault.create',
        'user.create',
        'user.disable',
        'user.enable',
        'member.set',
        'member.remove',
        'token.create',
      ]),
    );
    expect(entries.some(({ action, outcome }) => action === 'token.revoke' && outcome === 'done')).toBe(true);
    expect(entries.some(({ action, outcome }) => action === 'member.remove' && outcome === 'refused')).toBe(true);
    expect(JSON.stringify(entries)).not.toContain('flw_');
    expect(await does(verify)).toMatchObject({ ok: true, broken_at: null, entries: expect.any(Number) });
  });
});
