import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { HomePaths } from './paths.ts';
import { isAlive, type RunningProcess, thisProcess } from './running-process.ts';
import { unusableFolder } from './unusable-folder.ts';

/** Which process serves a home: written by the hub at start, removed at its end. */
export interface HubLock extends RunningProcess {
  url: string;
}

/** One file a hub, so that each removes only its own. */
const LOCK_FILE = /^hub\.\d+\.lock$/;

export function writeHubLock(paths: HomePaths, url: string): void {
  const lock: HubLock = { ...thisProcess(), url };
  try {
    writeFileSync(lockPath(paths), `${JSON.stringify(lock)}\n`, { mode: 0o600 });
  } catch (error) {
    throw unusableFolder(paths.home, error);
  }
}

export function removeHubLock(paths: HomePaths): void {
  rmSync(lockPath(paths), { force: true });
}

/** A hub that serves this home now, or null: what a dead process left does not count. */
export function readHubLock(paths: HomePaths): HubLock | null {
  const locks = readdirSync(paths.home).filter((name) => LOCK_FILE.test(name));
  for (const name of locks) {
    const lock = readLock(join(paths.home, name));
    if (lock) return lock;
  }
  return null;
}

function readLock(path: string): HubLock | null {
  try {
    const lock = JSON.parse(readFileSync(path, 'utf8')) as HubLock;
    return isAlive(lock) ? lock : null;
  } catch {
    return null;
  }
}

function lockPath(paths: HomePaths): string {
  return join(paths.home, `hub.${process.pid}.lock`);
}
