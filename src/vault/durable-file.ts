import { createHash } from 'node:crypto';
import {
  closeSync,
  constants,
  fstatSync,
  fsyncSync,
  linkSync,
  lstatSync,
  openSync,
  readSync,
  renameSync,
  rmSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { syncFolder, writeDurably } from '../home/index.ts';
import { sha256Hex } from '../kernel/hash.ts';
import { FileFault } from './file-fault.ts';
import { locate, makeWay } from './file-place.ts';

/**
 * Files below a root, named by relative paths. No symbolic link is followed below the root, and nothing but plain files
 * is read or replaced. A file is replaced at once and is on the disk when the call returns.
 *
 * Where the guarantee stops: whoever may write in the root while a call is under way can still swap a folder for a link
 * between the look and the act.
 */
export interface FoundFile {
  bytes: Buffer;
  sha256: string;
}

const CHUNK_BYTES = 65_536;
const READ_PLAIN = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);

/** The file's bytes; null when there is none. */
export function readFile(root: string, path: string, maxBytes: number): FoundFile | null {
  return withFile(root, path, (file, size) => {
    if (size > maxBytes) throw new FileFault(`it has more than ${maxBytes} bytes`);
    const chunks: Buffer[] = [];
    let total = 0;
    for (const chunk of chunksOf(file)) {
      total += chunk.length;
      if (total > maxBytes) throw new FileFault(`it has more than ${maxBytes} bytes`);
      chunks.push(Buffer.from(chunk));
    }
    const bytes = Buffer.concat(chunks);
    return { bytes, sha256: sha256Hex(bytes) };
  });
}

/** SHA-256 of the file, however large; null when there is none. */
export function hashFile(root: string, path: string): string | null {
  return withFile(root, path, (file) => {
    const hash = createHash('sha256');
    for (const chunk of chunksOf(file)) hash.update(chunk);
    return hash.digest('hex');
  });
}

/** Puts the text in place of whatever plain file is there, or of none. */
export function replaceFile(root: string, path: string, text: string): void {
  const target = makeWay(root, path);
  // One name for all attempts at this file: what a crash left is taken away by the next, and nothing piles up.
  const draft = join(dirname(target), `.flowright-${sha256Hex(path).slice(0, 24)}.tmp`);
  rmSync(draft, { force: true });
  try {
    writeDurably(draft, text);
    renameSync(draft, target);
  } catch (error) {
    rmSync(draft, { force: true });
    throw error;
  }
  syncFolder(dirname(target));
}

export function removeFile(root: string, path: string): void {
  const target = locate(root, path);
  if (target === null) return;
  rmSync(target, { force: true });
  syncFolder(dirname(target));
}

/** Makes sure that a file which already is as it should be also is on the disk. */
export function settleFile(root: string, path: string): void {
  withFile(root, path, (file, _size, target) => {
    fsyncSync(file);
    syncFolder(dirname(target));
  });
}

/**
 * Gives the file a second, free name in its folder and returns that path. The first name stays until it is replaced, so
 * that a crash in between loses nothing; done again, it finds the name it gave before.
 */
export function nameAside(root: string, path: string, mark: string): string {
  const target = locate(root, path);
  if (target === null) throw new FileFault('it is gone');
  const folder = dirname(target);
  const from = lstatSync(target);
  for (let attempt = 1; ; attempt += 1) {
    const name = asideName(basename(target), attempt === 1 ? mark : `${mark}-${attempt}`);
    const aside = join(folder, name);
    const there = lstatSync(aside, { throwIfNoEntry: false });
    if (there && !(there.ino === from.ino && there.dev === from.dev)) continue;
    if (!there) giveName(target, aside);
    syncFolder(folder);
    return [...path.split('/').slice(0, -1), name].join('/');
  }
}

/** `plan.md` → `plan.<mark>.md`, cut so that a file system takes it. */
function asideName(name: string, mark: string): string {
  const dot = name.lastIndexOf('.');
  const suffix = dot > 0 ? name.slice(dot) : '';
  const end = `.${mark}${suffix}`;
  let stem = dot > 0 ? name.slice(0, dot) : name;
  while (Buffer.byteLength(stem + end) > 255) stem = [...stem].slice(0, -1).join('');
  return stem + end;
}

function giveName(target: string, aside: string): void {
  try {
    linkSync(target, aside);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    // Some file systems have no second names; the file then moves, and its first name is free.
    if (code !== 'EPERM' && code !== 'ENOTSUP' && code !== 'EOPNOTSUPP' && code !== 'ENOSYS') throw error;
    renameSync(target, aside);
  }
}

function withFile<T>(root: string, path: string, use: (file: number, size: number, target: string) => T): T | null {
  const target = locate(root, path);
  const file = target === null ? null : open(target);
  if (target === null || file === null) return null;
  try {
    const found = fstatSync(file);
    if (!found.isFile()) throw new FileFault('it is not a plain file');
    return use(file, found.size, target);
  } finally {
    closeSync(file);
  }
}

function open(target: string): number | null {
  try {
    return openSync(target, READ_PLAIN);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return null;
    if (code === 'ELOOP' || code === 'EMLINK') throw new FileFault('it is a symbolic link');
    throw error;
  }
}

function* chunksOf(file: number): Generator<Buffer> {
  const buffer = Buffer.allocUnsafe(CHUNK_BYTES);
  for (;;) {
    const length = readSync(file, buffer, 0, CHUNK_BYTES, null);
    if (length === 0) return;
    yield buffer.subarray(0, length);
  }
}
