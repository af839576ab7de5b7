import { randomUUID } from 'node:crypto';
import {
  accessSync,
  closeSync,
  constants,
  fsyncSync,
  openSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { makeFolder } from '../../home/index.ts';
import { refusal } from '../../kernel/errors.ts';

/** What a file holds; null when there is none. */
export function readIfThere(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw cannot('read', path, error);
  }
}

/** Makes a folder ready to be written to, before anything is asked for that would go there. */
export function readyFolder(path: string): void {
  try {
    makeFolder(path);
    accessSync(path, constants.W_OK | constants.X_OK);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === undefined) throw error;
    throw refusal('USAGE_ERROR', `${path} is no folder to write to (${code}). Name another with --out.`);
  }
}

/**
 * Puts a whole file in place of what was there, or changes nothing. A link stays a link: what it points to is replaced.
 */
export function replaceFile(path: string, text: string): void {
  try {
    makeFolder(dirname(path));
    const target = realTarget(path);
    const mode = statSync(target, { throwIfNoEntry: false })?.mode ?? 0o666;
    const temporary = join(dirname(target), `.${basename(target)}.${randomUUID().slice(0, 8)}.tmp`);
    try {
      writeDurably(temporary, text, mode & 0o777);
      renameSync(temporary, target);
    } finally {
      rmSync(temporary, { force: true });
    }
  } catch (error) {
    throw cannot('write', path, error);
  }
}

function realTarget(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

function writeDurably(path: string, text: string, mode: number): void {
  const file = openSync(path, 'wx', mode);
  try {
    writeFileSync(file, text);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

function cannot(act: string, path: string, error: unknown) {
  const { code } = error as NodeJS.ErrnoException;
  if (code === undefined) throw error;
  return refusal('USAGE_ERROR', `Cannot ${act} ${path} (${code}). Name a file that you may ${act} with --out.`);
}
