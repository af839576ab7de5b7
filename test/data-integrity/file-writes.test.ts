import { execFile } from 'node:child_process';
import { lstatSync, mkdirSync, rmSync, statSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { type Database, takeTurns } from '../../src/database/index.ts';
import { sha256Hex } from '../../src/kernel/hash.ts';
import { silentLog } from '../../src/kernel/log.ts';
import { Files, planWrite, settleWrites } from '../../src/vault/index.ts';
import { onEachDatabase, type TestStore } from '../support/databases.ts';
import { useStore } from './library.ts';
import { filesIn, type TestPlace, testPlace, writeByHand } from './vault-files.ts';

const SETTLER = fileURLToPath(new URL('./settle-files.ts', import.meta.url));
const LOADER = fileURLToPath(new URL('../stress/typescript.mjs', import.meta.url));
const clock = { now: () => new Date('2026-01-31T10:20:30.456Z') };
const ASIDE = 'edited-20260131T102030Z';
const NOTHING = { written: [], kept_aside: [], failed: [] };

onEachDatabase((_engine, makeStore) => {
  const open = async (): Promise<TestPlace & { store: TestStore; database: Database }> => {
    const store = await useStore(makeStore);
    const database = await store.open();
    const root = join(store.home, 'vaults', 'default');
    return { store, database, ...testPlace(database, 'vault:default', root, clock) };
  };

  describe('[FLR-file-writes] a planned write', () => {
    it('exists only if the change does', async () => {
      const { database, place, settle, root } = await open();
      const change = database.transaction(async (trx) => {
        await planWrite(trx, clock, { place, path: 'a.md', text: 'a', before_sha256: null });
        throw new Error('on purpose');
      });
      await expect(change).rejects.toThrow('on purpose');
      expect(await settle()).toEqual(NOTHING);
      expect(lstatSync(root, { throwIfNoEntry: false })).toBeUndefined();
    });

    it('becomes a file that only its owner reads, in folders that only their owner enters', async () => {
      const { plan, settle, root, pending } = await open();
      await plan('projects/x/plan.md', 'text', null);
      expect(await settle()).toEqual({ ...NOTHING, written: ['projects/x/plan.md'] });
      expect(filesIn(root)).toEqual({ 'projects/x/plan.md': 'text' });
      expect(statSync(join(root, 'projects/x/plan.md')).mode & 0o777).toBe(0o600);
      for (const folder of ['', 'projects', 'projects/x']) {
        expect(statSync(join(root, folder)).mode & 0o777).toBe(0o700);
      }
      expect(await pending()).toEqual([]);
      expect(await settle()).toEqual(NOTHING);
    });

    it('replaces what was there when it was decided', async () => {
      const { plan, settle, root } = await open();
      writeByHand(root, 'a.md', 'old');
      await plan('a.md', 'new', 'old');
      expect(await settle()).toEqual({ ...NOTHING, written: ['a.md'] });
      expect(filesIn(root)).toEqual({ 'a.md': 'new' });
    });

    it('that the file already fulfils leaves the file alone', async () => {
      const { plan, settle, root, pending } = await open();
      writeByHand(root, 'a.md', 'new');
      const before = statSync(join(root, 'a.md'));
      await plan('a.md', 'new', 'old');
      expect((await settle()).kept_aside).toEqual([]);
      expect(statSync(join(root, 'a.md'))).toMatchObject({ ino: before.ino, mtimeMs: before.mtimeMs });
      expect(await pending()).toEqual([]);
    });

    it('removes a file, and minds none that is missing', async () => {
      const { plan, settle, root } = await open();
      writeByHand(root, 'a.md', 'old');
      await plan('a.md', null, 'old');
      await plan('missing.md', null, 'old');
      await plan('no/such/folder.md', null, 'old');
      expect((await settle()).failed).toEqual([]);
      expect(filesIn(root)).toEqual({});
    });

    it('of several for one file only the last is written, whatever came between', async () => {
      const { plan, settle, root, pending } = await open();
      writeByHand(root, 'a.md', 'zero');
      await plan('a.md', 'one', 'zero');
      await plan('b.md', 'b', null);
      await plan('a.md', null, 'one');
      await plan('a.md', 'three', null);
      expect(await settle()).toEqual({ ...NOTHING, written: ['a.md', 'b.md'] });
      expect(filesIn(root)).toEqual({ 'a.md': 'three', 'b.md': 'b' });
      expect(await pending()).toEqual([]);
    });

    it('is written however many there are', async () => {
      const { database, place, settle, root } = await open();
      const paths = Array.from({ length: 130 }, (_, at) => `f${at % 7}/n${at}.md`);
      await database.transaction(async (trx) => {
        for (const path of paths) await planWrite(trx, clock, { place, path, text: path, before_sha256: null });
      });
      expect((await settle()).written).toEqual(paths);
      expect(filesIn(root)).toEqual(Object.fromEntries([...paths].sort().map((path) => [path, path])));
    });
  });

  describe('[FLR-file-writes] a file that somebody edited meanwhile', () => {
    it('is kept beside the written one under another name, and that is said', async () => {
      const { plan, settle, root, warnings } = await open();
      writeByHand(root, 'x/plan.md', 'by hand');
      await plan('x/plan.md', 'new', 'old');
      const kept_aside = [{ path: 'x/plan.md', moved_to: `x/plan.${ASIDE}.md` }];
      expect(await settle()).toEqual({ written: ['x/plan.md'], kept_aside, failed: [] });
      expect(filesIn(root)).toEqual({ [`x/plan.${ASIDE}.md`]: 'by hand', 'x/plan.md': 'new' });
      expect(warnings).toEqual([
        {
          fields: { place: 'vault:default', ...kept_aside[0] },
          message: expect.stringContaining(`x/plan.${ASIDE}.md`),
        },
      ]);
    });

    it('that came to be where there was none is kept as well, and so is one that was to be removed', async () => {
      const { plan, settle, root } = await open();
      writeByHand(root, 'new.md', 'by hand');
      writeByHand(root, 'gone.md', 'by hand');
      await plan('new.md', 'new', null);
      await plan('gone.md', null, 'old');
      await settle();
      expect(filesIn(root)).toEqual({
        [`gone.${ASIDE}.md`]: 'by hand',
        [`new.${ASIDE}.md`]: 'by hand',
        'new.md': 'new',
      });
    });

    it('never takes the name of another', async () => {
      const { plan, settle, root } = await open();
      for (const [path, text] of Object.entries({ [`a.${ASIDE}.md`]: 'first', [`a.${ASIDE}-2.md`]: 'second' })) {
        writeByHand(root, path, text);
      }
      writeByHand(root, 'a.md', 'third');
      await plan('a.md', 'new', 'old');
      expect((await settle()).kept_aside).toEqual([{ path: 'a.md', moved_to: `a.${ASIDE}-3.md` }]);
      expect(Object.values(filesIn(root)).sort()).toEqual(['first', 'new', 'second', 'third']);
    });

    it('has a name that the file system takes, however long its own is', async () => {
      const { plan, settle, root } = await open();
      const path = `${'é'.repeat(126)}.md`;
      writeByHand(root, path, 'by hand');
      await plan(path, 'new', 'old');
      const [kept] = (await settle()).kept_aside;
      expect(Buffer.byteLength(kept?.moved_to ?? '')).toBeLessThanOrEqual(255);
      expect(filesIn(root)).toEqual({ [path]: 'new', [kept?.moved_to ?? '']: 'by hand' });
    });
  });

  describe('[FLR-file-writes] a write that the disk refuses', () => {
    it('stays planned, is told of, and does not keep the others', async () => {
      const { plan, settle, root, pending, warnings } = await open();
      writeByHand(root, 'file', 'not a folder');
      mkdirSync(join(root, 'folder.md'));
      symlinkSync('/etc/hostname', join(root, 'link.md'));
      mkdirSync(join(root, 'elsewhere'));
      symlinkSync(join(root, 'elsewhere'), join(root, 'linked'));
      const refused = ['file/a.md', 'folder.md', 'link.md', 'linked/a.md', '../out.md', 'a//b.md'];
      await plan('first.md', 'a', null);
      for (const path of refused) await plan(path, 'a', null);
      await plan('last.md', 'a', null);
      const { written, failed } = await settle();
      expect(written).toEqual(['first.md', 'last.md']);
      expect(failed.map(({ path }) => path)).toEqual(refused);
      for (const { reason } of failed) expect(reason).toMatch(/folder|file|link|leads out/);
      expect(JSON.stringify(failed), 'no path of the machine').not.toContain(root);
      expect(warnings).toHaveLength(refused.length);
      expect(await pending()).toEqual(refused);
      expect(filesIn(join(root, 'elsewhere'))).toEqual({});
    });

    it('is done once the way is clear, with what was planned last', async () => {
      const { plan, settle, root, pending } = await open();
      writeByHand(root, 'projects', 'not a folder');
      await plan('projects/a.md', 'one', null);
      expect((await settle()).failed).toHaveLength(1);
      await plan('projects/a.md', 'two', 'one');
      expect((await settle()).failed).toHaveLength(1);
      rmSync(join(root, 'projects'));
      expect(await settle()).toEqual({ ...NOTHING, written: ['projects/a.md'] });
      expect(filesIn(root)).toEqual({ 'projects/a.md': 'two' });
      expect(await pending()).toEqual([]);
    });

    it('keeps an edited file aside once, however often it is tried', async () => {
      const { database, place, root } = await open();
      const time = { now: clock.now().getTime() };
      const later = {
        now: () => {
          time.now += 60_000;
          return new Date(time.now);
        },
      };
      const { plan, settle } = testPlace(database, place, root, later);
      const aside = 'a.edited-20260131T102130Z.md';
      writeByHand(root, 'a.md', 'by hand');
      await plan('a.md', 'one', 'old');
      // A folder in the place of the draft refuses everybody, also the superuser.
      const draft = `.flowright-${sha256Hex('a.md').slice(0, 24)}.tmp`;
      mkdirSync(join(root, draft, 'x'), { recursive: true });
      for (let attempt = 0; attempt < 3; attempt += 1) expect((await settle()).failed).toHaveLength(1);
      await plan('a.md', 'two', 'one');
      expect((await settle()).failed).toHaveLength(1);
      expect(filesIn(root)).toEqual({ 'a.md': 'by hand', [aside]: 'by hand' });
      rmSync(join(root, draft), { recursive: true });
      expect((await settle()).kept_aside).toEqual([{ path: 'a.md', moved_to: aside }]);
      expect(filesIn(root)).toEqual({ 'a.md': 'two', [aside]: 'by hand' });
    });
  });

  it('[FLR-file-writes] settling takes no lock while nothing is planned', async () => {
    const { database, store, settle, place } = await open();
    const other = await store.open();
    const held = deferred();
    const holding = other.transaction(async (trx) => {
      await takeTurns(trx, other.dialect, place);
      await held.promise;
    });
    expect(await settle()).toEqual(NOTHING);
    expect(await settleWrites({ database, clock, log: silentLog, rootOf: () => store.home })).toEqual(NOTHING);
    held.resolve();
    await holding;
  });

  it('[FLR-file-writes] every place is settled in its own folder', async () => {
    const { database, store } = await open();
    const files = new Files({
      database,
      clock,
      log: silentLog,
      home: store.home,
      vaultsDir: join(store.home, 'notes'),
    });
    await database.transaction(async (trx) => {
      await files.plan(trx, { place: 'home', path: 'policy.json', text: '{}' });
      await files.plan(trx, { place: 'vault:one', path: 'a.md', text: '1' });
      await files.plan(trx, { place: 'vault:Two-2', path: 'a.md', text: '2' });
      await files.plan(trx, { place: 'vault:../three', path: 'a.md', text: '3', before_sha256: null });
    });
    const { written, failed } = await files.settle();
    expect([written.sort(), failed.length]).toEqual([['a.md', 'a.md', 'policy.json'], 1]);
    expect(filesIn(join(store.home, 'notes'))).toEqual({ 'Two-2/a.md': '2', 'one/a.md': '1' });
    expect(filesIn(store.home)['policy.json']).toBe('{}');
  });

  it('[FLR-file-writes] a file is as committed changes want it, before and after it is written', async () => {
    const { database, store, root } = await open();
    const files = new Files({
      database,
      clock,
      log: silentLog,
      home: store.home,
      vaultsDir: join(store.home, 'vaults'),
    });
    const text = () => files.text(database.queries, 'vault:default', 'a.md');
    const plan = (wanted: string | null) =>
      database.transaction((trx) => files.plan(trx, { place: 'vault:default', path: 'a.md', text: wanted }));
    expect(await text()).toBeNull();
    writeByHand(root, 'a.md', 'by hand');
    expect(await text()).toBe('by hand');
    await plan('one');
    await plan('two');
    expect([await text(), filesIn(root)['a.md']]).toEqual(['two', 'by hand']);
    expect((await files.settle('vault:default')).kept_aside).toEqual([]);
    expect([await text(), filesIn(root)]).toEqual(['two', { 'a.md': 'two' }]);
    await plan(null);
    expect([await text(), filesIn(root)['a.md']]).toEqual([null, 'two']);
    await files.settle();
    expect([await text(), filesIn(root)]).toEqual([null, {}]);
  });

  it('[FLR-file-writes] many processes may settle at once', async () => {
    const { database, store, place, root, pending } = await open();
    const expected: Record<string, string> = {};
    await database.transaction(async (trx) => {
      for (let at = 0; at < 120; at += 1) {
        const path = `n${String(at).padStart(3, '0')}.md`;
        expected[path] = `text ${at}`;
        if (at % 3 === 0) {
          writeByHand(root, path, 'by hand');
          expected[path.replace('.md', `.${ASIDE}.md`)] = 'by hand';
        }
        await planWrite(trx, clock, { place, path, text: 'first', before_sha256: null });
        await planWrite(trx, clock, { place, path, text: `text ${at}`, before_sha256: sha256Hex('first') });
      }
    });
    const args = [store.databaseUrl ?? '', join(store.home, 'flowright.db'), place, root];
    const run = promisify(execFile);
    await Promise.all([1, 2, 3, 4].map(() => run(process.execPath, ['--import', LOADER, SETTLER, ...args])));
    expect(filesIn(root)).toEqual(expected);
    expect(await pending()).toEqual([]);
  }, 120_000);
});

function deferred(): { promise: Promise<void>; resolve(): void } {
  let resolve = (): void => {};
  const promise = new Promise<void>((done) => {
    resolve = done;
  });
  return { promise, resolve: () => resolve() };
}
