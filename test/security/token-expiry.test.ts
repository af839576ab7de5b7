import { afterEach, beforeEach, expect, it } from 'vitest';
import type { App } from '../../src/app.ts';
import { createSigninCode, redeemSigninCode } from '../../src/identity/index.ts';
import type { AnyOperation } from '../../src/operations/index.ts';
import { openTestApp } from '../support/app.ts';
import { onEachDatabase, type TestStore } from '../support/databases.ts';

const DAY_MS = 24 * 60 * 60_000;
const MINUTE_MS = 60_000;

onEachDatabase((_engine, makeStore) => {
  let store: TestStore;
  let app: App;
  let now: number;

  beforeEach(async () => {
    store = await makeStore();
    now = Date.parse('2026-03-01T12:00:00Z');
    app = await openTestApp(store, { clock: { now: () => new Date(now) } });
  });

  afterEach(async () => {
    await app?.close();
    await store?.remove();
  });

  const invoke = async (name: string, input: unknown) => {
    const operation = (await app.catalogue.all()).find((one) => one.name === name) as AnyOperation;
    const principal = await app.principals.local({
      identity: 'local',
      vaultId: 'default',
      narrowTo: null,
      agent: false,
    });
    return (await app.invoke(
      operation,
      { principal, door: 'cli', request_id: 'expiry', correlation_id: undefined },
      input,
    )) as Record<string, string>;
  };

  const useAs = async (purpose: 'bearer' | 'session', secret: string | undefined) =>
    app.principals.fromSecret(secret ?? '', purpose, undefined, false);

  it('[FLR-token-lifecycle] a token is refused from the moment it expires, also when it was just used', async () => {
    const { token, expires_at } = await invoke('token.create', { user: 'sam', role: 'viewer', days: 1 });
    expect(expires_at).toBe(new Date(now + DAY_MS).toISOString());
    now += DAY_MS - 1;
    expect(await useAs('bearer', token)).toMatchObject({ user_id: 'sam', role: 'viewer' });
    now += 1;
    await expect(useAs('bearer', token)).rejects.toMatchObject({ code: 'UNAUTHORIZED' });
  });

  it('[FLR-token-lifecycle] a token lives 90 days unless said otherwise, and never for ever', async () => {
    const { expires_at } = await invoke('token.create', { user: 'sam', role: 'viewer' });
    expect(Date.parse(expires_at ?? '') - now).toBe(90 * DAY_MS);
    for (const days of [0, -1, 3_651, 1.5, null]) {
      await expect(invoke('token.create', { user: 'sam', days })).rejects.toMatchObject({ code: 'BAD_REQUEST' });
    }
  });

  it('[FLR-signin-once] a sign-in code expires after fifteen minutes, a session after thirty days', async () => {
    const { database, clock } = app.services;
    const owner = { user_id: 'local', vault_id: 'default' };
    const late = await createSigninCode(database, clock, owner);
    now += 15 * MINUTE_MS;
    await expect(redeemSigninCode(database, clock, late)).rejects.toMatchObject({ code: 'UNAUTHORIZED' });

    const session = await redeemSigninCode(database, clock, await createSigninCode(database, clock, owner));
    now += 30 * DAY_MS - 1;
    expect(await useAs('session', session)).toMatchObject({ user_id: 'local', kind: 'user' });
    now += 1;
    await expect(useAs('session', session)).rejects.toMatchObject({ code: 'UNAUTHORIZED' });
  });

  it('[FLR-signin-once] of many who redeem one code at once, exactly one gets in', async () => {
    const { database, clock } = app.services;
    const code = await createSigninCode(database, clock, { user_id: 'local', vault_id: 'default' });
    const outcomes = await Promise.allSettled(
      Array.from({ length: 10 }, () => redeemSigninCode(database, clock, code)),
    );
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    for (const outcome of outcomes) {
      if (outcome.status === 'rejected') expect(outcome.reason).toMatchObject({ code: 'UNAUTHORIZED' });
    }
  });
});
