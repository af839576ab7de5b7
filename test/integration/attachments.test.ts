import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { Attachments } from '../../src/attachments/index.ts';
import { operations } from '../../src/attachments/operations.ts';
import type { Database } from '../../src/database/index.ts';
import { ensureOwner } from '../../src/identity/index.ts';
import { systemClock } from '../../src/kernel/clock.ts';
import { sha256Hex } from '../../src/kernel/hash.ts';
import { silentLog } from '../../src/kernel/log.ts';
import { makeVault, useStore } from '../data-integrity/library.ts';
import { onEachDatabase } from '../support/databases.ts';
import { invoked, type Payload } from '../support/invoked.ts';

const LIMIT = 2_000;

onEachDatabase((_engine, makeStore) => {
  const open = async () => {
    const store = await useStore(makeStore);
    const database = await store.open();
    await ensureOwner(database, systemClock);
    const dir = join(store.home, 'attachments');
    const attachments = new Attachments({ database, dir, limitBytes: LIMIT });
    const services = { database, clock: systemClock, log: silentLog, attachments };
    const calls = invoked(operations, services);
    const upload = async (content_text: string, more: Record<string, unknown> = {}): Promise<Payload> =>
      (await calls.ask('attachment.upload', { file_name: 'a.txt', content_text, ...more })).item;
    const placeOf = (text: string) => join(dir, 'default', sha256Hex(text).slice(0, 2), sha256Hex(text));
    const files = () =>
      existsSync(dir)
        ? readdirSync(dir, { recursive: true, withFileTypes: true })
            .filter((entry) => !entry.isDirectory())
            .map(({ name }) => name)
        : [];
    return { ...calls, database, dir, attachments, upload, placeOf, files };
  };

  describe('[FLR-attachment-operations] attachments', () => {
    it('are uploaded, listed, described and given back', async () => {
      const { ask, upload } = await open();
      const bytes = Buffer.from([0, 255, 1, 2, 13, 10]);
      const { item } = await ask('attachment.upload', {
        file_name: 'C:\\pictures\\p.png',
        content_base64: bytes.toString('base64'),
      });
      expect(item).toEqual({
        id: expect.any(Number),
        file_name: 'p.png',
        content_type: 'image/png',
        size_bytes: 6,
        sha256: sha256Hex(bytes),
        created_by: 'local',
        created_at: expect.any(String),
      });
      const text = await upload('hällo');
      expect(text).toMatchObject({ content_type: 'text/plain; charset=utf-8', size_bytes: 6 });
      const list = await ask('attachment.list', {});
      expect(list.items).toEqual([text, item]);
      expect(list).toMatchObject({ ok: true, count: 2, total_count: 2, limit: 50, offset: 0, request_id: 'test' });
      expect((await ask('attachment.list', { limit: 1, offset: 1 })).items).toEqual([item]);
      expect(await ask('attachment.get', { attachment_id: item.id })).toMatchObject({ item, flowchart_node_ids: [] });
      const file = await ask('attachment.file', { attachment_id: item.id });
      expect(file).toMatchObject({ ...item, content_base64: bytes.toString('base64') });
    });

    it('of another vault are as if they were not there', async () => {
      const { ask, codeOf, upload, database } = await open();
      await makeVault(database, 'other');
      const { id } = await upload('ours');
      const there = { vault: 'other' };
      expect((await ask('attachment.list', {}, there)).items).toEqual([]);
      for (const name of ['attachment.get', 'attachment.file', 'attachment.delete']) {
        expect(await codeOf(name, { attachment_id: id }, there)).toBe('NOT_FOUND');
        expect(await codeOf(name, { attachment_id: 999_999 })).toBe('NOT_FOUND');
      }
    });

    it('are written by editors, agents too, and deleted by admins who are people', async () => {
      const { ask, codeOf } = await open();
      const input = { file_name: 'a.txt', content_text: 'x' };
      expect(await codeOf('attachment.upload', input, { role: 'viewer' })).toBe('FORBIDDEN');
      const { item } = await ask('attachment.upload', input, { role: 'editor', kind: 'agent' });
      const named = { attachment_id: item.id };
      expect(await codeOf('attachment.file', named, { role: 'viewer' })).toBe('done');
      expect(await codeOf('attachment.delete', named, { role: 'editor' })).toBe('FORBIDDEN');
      expect(await codeOf('attachment.delete', named, { kind: 'agent' })).toBe('FORBIDDEN');
      expect(await codeOf('attachment.delete', named)).toBe('done');
    });

    it('are refused when they are not sound, and leave nothing behind', async () => {
      const { codeOf, files, database } = await open();
      const bad: Record<string, unknown>[] = [
        {},
        { content_text: 'a', content_base64: 'YQ==' },
        { content_base64: 'not base64!' },
        { content_base64: 'YQ' },
        { content_text: '\ud800' },
        { content_text: 'a', file_name: '..' },
        { content_text: 'a', file_name: 'a\u0007' },
        { content_text: 'a', content_type: 'text/html\r\nx: y' },
      ];
      for (const input of bad) {
        expect(await codeOf('attachment.upload', { file_name: 'a.txt', ...input })).toBe('BAD_REQUEST');
      }
      expect(files()).toEqual([]);
      expect(await rows(database)).toBe(0);
    });

    it('[FLR-attachment-limit] are taken up to the limit', async () => {
      const { codeOf, upload, files } = await open();
      await upload('x'.repeat(LIMIT));
      const input = { file_name: 'a', content_text: 'y'.repeat(LIMIT + 1) };
      expect(await codeOf('attachment.upload', input)).toBe('PAYLOAD_TOO_LARGE');
      expect(files()).toHaveLength(1);
      const { size_bytes } = await upload('');
      expect(size_bytes).toBe(0);
    });

    it('[FLR-attachment-bound] that a node has are not deleted', async () => {
      const { ask, codeOf, upload, database, files } = await open();
      const { id } = await upload('bound');
      const node = await bind(database, id);
      expect((await ask('attachment.get', { attachment_id: id })).flowchart_node_ids).toEqual([node]);
      expect(await codeOf('attachment.delete', { attachment_id: id })).toBe('CONFLICT');
      expect(files()).toHaveLength(1);
      const removed_at = new Date().toISOString();
      await database.queries.updateTable('flowchart_nodes').set({ removed_at }).where('id', '=', node).execute();
      expect((await ask('attachment.get', { attachment_id: id })).flowchart_node_ids).toEqual([]);
      expect(await codeOf('attachment.delete', { attachment_id: id })).toBe('done');
    });
  });

  describe('the store of attachments', () => {
    it('[FLR-attachment-store] holds one file for equal content, until the last row is gone', async () => {
      const { ask, codeOf, upload, placeOf, files } = await open();
      const first = await upload('same');
      const second = await upload('same', { file_name: 'b.txt' });
      expect(files()).toEqual([sha256Hex('same')]);
      expect(existsSync(placeOf('same'))).toBe(true);
      await ask('attachment.delete', { attachment_id: first.id });
      expect(await codeOf('attachment.file', { attachment_id: second.id })).toBe('done');
      await ask('attachment.delete', { attachment_id: second.id });
      expect(files()).toEqual([]);
    });

    it('[FLR-attachment-store] has a file for every row, however uploads and deletions meet', async () => {
      const { ask, codeOf, upload, database } = await open();
      let { id } = await upload('contested');
      for (let round = 0; round < 8; round += 1) {
        const [next] = await Promise.all([
          upload('contested'),
          ask('attachment.delete', { attachment_id: id }),
          upload('contested').then((other) => ask('attachment.delete', { attachment_id: other.id })),
        ]);
        expect(await codeOf('attachment.file', { attachment_id: next.id })).toBe('done');
        id = next.id;
      }
      expect(await rows(database)).toBe(1);
    });

    it('[FLR-attachment-store] writes the file again when somebody removed it before the row was written', async () => {
      const { attachments, database, placeOf } = await open();
      const bytes = Buffer.from('late');
      const named = { vault_id: 'default', file_name: 'a', content_type: 'text/plain' };
      const stored = await attachments.store({ ...named, bytes });
      await attachments.forget('default', stored.sha256);
      expect(existsSync(placeOf('late'))).toBe(false);
      const row = await database.transaction((trx) =>
        attachments.add(trx, systemClock, { ...stored, created_by: 'local' }),
      );
      expect((await attachments.read(row)).toString()).toBe('late');
    });

    it('[FLR-attachment-store] keeps vaults apart, also those with odd names', async () => {
      const { attachments, database, dir } = await open();
      for (const vault_id of ['../outside', 'Default']) {
        await makeVault(database, vault_id);
        const named = { vault_id, file_name: 'a', content_type: 'text/plain' };
        const stored = await attachments.store({ ...named, bytes: Buffer.from('x') });
        const row = await database.transaction((trx) =>
          attachments.add(trx, systemClock, { ...stored, created_by: 'local' }),
        );
        expect((await attachments.read(row)).toString()).toBe('x');
      }
      expect(readdirSync(dirname(dir)).filter((name) => name === 'outside')).toEqual([]);
      expect(readdirSync(dir).every((name) => name.startsWith('~'))).toBe(true);
    });

    it('[FLR-attachment-integrity] gives out nothing but what was stored, and a new upload heals it', async () => {
      const { ask, codeOf, upload, placeOf } = await open();
      const { id } = await upload('true words');
      const named = { attachment_id: id };
      for (const other of ['lies words', 'longer than it was', '']) {
        writeFileSync(placeOf('true words'), other);
        expect(await codeOf('attachment.file', named)).toBe('CONFLICT');
      }
      rmSync(placeOf('true words'));
      expect(await codeOf('attachment.file', named)).toBe('CONFLICT');
      await upload('true words');
      const { content_base64 } = await ask('attachment.file', named);
      expect(Buffer.from(content_base64, 'base64').toString()).toBe('true words');
    });

    it('[FLR-attachment-integrity] reads only what its row says', async () => {
      const { attachments, upload } = await open();
      const one = await upload('one');
      const two = await upload('two');
      await expect(attachments.read({ ...one, sha256: two.sha256 })).rejects.toThrow('no attachment');
      await expect(attachments.read({ ...one, size_bytes: 7 })).rejects.toThrow('no attachment');
      await expect(attachments.read({ ...one, id: 999 })).rejects.toThrow('no attachment');
    });

    it('[FLR-attachment-paths] follows no link and no path out of itself', async () => {
      const { codeOf, upload, database, dir, placeOf } = await open();
      const secret = 'secret of the machine';
      const outside = join(dirname(dir), 'outside');
      mkdirSync(outside);
      writeFileSync(join(outside, sha256Hex(secret)), secret);
      const { id } = await upload(secret);
      const named = { attachment_id: id };

      rmSync(placeOf(secret));
      symlinkSync(join(outside, sha256Hex(secret)), placeOf(secret));
      expect(await codeOf('attachment.file', named)).toBe('CONFLICT');

      rmSync(placeOf(secret));
      const folder = dirname(placeOf(secret));
      renameSync(folder, `${folder}-aside`);
      symlinkSync(outside, folder);
      expect(await codeOf('attachment.file', named)).toBe('CONFLICT');
      expect(await codeOf('attachment.upload', { file_name: 'a', content_text: secret })).toBe('CONFLICT');

      for (const sha256 of [`../../../${'outside'}/${sha256Hex(secret)}`, '..', 'F'.repeat(64)]) {
        await database.queries.updateTable('attachments').set({ sha256 }).where('id', '=', id).execute();
        expect(await codeOf('attachment.file', named)).toBe('CONFLICT');
      }
      expect(readdirSync(outside)).toEqual([sha256Hex(secret)]);
    });
  });
});

async function rows(database: Database): Promise<number> {
  return (await database.queries.selectFrom('attachments').select('id').execute()).length;
}

async function bind(database: Database, attachment_id: number): Promise<number> {
  const stamps = { created_at: '2026-01-31T10:00:00.000Z', updated_at: '2026-01-31T10:00:00.000Z' };
  const { id: flowchart_id } = await database.queries
    .insertInto('flowcharts')
    .values({ vault_id: 'default', name: 'chart', max_parallel_nodes: 8, graph_version: 1, ...stamps })
    .returning('id')
    .executeTakeFirstOrThrow();
  const { id } = await database.queries
    .insertInto('flowchart_nodes')
    .values({ flowchart_id, node_type: 'task', x: 0, y: 0, config_json: '{}', ...stamps })
    .returning('id')
    .executeTakeFirstOrThrow();
  await database.queries
    .insertInto('flowchart_node_attachments')
    .values({ flowchart_node_id: id, attachment_id, position: 0 })
    .execute();
  return id;
}
