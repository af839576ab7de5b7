import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { hashFile, readFile, removeFile, replaceFile } from '../../src/vault/durable-file.ts';
import { faultOf } from '../../src/vault/file-fault.ts';
import { tempFolder } from '../support/home.ts';

/** What the disk refuses, by the name of the function; nothing by default. */
const disk = vi.hoisted(() => ({ refuses: '', code: '' }));

vi.mock('node:fs', async (original) => {
  const fs = await original<typeof import('node:fs')>();
  const failing = (name: string, call: (...args: never[]) => unknown) =>
    ((...args: never[]) => {
      if (disk.refuses === name) throw Object.assign(new Error(`${disk.code}: at /the/machine`), { code: disk.code });
      return call(...args);
    }) as never;
  return {
    ...fs,
    writeFileSync: failing('writeFileSync', fs.writeFileSync as never),
    fsyncSync: failing('fsyncSync', fs.fsyncSync as never),
    renameSync: failing('renameSync', fs.renameSync as never),
    mkdirSync: failing('mkdirSync', fs.mkdirSync as never),
  };
});

const refusalOf = (act: () => void): string | null => {
  try {
    act();
    return null;
  } catch (error) {
    return faultOf(error);
  }
};

beforeEach(() => {
  Object.assign(disk, { refuses: '', code: '' });
});

describe('[FLR-file-writes] a disk that fails while a file is replaced', () => {
  it.each([
    ['writeFileSync', 'ENOSPC', 'the disk is full'],
    ['fsyncSync', 'EIO', 'the disk has failed'],
    ['renameSync', 'EACCES', 'it may not be accessed'],
    ['renameSync', 'EWEIRD', 'the file system refused (EWEIRD)'],
  ])('in %s with %s leaves the old text and nothing beside it, and says why', (refuses, code, words) => {
    const root = tempFolder();
    replaceFile(root, 'x/a.md', 'old');
    Object.assign(disk, { refuses, code });
    expect(refusalOf(() => replaceFile(root, 'x/a.md', 'new'))).toBe(words);
    expect(readFileSync(join(root, 'x/a.md'), 'utf8')).toBe('old');
    expect(readdirSync(join(root, 'x'))).toEqual(['a.md']);
    Object.assign(disk, { refuses: '' });
    replaceFile(root, 'x/a.md', 'new');
    expect(readFileSync(join(root, 'x/a.md'), 'utf8')).toBe('new');
  });

  it('to make a folder writes nothing', () => {
    const root = tempFolder();
    Object.assign(disk, { refuses: 'mkdirSync', code: 'EROFS' });
    expect(refusalOf(() => replaceFile(root, 'x/a.md', 'new'))).toBe('the disk can only be read');
    expect(readdirSync(root)).toEqual([]);
  });
});

describe('[FLR-notes] a file below a root', () => {
  it('is read, hashed and removed by its path', () => {
    const root = join(tempFolder(), 'made', 'later');
    expect([readFile(root, 'a.md', 10), hashFile(root, 'a.md')]).toEqual([null, null]);
    removeFile(root, 'a.md');
    replaceFile(root, 'a.md', 'text');
    const sha256 = hashFile(root, 'a.md');
    expect(readFile(root, 'a.md', 4)).toEqual({ bytes: Buffer.from('text'), sha256 });
    expect(refusalOf(() => readFile(root, 'a.md', 3))).toBe('it has more than 3 bytes');
    expect(statSync(join(root, 'a.md')).mode & 0o777).toBe(0o600);
    removeFile(root, 'a.md');
    expect(readdirSync(root)).toEqual([]);
  });

  it.each(['../a.md', 'x/../../a.md', '/a.md', '', 'x//a.md', 'x/./a.md', 'a\u0000.md', 'x\\a.md'])(
    'is never at %j, whoever asks',
    (path) => {
      const root = tempFolder();
      for (const act of [
        () => readFile(root, path, 10),
        () => hashFile(root, path),
        () => removeFile(root, path),
        () => replaceFile(root, path, 'x'),
      ]) {
        expect(refusalOf(act)).toBe('its path leads out of the folder');
      }
    },
  );
});
