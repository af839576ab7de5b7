import { describe, expect, it } from 'vitest';
import { type Database, forgetWords, indexWords, searchWords, type WordKind } from '../../src/database/index.ts';
import { makeVault, useLibrary } from '../data-integrity/library.ts';
import { onEachDatabase } from '../support/databases.ts';

onEachDatabase((_engine, makeStore) => {
  const write = (database: Database, entries: [WordKind, number, string | null, string | null, string?][]) =>
    database.transaction(async (trx) => {
      for (const [kind, id, title, body, vault_id = 'default'] of entries) {
        await indexWords(trx, database.dialect, { kind, id, vault_id, title, body });
      }
    });
  const find = async (database: Database, query: string, more: Partial<Parameters<typeof searchWords>[2]> = {}) =>
    searchWords(database.queries, database.dialect, {
      kind: 'memory',
      vault_id: 'default',
      query,
      limit: 50,
      offset: 0,
      ...more,
    });

  describe('[FLR-entity-words] the words of memories, plans and milestones', () => {
    it('are found in title and body, a title before a body', async () => {
      const database = await useLibrary(makeStore);
      await write(database, [
        ['memory', 1, null, 'We release on Tuesdays'],
        ['memory', 2, 'Release', 'what we do'],
        ['memory', 3, 'Other', null],
      ]);
      expect(await find(database, 'release')).toEqual({ ids: [2, 1], total: 2 });
      expect(await find(database, 'RELEASE tuesdays')).toEqual({ ids: [1], total: 1 });
    });

    it('match whole, but for the last one, which may be a beginning', async () => {
      const database = await useLibrary(makeStore);
      await write(database, [['memory', 1, null, 'Déploiement continu, straße']]);
      expect((await find(database, 'deploiement cont')).ids).toEqual([1]);
      expect((await find(database, 'deploi continu')).ids).toEqual([]);
      expect((await find(database, 'Straße')).ids).toEqual([1]);
      expect((await find(database, 'nowhere continu')).ids).toEqual([]);
      expect((await find(database, 'nowhere continu', { match: 'any' })).ids).toEqual([1]);
    });

    it('are those of one kind and one vault', async () => {
      const database = await useLibrary(makeStore);
      await makeVault(database, 'Odd "vault" & co');
      await write(database, [
        ['memory', 1, null, 'same word'],
        ['plan', 1, 'same word', null],
        ['milestone', 1, null, 'same word'],
        ['memory', 2, null, 'same word', 'Odd "vault" & co'],
      ]);
      for (const kind of ['memory', 'plan', 'milestone'] as const) {
        expect(await find(database, 'same', { kind })).toEqual({ ids: [1], total: 1 });
      }
      expect((await find(database, 'word', { vault_id: 'Odd "vault" & co' })).ids).toEqual([2]);
      expect((await find(database, '0v64656661756c74')).ids).toEqual([]);
    });

    it('are replaced and forgotten with what they belong to', async () => {
      const database = await useLibrary(makeStore);
      await write(database, [
        ['memory', 1, null, 'old'],
        ['plan', 1, null, 'old'],
      ]);
      await write(database, [['memory', 1, null, 'new']]);
      expect((await find(database, 'old')).ids).toEqual([]);
      expect((await find(database, 'new')).ids).toEqual([1]);
      await database.transaction((trx) => forgetWords(trx, database.dialect, 'memory', 1));
      expect((await find(database, 'new')).ids).toEqual([]);
      expect((await find(database, 'old', { kind: 'plan' })).ids).toEqual([1]);
    });

    it('come in pages, with how many there are in all', async () => {
      const database = await useLibrary(makeStore);
      const ids = [1, 2, 3, 4, 5];
      await write(
        database,
        ids.map((id) => ['memory', id, null, 'page']),
      );
      expect(await find(database, 'page', { limit: 2 })).toEqual({ ids: [5, 4], total: 5 });
      expect(await find(database, 'page', { limit: 2, offset: 4 })).toEqual({ ids: [1], total: 5 });
      expect(await find(database, 'page', { limit: 2, offset: 9 })).toEqual({ ids: [], total: 5 });
    });

    it('are looked for whatever signs are in the query', async () => {
      const database = await useLibrary(makeStore);
      await write(database, [['memory', 1, null, `it's "quoted" ${'x'.repeat(5_000)} AND more`]]);
      const signs = ['"', "'", '* ^ : ( ) & | ! <->', 'NEAR(', '%_\\', '\u0000', '\ue000', '   ', '😀', '-', '\ud800'];
      for (const query of signs) expect(await find(database, query)).toEqual({ ids: [], total: 0 });
      expect((await find(database, '"quoted" & (AND')).ids).toEqual([1]);
      expect((await find(database, 'x'.repeat(5_000))).ids).toEqual([1]);
      expect((await find(database, 'word '.repeat(10_000))).ids).toEqual([]);
    });
  });
});
