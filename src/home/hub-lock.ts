import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { HomePaths } from './paths.ts';

/** Which process serves a home: written by the hub at start, removed at its end. */
export interface HubLock {
  pid: number;
  /** The kernel's start time of that process, so that a reused pid is not mistaken for it. Empty where unknown. */
  started: string;
  url: string;
}

/** One file a hub, so that each removes only its own. */
const LOCK_FILE = /^hub\.\d+\.lock$/;

export function writeHubLock(paths: HomePaths, url: string): void {
  const lock: HubLock = { pid: process.pid, started: processStart(process.pid), url };
  writeFileSync(lockPath(paths), `${JSON.stringify(lock)}\n`, { mode: 0o600 });
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
    const lives = lock.started === '' ? isRunning(lock.pid) : processStart(lock.pid) === lock.started;
    return lives ? lock : null;
  } catch {
    return null;
  }
}

function lockPath(paths: HomePaths): string {
  return join(paths.home, `hub.${process.pid}.lock`);
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

function processStart(pid: number): string {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? '';
  } catch {
    return '';
  }
}
