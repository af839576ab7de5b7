import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { AuditLog } from '../../src/audit/index.ts';
import { ensureOwner } from '../../src/identity/index.ts';
import { sha256Hex } from '../../src/kernel/hash.ts';
import type { Log } from '../../src/kernel/log.ts';
import { type AnyOperation, createInvoke, type Principal } from '../../src/operations/index.ts';
import { examineNotes, Files, Notes, type NoteVisibility } from '../../src/vault/index.ts';
import { MAX_FOLDERS_PER_PAGE } from '../../src/vault/limits.ts';
import { operations } from '../../src/vault/operations.ts';
import { useStore } from '../data-integrity/library.ts';
import { filesIn, writeByHand } from '../data-integrity/vault-files.ts';
import { onEachDatabase } from '../support/databases.ts';

interface Page {
  notes: { path: string }[];
  next_cursor: string | null;
}

const OWNER: Principal = {
  user_id: 'local',
  kind: 'local',
  vault_id: 'default',
  role: 'admin',
  visible_scopes: new Set(['personal']),
  ambiguous: false,
  actor_hash: 'f'.repeat(64),
};
/** Where the file is written first; a folder of that name refuses every write. */
const draftOf = (path: string) => `.flowright-${sha256Hex(path).slice(0, 24)}.tmp`;

onEachDatabase((_engine, makeStore) => {
  const open = async (options: { visibility?: NoteVisibility; beforeCommit?(root: string): void } = {}) => {
    const store = await useStore(makeStore);
    const database = await store.open();
    const warnings: string[] = [];
    const log: Log = { info: () => {}, error: () => {}, warn: (_fields, message) => void warnings.push(message) };
    const time = { now: Date.parse('2026-01-31T10:20:30Z') };
    const clock = { now: () => new Date(time.now) };
    await ensureOwner(database, clock);
    const vaultsDir = join(store.home, 'vaults');
    const root = join(vaultsDir, 'default');
    mkdirSync(root, { recursive: true });
    const files = new Files({ database, clock, log, home: store.home, vaultsDir });
    const notes = new Notes({ database, files });
    const auditLog = new AuditLog(database, clock);
    const noteVisibility = options.visibility ?? { mayRead: async () => false };
    const services = { database, clock, log, files, notes, noteVisibility };
    const invoke = createInvoke(services, database, {
      done: async (...act) => {
        await auditLog.done(...act);
        options.beforeCommit?.(root);
      },
      refused: (...act) => auditLog.refused(...act),
      failed: (...act) => auditLog.failed(...act),
    });
    const ask = async <T = Record<string, unknown>>(name: string, input: unknown): Promise<T> => {
      const operation = operations.find((candidate) => candidate.name === name) as AnyOperation;
      const call = { principal: OWNER, door: 'http', request_id: 'test', correlation_id: undefined } as const;
      const payload = await invoke(operation, call, input);
      expect(operation.output.parse(payload)).toEqual(payload);
      return payload as T;
    };
    return { store, database, warnings, time, root, vaultsDir, files, notes, ask };
  };

  describe('[FLR-notes] a list where some notes are not for the reader', () => {
    const hides = (path: string) => /secret/.test(path);
    const visibility: NoteVisibility = { mayRead: async (_principal, path) => !hides(path) };
    const shown = ['approvals/1.md', 'approvals/3.md', 'meta/flows/b.md', 'meta/flows/d.md', 'x.md'];
    const hidden = [
      'approvals/2secret.md',
      'meta/flows/a-secret.md',
      'meta/flows/c-secret.md',
      'meta/flows/z-secret.md',
    ];

    it.each([1, 2, 3, 4, 5])('is in pages of %i what it is without them, and no cursor names one', async (limit) => {
      const { ask, root } = await open({ visibility });
      for (const path of [...shown, ...hidden]) writeByHand(root, path, path);
      for (const [prefix, expected] of [
        ['', ['approvals/1.md', 'approvals/3.md', 'x.md']],
        ['meta', ['meta/flows/b.md', 'meta/flows/d.md']],
        ['approvals', ['approvals/1.md', 'approvals/3.md']],
      ] as const) {
        const paths: string[] = [];
        let cursor: string | null = '';
        while (cursor !== null) {
          const page: Page = await ask<Page>('note.list', { prefix, cursor, limit });
          paths.push(...page.notes.map(({ path }) => path));
          cursor = page.next_cursor;
          expect(hides(cursor ?? '')).toBe(false);
          expect(page.notes.length === limit || cursor === null).toBe(true);
        }
        expect(paths).toEqual(expected);
      }
    });

    it('asks only about notes of the server', async () => {
      const asked: string[] = [];
      const curious: NoteVisibility = { mayRead: async (_principal, path) => asked.push(path) > 0 };
      const { ask, root } = await open({ visibility: curious });
      for (const path of shown) writeByHand(root, path, path);
      await ask('note.list', {});
      await ask('note.get', { path: 'x.md' });
      expect(asked).toEqual(['approvals/1.md', 'approvals/3.md']);
    });
  });

  it('[FLR-notes] a page ends after many folders without notes, and the next goes on from there', async () => {
    const { ask, root } = await open();
    for (let at = 0; at <= MAX_FOLDERS_PER_PAGE + 5; at += 1) mkdirSync(join(root, `f${String(at).padStart(5, '0')}`));
    writeByHand(root, 'f00001/early.md', 'x');
    writeByHand(root, 'zzz.md', 'x');
    const first = await ask<Page>('note.list', {});
    expect(first.notes.map(({ path }) => path)).toEqual(['f00001/early.md']);
    expect(first.next_cursor).toMatch(/^f0200\d\/$/);
    const second = await ask<Page>('note.list', { cursor: first.next_cursor });
    expect(second).toMatchObject({ notes: [{ path: 'zzz.md' }], next_cursor: null });
  });

  describe('[FLR-file-writes] a note that the disk refuses', () => {
    it('is answered as committed, tried again now and then, and written once the disk allows', async () => {
      const { ask, root, warnings, time, database, vaultsDir } = await open();
      mkdirSync(join(root, draftOf('a.md'), 'x'), { recursive: true });
      const put = await ask('note.put', { path: 'a.md', body: 'text' });
      expect(put).toMatchObject({ written: false, kept_aside: null });
      expect(filesIn(root)).toEqual({});
      expect(warnings).toHaveLength(1);
      for (let at = 0; at < 5; at += 1) {
        expect(await ask('note.get', { path: 'a.md' })).toMatchObject({ body: 'text', state_id: put.state_id });
      }
      expect(warnings, 'reads do not try at once again').toHaveLength(1);
      time.now += 6_000;
      await ask('note.list', {});
      expect(warnings).toHaveLength(2);
      expect(await examineNotes(vaultsDir, database.queries)).toContainEqual({
        state: 'warning',
        what: '1 files are waiting to be written, the oldest since 2026-01-31T10:20:30.000Z',
        fix: expect.any(String),
      });
      const again = await ask('note.put', { path: 'a.md', body: 'newer', base_state_id: put.state_id });
      expect(again).toMatchObject({ written: false });
      rmSync(join(root, draftOf('a.md')), { recursive: true });
      time.now += 6_000;
      expect(await ask('note.get', { path: 'a.md' })).toMatchObject({ body: 'newer', state_id: again.state_id });
      expect(filesIn(root)['a.md']).toContain('newer');
      expect((await ask<Page>('note.list', {})).notes).toMatchObject([{ path: 'a.md' }]);
    });

    it('does not keep others from being written', async () => {
      const { ask, root } = await open();
      mkdirSync(join(root, draftOf('a.md'), 'x'), { recursive: true });
      expect(await ask('note.put', { path: 'a.md', body: 'a' })).toMatchObject({ written: false });
      expect(await ask('note.put', { path: 'b.md', body: 'b' })).toMatchObject({ written: true });
      expect(Object.keys(filesIn(root))).toEqual(['b.md']);
    });
  });

  it('[FLR-file-writes] an edit by hand at the moment of a put is kept beside it, and the answer says where', async () => {
    const edits: string[] = [];
    const beforeCommit = (root: string): void => {
      const edit = edits.pop();
      if (edit) writeFileSync(join(root, 'a.md'), edit);
    };
    const { ask, root } = await open({ beforeCommit });
    const first = await ask('note.put', { path: 'a.md', body: 'one' });
    edits.push('by hand, unseen');
    const second = await ask('note.put', { path: 'a.md', body: 'two', base_state_id: first.state_id });
    expect(second).toMatchObject({ written: true, kept_aside: 'a.edited-20260131T102030Z.md' });
    expect(filesIn(root)['a.edited-20260131T102030Z.md']).toBe('by hand, unseen');
    expect(await ask('note.get', { path: 'a.md' })).toMatchObject({ body: 'two', state_id: second.state_id });
    expect(await ask('note.get', { path: 'a.edited-20260131T102030Z.md' })).toMatchObject({ body: 'by hand, unseen' });
  });

  it('[FLR-notes] a change that is rolled back leaves no file', async () => {
    const { ask, root } = await open({
      beforeCommit: () => {
        throw new Error('on purpose');
      },
    });
    await expect(ask('note.put', { path: 'a.md', body: 'one' })).rejects.toMatchObject({ code: 'INTERNAL_ERROR' });
    await expect(ask('note.get', { path: 'a.md' })).rejects.toMatchObject({ code: 'NOT_FOUND' });
    expect(filesIn(root)).toEqual({});
  });

  it('[FLR-notes] planPut tells the state id that reading gives', async () => {
    const { database, notes, files, root } = await open();
    const content = { frontmatter: { n: 1, s: '1', d: '2026-01-01', list: [true, 'true', null] }, body: 'text\n\n' };
    const id = await database.transaction((trx) => notes.planPut(trx, 'default', 'x/a.md', content));
    expect(await notes.state(database.queries, 'default', 'x/a.md')).toMatchObject({ state_id: id, body: 'text' });
    expect(filesIn(root)).toEqual({});
    await files.settle();
    expect(await notes.read('default', 'x/a.md')).toMatchObject({ state_id: id, frontmatter: content.frontmatter });
    await expect(
      database.transaction((trx) => notes.planPut(trx, 'default', '../a.md', content)),
    ).rejects.toMatchObject({ code: 'BAD_REQUEST' });
    await expect(notes.state(database.queries, 'default', '../../a.md')).rejects.toMatchObject({ code: 'BAD_REQUEST' });
  });

  it('[FLR-init-doctor] the doctor finds a folder of notes that is none', async () => {
    const { store, database, vaultsDir } = await open();
    const states = async (folder: string) =>
      (await examineNotes(folder, database.queries)).map(({ state, fix }) => [state, fix !== undefined]);
    const fine = ['good', false];
    expect(await states(vaultsDir)).toEqual([fine, fine]);
    expect(await states(join(store.home, 'not', 'made', 'yet'))).toEqual([fine, fine]);
    writeFileSync(join(store.home, 'file'), '');
    for (const folder of ['file', 'file/below']) {
      expect(await states(join(store.home, folder))).toEqual([['wrong', true], fine]);
    }
  });
});
