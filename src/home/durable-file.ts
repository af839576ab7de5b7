import { closeSync, fsyncSync, openSync, writeFileSync } from 'node:fs';

/** A new file, on the disk when this returns. Fails when the name is taken. */
export function writeDurably(path: string, text: string): void {
  const file = openSync(path, 'wx', 0o600);
  try {
    writeFileSync(file, text);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

/** A rename is durable once its folder is; some file systems refuse to sync a folder, and then it already is. */
export function syncFolder(folder: string): void {
  try {
    const handle = openSync(folder, 'r');
    try {
      fsyncSync(handle);
    } finally {
      closeSync(handle);
    }
  } catch {
    // Not supported here.
  }
}
