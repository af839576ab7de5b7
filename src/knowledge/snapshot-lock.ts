import { linkSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { basename } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { isAlive, type RunningProcess, thisProcess } from '../home/index.ts';
import { refusal } from '../kernel/errors.ts';
import { newId } from '../kernel/ids.ts';

interface Holder extends RunningProcess {
  machine: string;
}

const WAIT_MS = 5_000;
const LOOK_EVERY_MS = 10;
/** Another machine's processes cannot be asked; a write takes milliseconds. */
const ABANDONED_MS = 30_000;

/**
 * Does something synchronous while no other process writes the same snapshot. A lock is a file with its holder in it;
 * it is linked into place, so it is never seen half-written. One that a dead process left is taken over.
 */
export async function underLock<T>(lock: string, write: () => T, waitMs = WAIT_MS): Promise<T> {
  const until = Date.now() + waitMs;
  while (!take(lock)) {
    if (removeAbandoned(lock)) continue;
    if (Date.now() >= until) {
      throw refusal(
        'CONFLICT',
        `Another process keeps ${basename(lock)}, so nothing was written. Try again in a moment.`,
      );
    }
    await sleep(LOOK_EVERY_MS);
  }
  try {
    return write();
  } finally {
    rmSync(lock, { force: true });
  }
}

function take(lock: string): boolean {
  const own = `${lock}.${newId('taken')}`;
  const holder: Holder = { ...thisProcess(), machine: hostname() };
  writeFileSync(own, JSON.stringify(holder), { mode: 0o600, flag: 'wx' });
  try {
    linkSync(own, lock);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  } finally {
    rmSync(own, { force: true });
  }
}

/** True when there is nothing in the way any more. */
function removeAbandoned(lock: string): boolean {
  const seen = contentOf(lock);
  if (seen === null) return true;
  if (!isAbandoned(lock, seen)) return false;
  // Moved aside first: whoever moves it knows that nobody else removes a newer lock in its name.
  const aside = `${lock}.${newId('taken')}`;
  try {
    renameSync(lock, aside);
  } catch {
    return true;
  }
  const isTheOne = contentOf(aside) === seen;
  if (!isTheOne) putBack(aside, lock);
  rmSync(aside, { force: true });
  return isTheOne;
}

function isAbandoned(lock: string, content: string): boolean {
  const holder = parsedHolder(content);
  if (holder?.machine === hostname()) return !isAlive(holder);
  const age = Date.now() - (statSync(lock, { throwIfNoEntry: false })?.mtimeMs ?? 0);
  return age > ABANDONED_MS;
}

function parsedHolder(content: string): Holder | null {
  try {
    return JSON.parse(content) as Holder;
  } catch {
    return null;
  }
}

function contentOf(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return null;
  }
}

function putBack(aside: string, lock: string): void {
  try {
    linkSync(aside, lock);
  } catch {
    // Somebody took the lock meanwhile.
  }
}
