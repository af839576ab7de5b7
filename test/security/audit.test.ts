import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { App } from '../../src/app.ts';
import type { AnyOperation } from '../../src/operations/index.ts';
import { openTestApp } from '../support/app.ts';
import { onEachDatabase, type TestStore } from '../support/databases.ts';

interface Line {
  sequence: number;
  user_id: string;
  action: string;
  outcome: string;
  code: string | null;
  occurrences: number;
  detail: Record<string, unknown>;
}

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

  const as = async (identity: string, name: string, input: unknown = {}, vaultId = 'default') => {
    const operation = (await app.catalogue.all()).find((one) => one.name === name) as AnyOperation;
    const principal = await app.principals.local({ identity, vaultId, narrowTo: null, agent: false });
    const call = { principal, door: 'cli', request_id: 'audit-test', correlation_id: undefined } as const;
    return (await app.invoke(operation, call, input)) as Record<string, unknown>;
  };
  const refused = (code: string, ...call: Parameters<typeof as>) => expect(as(...call)).rejects.toMatchObject({ code });
  const lines = async (vault = 'default') => (await as('local', 'audit.list', { limit: 200 }, vault)).entries as Line[];
  const addMembers = async (...users: string[]) => {
    for (const user of users) await as('local', 'member.set', { user, role: 'viewer' });
  };

  describe('[FLR-audit-chain] the log', () => {
    it('has a line for each write and each refusal, in order, newest first', async () => {
      await addMembers('vera');
      await refused('FORBIDDEN', 'vera', 'token.create', { user: 'eve', role: 'admin' });
      await refused('NOT_FOUND', 'local', 'member.remove', { user: 'nobody' });
      await refused('BAD_REQUEST', 'local', 'member.set', { user: 'vera' });
      await refused('FLOW_SCOPE_DENIED', 'vera', 'flow.list', { scope: 'org' });
      expect(await lines()).toMatchObject([
        { sequence: 5, user_id: 'vera', action: 'flow.list', outcome: 'refused', code: 'FLOW_SCOPE_DENIED' },
        { sequence: 4, user_id: 'local', action: 'member.set', outcome: 'refused', code: 'BAD_REQUEST' },
        { sequence: 3, user_id: 'local', action: 'member.remove', outcome: 'refused', code: 'NOT_FOUND' },
        { sequence: 2, user_id: 'vera', action: 'token.create', outcome: 'refused', code: 'FORBIDDEN' },
        { sequence: 1, action: 'member.set', outcome: 'done', code: null, detail: { user: 'vera', role: 'viewer' } },
      ]);
      expect(await as('local', 'audit.verify')).toMatchObject({ ok: true, entries: 5, broken_at: null });
    });

    it('says nothing of reads', async () => {
      await addMembers('vera');
      const before = await lines();
      for (const name of ['flow.list', 'whoami.show', 'vault.list']) await as('vera', name);
      await as('vera', 'flow.get', { flow_id: 'flow_capture_to_note' });
      await as('vera', 'flow.search', { query: 'note' });
      for (const name of ['token.list', 'user.list', 'member.list', 'audit.verify']) await as('local', name);
      await refused('unknown_flow', 'vera', 'flow.get', { flow_id: 'flow_missing' });
      expect(await lines()).toEqual(before);
    });

    it('never says that a write was done which was not', async () => {
      await refused('CONFLICT', 'local', 'member.remove', { user: 'local' });
      await refused('CONFLICT', 'local', 'user.create', { user: 'local' });
      expect((await lines()).map(({ outcome }) => outcome)).toEqual(['refused', 'refused']);
      expect(((await as('local', 'member.list')).members as unknown[]).length).toBe(1);
    });

    it('keeps one chain under many writers at once', async () => {
      const users = Array.from({ length: 20 }, (_, at) => `user-${at}`);
      await Promise.all(users.map((user) => addMembers(user)));
      expect((await lines()).map(({ sequence }) => sequence)).toEqual(users.map((_, at) => 20 - at));
      expect(await as('local', 'audit.verify')).toMatchObject({ ok: true, entries: 20 });
    });

    it('makes few lines of a hundred like refusals, and counts them all', async () => {
      await addMembers('vera', 'viktor');
      for (let at = 0; at < 100; at += 1) await refused('FORBIDDEN', 'vera', 'user.list');
      await refused('FORBIDDEN', 'viktor', 'user.list');
      await app.services.auditLog.flush();
      const refusals = (await lines()).filter(({ outcome }) => outcome === 'refused');
      const count = (user: string) =>
        refusals.filter(({ user_id }) => user_id === user).reduce((sum, line) => sum + line.occurrences, 0);
      expect(refusals.length).toBeLessThanOrEqual(4);
      expect([count('vera'), count('viktor')]).toEqual([100, 1]);
      expect(await as('local', 'audit.verify')).toMatchObject({ ok: true });
    });

    it('of another vault is not visible to the admin of this one', async () => {
      await as('local', 'vault.create', { vault_id: 'team' });
      await as('local', 'member.set', { user: 'tess', role: 'admin' }, 'team');
      await addMembers('hidden');
      expect((await lines('team')).map(({ action }) => action)).toEqual(['member.set']);
      const seen = JSON.stringify(await as('tess', 'audit.list', {}, 'team'));
      expect(seen).toContain('tess');
      expect(seen).not.toContain('hidden');
      await refused('FORBIDDEN', 'tess', 'audit.list', { chain: 'hub' }, 'team');
      await refused('FORBIDDEN', 'tess', 'audit.verify', { chain: 'hub' }, 'team');
      await refused('NOT_FOUND', 'tess', 'audit.list', {}, 'default');
    });
  });

  describe('[FLR-audit-chain] audit verify finds', () => {
    const audit = () => app.services.database.queries;
    const brokenAt = async () => (await as('local', 'audit.verify')).broken_at;

    beforeEach(async () => {
      await addMembers('one', 'two', 'three', 'four');
      expect(await brokenAt()).toBeNull();
    });

    it.each<[string, Record<string, string | number>]>([
      ['at', { at: '2020-01-01T00:00:00.000Z' }],
      ['user_id', { user_id: 'eve' }],
      ['actor_hash', { actor_hash: 'f'.repeat(64) }],
      ['door', { door: 'http' }],
      ['action', { action: 'member.remove' }],
      ['outcome', { outcome: 'refused' }],
      ['code', { code: 'FORBIDDEN' }],
      ['occurrences', { occurrences: 2 }],
      ['request_id', { request_id: 'other' }],
      ['detail_json', { detail_json: '{"user":"eve","role":"viewer","scopes":null,"ambiguous":false}' }],
      ['detail_json that is no JSON', { detail_json: '{' }],
      ['previous_hash', { previous_hash: '0'.repeat(64) }],
      ['hash', { hash: 'a'.repeat(64) }],
      ['sequence', { sequence: 9 }],
    ])('a changed %s', async (_column, change) => {
      await audit().updateTable('audit').set(change).where('sequence', '=', 2).execute();
      expect([2, 3]).toContain(await brokenAt());
    });

    it('a removed line, the first or one in between', async () => {
      await audit().deleteFrom('audit').where('sequence', '=', 3).execute();
      expect(await brokenAt()).toBe(4);
      await audit().deleteFrom('audit').where('sequence', '=', 1).execute();
      expect(await brokenAt()).toBe(2);
    });

    it('a cut-off end, by its head', async () => {
      const { head } = await as('local', 'audit.verify');
      await audit().deleteFrom('audit').where('sequence', '=', 4).execute();
      expect((await as('local', 'audit.verify')).head).not.toBe(head);
    });

    it.each([5, 0, -1])('a line inserted at %i', async (sequence) => {
      const row = await audit().selectFrom('audit').selectAll().where('sequence', '=', 4).executeTakeFirstOrThrow();
      await audit()
        .insertInto('audit')
        .values({ ...row, sequence, user_id: 'eve' })
        .execute();
      expect(await brokenAt()).toBe(sequence);
    });

    it('lines that changed places', async () => {
      const move = (from: number, to: number) =>
        audit().updateTable('audit').set({ sequence: to }).where('sequence', '=', from).execute();
      await move(2, 99);
      await move(3, 2);
      await move(99, 3);
      expect(await brokenAt()).toBe(2);
    });

    it('a line of another chain', async () => {
      await as('local', 'vault.create', { vault_id: 'team' });
      await as('local', 'member.set', { user: 'tess', role: 'admin' }, 'team');
      await audit()
        .updateTable('audit')
        .set({ vault_id: 'default', sequence: 6 })
        .where('vault_id', '=', 'team')
        .execute();
      expect(await brokenAt()).toBe(6);
    });
  });
});
