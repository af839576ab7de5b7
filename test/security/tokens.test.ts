import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { onEachDatabase, type TestStore } from '../support/databases.ts';
import { flowright, flowrightJson, type Hub, type ProgramOptions, startHub } from '../support/program.ts';
import { must, newToken, tokenFor } from './people.ts';
import { ask, expectRefusal } from './rest.ts';

onEachDatabase((engine, makeStore) => {
  let store: TestStore;
  let hub: Hub;
  let options: ProgramOptions;
  let owner: string;

  beforeAll(async () => {
    store = await makeStore();
    options = { home: store.home, databaseUrl: store.databaseUrl };
    owner = await tokenFor(options, 'local');
    hub = await startHub(options);
  });

  afterAll(async () => {
    await hub?.stop();
    await store?.remove();
  });

  const whoami = (token: string) => ask(hub, '/api/v1/whoami', { token });

  it('[FLR-token-lifecycle] the secret is shown once and only its hash is stored', async () => {
    const created = await ask(hub, '/api/v1/tokens', {
      token: owner,
      method: 'POST',
      json: { user: 'sam', role: 'viewer', label: 'once' },
    });
    expect(created.status).toBe(201);
    const secret = String(created.body.token);
    expect(secret).toMatch(/^flw_[A-Za-z0-9_-]{43}$/);
    expect(created.headers['cache-control']).toBe('no-store');

    const later = [
      (await ask(hub, '/api/v1/tokens', { token: owner })).text,
      (await ask(hub, '/api/v1/audit?limit=200', { token: owner })).text,
      hub.output(),
      JSON.stringify(await everyRow(store)),
      ...(engine === 'sqlite' ? filesOf(store.home) : []),
    ].join('\n');
    const hash = createHash('sha256').update(secret).digest('hex');
    expect(later.includes(secret)).toBe(false);
    expect(later.includes(secret.slice('flw_'.length))).toBe(false);
    expect(later.includes(hash)).toBe(true);
    expect((await ask(hub, '/api/v1/tokens', { token: owner })).text.includes(hash)).toBe(false);
  });

  it('[FLR-token-lifecycle] a hash or another kind of secret is not a token', async () => {
    const secret = await tokenFor(options, 'sam');
    const hash = createHash('sha256').update(secret).digest('hex');
    const code = new URL(hub.signinLink).searchParams.get('code') ?? '';
    const wrong = [hash, `flw_${hash}`, code, secret.slice(0, -1), `${secret}A`, secret.toUpperCase(), 'flw_'];
    for (const token of wrong) expectRefusal(await whoami(token), 401, 'UNAUTHORIZED');
    for (const authorization of ['', 'Bearer', `Basic ${secret}`, `Bearer ${secret} x`, secret]) {
      expectRefusal(await ask(hub, '/api/v1/whoami', { headers: { authorization } }), 401, 'UNAUTHORIZED');
    }
    expectRefusal(await ask(hub, `/api/v1/whoami?token=${secret}`), 401, 'UNAUTHORIZED');
    expectRefusal(
      await ask(hub, '/api/v1/whoami', { headers: { cookie: `flowright_session=${secret}` } }),
      401,
      'UNAUTHORIZED',
    );
    expect((await whoami(secret)).status).toBe(200);
  });

  describe('[FLR-token-lifecycle] what another process does takes effect on the next request', () => {
    it('revoking a token', async () => {
      const { token, token_id } = await newToken(options, 'rita', { role: 'viewer' });
      const other = await tokenFor(options, 'rita');
      expect((await whoami(token)).status).toBe(200);
      await must(['token', 'revoke', token_id, '--yes'], options);
      expectRefusal(await whoami(token), 401, 'UNAUTHORIZED');
      expect((await whoami(other)).status).toBe(200);
      const again = await flowright(['token', 'revoke', token_id, '--yes', '--json'], options);
      expect(JSON.parse(again.stderr)).toMatchObject({ code: 'NOT_FOUND' });
    });

    it('disabling a user and letting the user back in', async () => {
      const token = await tokenFor(options, 'dora', { role: 'viewer' });
      expect((await whoami(token)).status).toBe(200);
      await must(['user', 'disable', 'dora', '--yes'], options);
      const refused = await whoami(token);
      expect([401, 404], refused.text).toContain(refused.status);
      const local = await flowright(['flow', 'list'], { ...options, env: { FLOWRIGHT_IDENTITY: 'dora' } });
      expect(local.status).toBe(1);
      await must(['user', 'enable', 'dora'], options);
      expect((await whoami(token)).status).toBe(200);
    });

    it('changing a role', async () => {
      const token = await tokenFor(options, 'rob', { role: 'viewer' });
      expect((await whoami(token)).body).toMatchObject({ role: 'viewer', visible_scopes: ['personal'] });
      expect((await ask(hub, '/api/v1/flows', { token })).body.flows).toHaveLength(4);
      await must(['member', 'set', 'rob', '--role', 'editor'], options);
      expect((await whoami(token)).body).toMatchObject({ role: 'editor', visible_scopes: ['personal', 'project'] });
      expect((await ask(hub, '/api/v1/flows', { token })).body.flows).toHaveLength(6);
      await must(['member', 'set', 'rob', '--role', 'viewer'], options);
      expect((await ask(hub, '/api/v1/flows', { token })).body.flows).toHaveLength(4);
      expectRefusal(await ask(hub, '/api/v1/flows/flow_overseer_handover', { token }), 404, 'unknown_flow');
    });

    it('taking a member out', async () => {
      const token = await tokenFor(options, 'mona', { role: 'admin' });
      expect((await ask(hub, '/api/v1/members', { token })).status).toBe(200);
      await must(['member', 'remove', 'mona', '--yes'], options);
      expectRefusal(await ask(hub, '/api/v1/members', { token }), 404, 'NOT_FOUND');
    });
  });

  describe('[FLR-token-lifecycle] a token never changes a role', () => {
    const rolesOf = async (user: string) =>
      (await flowrightJson<{ members: { user_id: string; role: string }[] }>(['member', 'list'], options)).members
        .filter(({ user_id }) => user_id === user)
        .map(({ role }) => role);
    const create = (json: unknown) => ask(hub, '/api/v1/tokens', { token: owner, method: 'POST', json });

    it('of a known member', async () => {
      await tokenFor(options, 'cleo', { role: 'viewer' });
      expectRefusal(await create({ user: 'cleo', role: 'admin' }), 409, 'CONFLICT');
      const local = await flowright(['token', 'create', '--user', 'cleo', '--role', 'editor', '--json'], options);
      expect(local.status).toBe(1);
      expect(JSON.parse(local.stderr)).toMatchObject({ code: 'CONFLICT' });
      expect(await rolesOf('cleo')).toEqual(['viewer']);
    });

    it('of a member who is disabled at the moment', async () => {
      await tokenFor(options, 'dina', { role: 'viewer' });
      await must(['user', 'disable', 'dina', '--yes'], options);
      expectRefusal(await create({ user: 'dina', role: 'admin' }), 409, 'CONFLICT');
      expect(await rolesOf('dina')).toEqual(['viewer']);
    });
  });
});

function filesOf(home: string): string[] {
  const files = readdirSync(home).filter((name) => name.startsWith('flowright.db'));
  expect(files.length).toBeGreaterThan(0);
  return files.map((name) => readFileSync(join(home, name), 'latin1'));
}

async function everyRow(store: TestStore): Promise<unknown[]> {
  const { queries } = await store.open();
  return Promise.all([
    queries.selectFrom('tokens').selectAll().execute(),
    queries.selectFrom('audit').selectAll().execute(),
    queries.selectFrom('events').selectAll().execute(),
  ]);
}
