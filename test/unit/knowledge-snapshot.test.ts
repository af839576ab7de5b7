import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { sha256Hex } from '../../src/kernel/hash.ts';
import { checkedAt, readSnapshot, type SnapshotMeta, snapshotPaths } from '../../src/knowledge/snapshot-file.ts';
import { underLock } from '../../src/knowledge/snapshot-lock.ts';
import { type SnapshotContent, updateSnapshot, writeSteps } from '../../src/knowledge/snapshot-update.ts';
import { tempFolder } from '../support/home.ts';

const HOST = 'http://127.0.0.1:3000';
const KIND = 'flowise_templates';

function content(names: string[], changes: Partial<SnapshotContent> = {}): SnapshotContent {
  return {
    items: names.map((name) => ({ name })),
    generated_at: '2026-03-01T12:00:00.000Z',
    source: 'flowise_api',
    source_host: HOST,
    flowise_version: '3.1.4',
    ...changes,
  };
}

async function written(names: string[], changes: Partial<SnapshotContent> = {}) {
  const folder = join(tempFolder(), 'schemas', 'main');
  await updateSnapshot(folder, KIND, () => content(names, changes));
  return { folder, paths: snapshotPaths(folder, KIND) };
}

function namesIn(folder: string): unknown {
  const reading = readSnapshot(folder, KIND, HOST);
  return reading.state === 'ok' ? reading.items.map((item) => (item as { name: string }).name) : reading.state;
}

describe('a snapshot and its meta file', () => {
  it('are written with the keys of the contract and the fingerprint of the exact bytes [S000-D4-meta]', async () => {
    const { paths } = await written(['a', 'ü']);
    const text = readFileSync(paths.snapshot, 'utf8');
    expect(text).toBe(`${JSON.stringify([{ name: 'a' }, { name: 'ü' }], null, 2)}\n`);
    expect(JSON.parse(readFileSync(paths.meta, 'utf8'))).toEqual({
      snapshot_file: 'schemas/main/flowise_templates.snapshot.json',
      generated_at: '2026-03-01T12:00:00.000Z',
      source_host: HOST,
      flowise_version: '3.1.4',
      item_count: 2,
      sha256: sha256Hex(text),
      status: 'ok',
      source: 'flowise_api',
    });
    expect(readdirSync(join(paths.snapshot, '..')).sort()).toEqual([
      'flowise_templates.meta.json',
      'flowise_templates.snapshot.json',
    ]);
  });

  it('keep every byte when nothing changed, and note that they were checked [FLR-knowledge-unchanged-bytes]', async () => {
    const { folder, paths } = await written(['a', 'b']);
    const before = [readFileSync(paths.snapshot), readFileSync(paths.meta)];
    const later = content(['a', 'b'], { generated_at: '2026-03-02T12:00:00.000Z' });
    expect((await updateSnapshot(folder, KIND, () => later)).state).toBe('unchanged');
    expect([readFileSync(paths.snapshot), readFileSync(paths.meta)]).toEqual(before);
    const reading = readSnapshot(folder, KIND, HOST);
    expect(reading.state === 'ok' && checkedAt(folder, KIND, reading.meta)).toBe('2026-03-02T12:00:00.000Z');
    await updateSnapshot(folder, KIND, () => content(['a', 'c']));
    const changed = readSnapshot(folder, KIND, HOST);
    expect(changed.state === 'ok' && checkedAt(folder, KIND, changed.meta)).toBe('2026-03-01T12:00:00.000Z');
  });

  it('are told apart when something is wrong with them [FLR-knowledge-last-good]', async () => {
    const states: Record<string, (paths: ReturnType<typeof snapshotPaths>) => void> = {
      missing: ({ snapshot }) => rmSync(snapshot),
      mismatch: ({ snapshot }) => writeFileSync(snapshot, '[]'),
      damaged: ({ meta }) => writeFileSync(meta, '{"sha256": "ab'),
    };
    for (const [state, spoil] of Object.entries(states)) {
      const { folder, paths } = await written(['a']);
      spoil(paths);
      expect(readSnapshot(folder, KIND, HOST).state).toBe(state);
    }
    const { folder, paths } = await written(['a']);
    expect(readSnapshot(folder, KIND, 'http://127.0.0.1:3001').state).toBe('wrong_host');
    expect(readSnapshot(folder, KIND).state).toBe('ok');
    rmSync(paths.meta);
    expect(readSnapshot(folder, KIND, HOST).state).toBe('mismatch');
    writeFileSync(paths.snapshot, '{"not": "a list"}');
    writeFileSync(paths.meta, JSON.stringify({ sha256: sha256Hex('{"not": "a list"}'), status: 'ok', item_count: 1 }));
    expect(readSnapshot(folder, KIND).state).toBe('damaged');
    writeFileSync(paths.meta, '{"status": "stub", "item_count": 0, "sha256": null}');
    expect(readSnapshot(folder, KIND).state).toBe('stub');
    rmSync(paths.snapshot);
    mkdirSync(paths.snapshot);
    expect(readSnapshot(folder, KIND).state).toBe('damaged');
  });

  it('read as before or as after, wherever their writer died [FLR-knowledge-crash-safe]', async () => {
    const steps = 4;
    for (let done = 0; done <= steps; done += 1) {
      const { folder, paths } = await written(['old']);
      const text = `${JSON.stringify([{ name: 'new' }], null, 2)}\n`;
      const old = JSON.parse(readFileSync(paths.meta, 'utf8')) as SnapshotMeta;
      const meta = { ...old, sha256: sha256Hex(text) };
      const all = writeSteps(paths, text, meta);
      expect(all).toHaveLength(steps);
      for (const step of all.slice(0, done)) step();
      expect(namesIn(folder)).toEqual(done < 3 ? ['old'] : ['new']);
      // The next writer starts from there and loses nothing, even if it dies before it has written anything.
      await updateSnapshot(folder, KIND, () => null);
      expect(namesIn(folder)).toEqual(done < 3 ? ['old'] : ['new']);
      await updateSnapshot(folder, KIND, (current) =>
        content([
          ...(current.state === 'ok' ? current.items.map((item) => (item as { name: string }).name) : []),
          'more',
        ]),
      );
      expect(namesIn(folder)).toEqual(done < 3 ? ['old', 'more'] : ['new', 'more']);
      expect(existsSync(paths.newMeta) || existsSync(paths.newSnapshot)).toBe(false);
    }
  });

  it('survive files that were cut off while they were written [FLR-knowledge-crash-safe]', async () => {
    const { folder, paths } = await written(['old']);
    for (const cut of ['', '{', '{"sha256": "00']) {
      writeFileSync(paths.newMeta, cut);
      writeFileSync(paths.newSnapshot, '[{"na');
      expect(namesIn(folder)).toEqual(['old']);
      await updateSnapshot(folder, KIND, () => null);
      expect(namesIn(folder)).toEqual(['old']);
    }
    await updateSnapshot(folder, KIND, () => content(['new']));
    expect(namesIn(folder)).toEqual(['new']);
  });

  it('hold what all writers added, though they write at once [FLR-knowledge-merge-under-lock]', async () => {
    const { folder } = await written([]);
    const names = Array.from({ length: 20 }, (_, at) => `n${at}`);
    await Promise.all(
      names.map((name) =>
        updateSnapshot(folder, KIND, (current) => {
          const items = current.state === 'ok' ? [...current.items] : [];
          return { ...content([]), items: [...items, { name }] };
        }),
      ),
    );
    expect(new Set(namesIn(folder) as string[])).toEqual(new Set(names));
  });

  it('refuse credentials with a key that must not be kept [S000-D3-banned-keys]', async () => {
    const folder = tempFolder();
    const items = [{ credential_id: 'c', name: 'n', type: 't', encryptedData: 'x' }];
    await expect(
      updateSnapshot(folder, 'flowise_credentials', () => ({ ...content([]), items })),
    ).rejects.toMatchObject({
      code: 'SNAPSHOT_INVALID',
      details: { keys: ['/0/encryptedData'] },
    });
    expect(readdirSync(folder)).toEqual([]);
  });

  it('say so when their folder cannot be written [FLR-knowledge-last-good]', async () => {
    const file = join(tempFolder(), 'file');
    writeFileSync(file, '');
    await expect(updateSnapshot(join(file, 'below'), KIND, () => content(['a']))).rejects.toMatchObject({
      code: 'SNAPSHOT_INVALID',
    });
  });
});

describe('the lock of a snapshot', () => {
  it('is taken over from a process that died, and waited for otherwise [FLR-knowledge-merge-under-lock]', async () => {
    const lock = join(tempFolder(), 'x.lock');
    writeFileSync(lock, JSON.stringify({ pid: 2 ** 22 + 1, started: '1', machine: hostname() }));
    expect(await underLock(lock, () => 'written')).toBe('written');
    expect(existsSync(lock)).toBe(false);

    writeFileSync(lock, JSON.stringify({ pid: process.pid, started: '', machine: hostname() }));
    await expect(underLock(lock, () => 'written', 30)).rejects.toMatchObject({ code: 'CONFLICT' });
    expect(existsSync(lock)).toBe(true);

    writeFileSync(lock, JSON.stringify({ pid: 1, started: '', machine: 'elsewhere' }));
    await expect(underLock(lock, () => 'written', 30)).rejects.toMatchObject({ code: 'CONFLICT' });
  });

  it('is waited for while its holder lives [FLR-knowledge-merge-under-lock]', async () => {
    const lock = join(tempFolder(), 'x.lock');
    let write: Promise<string> | undefined;
    await underLock(lock, () => {
      write = underLock(lock, () => 'second');
    });
    expect(await write).toBe('second');
    expect(existsSync(lock)).toBe(false);
  });

  it('is given back when the write fails [FLR-knowledge-merge-under-lock]', async () => {
    const lock = join(tempFolder(), 'x.lock');
    await expect(
      underLock(lock, () => {
        throw new Error('no space');
      }),
    ).rejects.toThrow('no space');
    expect(await underLock(lock, () => 'written')).toBe('written');
  });
});
