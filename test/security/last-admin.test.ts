import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { App } from '../../src/app.ts';
import type { AnyOperation } from '../../src/operations/index.ts';
import { openTestApp } from '../support/app.ts';
import { onEachDatabase, type TestStore } from '../support/databases.ts';

const ROUNDS = 15;

onEachDatabase((_engine, makeStore) => {
  let store: TestStore;
  let app: App;

  beforeEach(async () => {
    store = await makeStore();
    app = await openTestApp(store);
  });

  afterEach(async () => {
    await app?.close();
    await store?.remove();
  });

  const as = async (identity: string, name: string, input: unknown, vaultId = 'default') => {
    const operation = (await app.catalogue.all()).find((one) => one.name === name) as AnyOperation;
    const principal = await app.principals.local({ identity, vaultId, narrowTo: null, agent: false });
    return app.invoke(operation, { principal, door: 'cli', request_id: 'admins', correlation_id: undefined }, input);
  };

  const activeAdmins = async (vaultId = 'default') => {
    const rows = await app.services.database.queries
      .selectFrom('memberships')
      .innerJoin('users', 'users.user_id', 'memberships.user_id')
      .select('memberships.user_id')
      .where('vault_id', '=', vaultId)
      .where('role', '=', 'admin')
      .where('disabled_at', 'is', null)
      .execute();
    return rows.map(({ user_id }) => user_id);
  };

  describe('[FLR-token-lifecycle] the last admin of a vault', () => {
    it.each([
      ['removed', 'member.remove', { user: 'local' }],
      ['demoted', 'member.set', { user: 'local', role: 'editor' }],
      ['disabled', 'user.disable', { user: 'local' }],
    ])('cannot be %s', async (_how, name, input) => {
      await expect(as('local', name, input)).rejects.toMatchObject({ code: 'CONFLICT' });
      expect(await activeAdmins()).toEqual(['local']);
    });

    it('cannot be disabled through another vault', async () => {
      await as('local', 'vault.create', { vault_id: 'team' });
      await as('local', 'member.set', { user: 'ann', role: 'admin' }, 'team');
      await as('local', 'member.remove', { user: 'local' }, 'team');
      await expect(as('local', 'user.disable', { user: 'ann' })).rejects.toMatchObject({ code: 'CONFLICT' });
      expect(await activeAdmins('team')).toEqual(['ann']);
    });

    it('does not count when disabled', async () => {
      await as('local', 'member.set', { user: 'ann', role: 'admin' });
      await as('local', 'user.disable', { user: 'ann' });
      await expect(as('local', 'member.remove', { user: 'local' })).rejects.toMatchObject({
        code: 'CONFLICT',
      });
    });

    it('may go once there is another', async () => {
      await as('local', 'member.set', { user: 'ann', role: 'admin' });
      await as('ann', 'member.remove', { user: 'local' });
      expect(await activeAdmins()).toEqual(['ann']);
    });

    it.each([
      ['demotes', 'member.set', (user: string) => ({ user, role: 'viewer' })],
      ['removes', 'member.remove', (user: string) => ({ user })],
    ])('stays, also when each of two admins %s the other at the same moment', async (_how, name, inputFor) => {
      for (let round = 0; round < ROUNDS; round += 1) {
        const vault = await vaultOfTwo(round);
        await Promise.allSettled([
          as(`ann${round}`, name, inputFor(`bob${round}`), vault),
          as(`bob${round}`, name, inputFor(`ann${round}`), vault),
        ]);
        expect(await activeAdmins(vault), vault).not.toEqual([]);
      }
    });

    it('stays, also when both admins of a vault are disabled at the same moment', async () => {
      for (let round = 0; round < ROUNDS; round += 1) {
        const vault = await vaultOfTwo(round);
        await Promise.allSettled([
          as('local', 'user.disable', { user: `ann${round}` }),
          as('local', 'user.disable', { user: `bob${round}` }),
        ]);
        expect(await activeAdmins(vault), vault).not.toEqual([]);
      }
    });
  });

  /** A vault whose admins are ann and bob of that number, and nobody else. */
  const vaultOfTwo = async (round: number) => {
    const vault = `race${round}`;
    await as('local', 'vault.create', { vault_id: vault });
    for (const user of [`ann${round}`, `bob${round}`]) await as('local', 'member.set', { user, role: 'admin' }, vault);
    await as('local', 'member.remove', { user: 'local' }, vault);
    return vault;
  };
});
