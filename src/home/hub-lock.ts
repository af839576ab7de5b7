import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import type { HomePaths } from './paths.ts';

/** Which process serves a home: written by the hub at start, removed at its end. */
export interface HubLock {
  pid: number;
  /** The kernel's start time of that process, so that a reused pid is not mistaken for it. Empty where unknown. */
  started: string;
  url: string;
}

export function writeHubLock(paths: HomePaths, url: string): void {
  const lock: HubLock = { pid: process.pid, started: processStart(process.pid), url };
  writeFileSync(paths.lock, `${JSON.stringify(lock)}\n`, { mode: 0o600 });
}

export function removeHubLock(paths: HomePaths): void {
  if (readHubLock(paths)?.pid === process.pid) rmSync(paths.lock, { force: true });
}

/** The hub that holds this home now, or null: a lock left by a dead process does not count. */
export function readHubLock(paths: HomePaths): HubLock | null {
  let lock: HubLock;
  try {
    lock = JSON.parse(readFileSync(paths.lock, 'utf8')) as HubLock;
  } catch {
    return null;
  }
  const lives = lock.started === '' ? isRunning(lock.pid) : processStart(lock.pid) === lock.started;
  return lives ? lock : null;
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
