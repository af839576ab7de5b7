import { mkdirSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';

/**
 * A folder and those above it, or the error of the one that cannot be made. Step by step: asked to do it recursively,
 * Node never returns where a folder that is there says that a new one inside it cannot be, such as /proc.
 */
export function makeFolder(path: string, mode?: number): void {
  const missing: string[] = [];
  let at = resolve(path);
  while (!isThere(at) && dirname(at) !== at) {
    missing.unshift(at);
    at = dirname(at);
  }
  for (const folder of missing) makeOne(folder, mode);
  // A file in its place is told as such.
  if (missing.length === 0 && !isFolder(at)) mkdirSync(at);
}

function makeOne(folder: string, mode: number | undefined): void {
  try {
    mkdirSync(folder, mode === undefined ? {} : { mode });
  } catch (error) {
    // Another process may have made it in the meantime.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST' || !isFolder(folder)) throw error;
  }
}

function isThere(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch {
    return false;
  }
}

function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    return false;
  }
}
