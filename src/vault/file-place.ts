import { lstatSync, mkdirSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { syncFolder } from '../home/index.ts';
import { FileFault, faultOf } from './file-fault.ts';

/**
 * Where a relative path lies below a root. The root may be a link: somebody chose it. Below it no link is followed, not
 * even one that leads back inside: it would give a note a second name that no rule about names knows.
 */
type Way = { state: 'open'; target: string } | { state: 'missing' } | { state: 'blocked' };

const BLOCKED = 'something that is not a folder is on the way to it';

/** Where the file would be; null when the way to it is not there. Throws when the way leads through a link. */
export function locate(root: string, path: string): string | null {
  const way = wayTo(root, path);
  return way.state === 'open' ? way.target : null;
}

/** As `locate`, and makes the folders that are missing. */
export function makeWay(root: string, path: string): string {
  const segments = segmentsOf(path);
  mkdirSync(root, { recursive: true, mode: 0o700 });
  let folder = realpathSync(root);
  for (const segment of segments.slice(0, -1)) {
    const next = join(folder, segment);
    if (lookAt(next) === 'missing') {
      // Recursive only so that it does not mind somebody making the same folder at this moment.
      mkdirSync(next, { recursive: true, mode: 0o700 });
      syncFolder(folder);
    }
    if (lookAt(next) !== 'folder') throw new FileFault(BLOCKED);
    folder = next;
  }
  const target = join(folder, segments.at(-1) as string);
  const there = lstatSync(target, { throwIfNoEntry: false });
  if (there && !there.isFile()) throw new FileFault('something that is not a plain file is in its place');
  return target;
}

/** Why no file can come to be at that path, as far as the folders on the way tell; null when nothing is against it. */
export function wayFault(root: string, path: string): string | null {
  try {
    return wayTo(root, path).state === 'blocked' ? BLOCKED : null;
  } catch (error) {
    return faultOf(error);
  }
}

function wayTo(root: string, path: string): Way {
  const segments = segmentsOf(path);
  let folder: string;
  try {
    folder = realpathSync(root);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return { state: 'missing' };
    throw error;
  }
  for (const segment of segments.slice(0, -1)) {
    folder = join(folder, segment);
    const what = lookAt(folder);
    if (what !== 'folder') return { state: what };
  }
  return { state: 'open', target: join(folder, segments.at(-1) as string) };
}

function lookAt(place: string): 'folder' | 'missing' | 'blocked' {
  const found = lstatSync(place, { throwIfNoEntry: false });
  if (!found) return 'missing';
  if (found.isSymbolicLink()) throw new FileFault('a folder on the way to it is a symbolic link');
  return found.isDirectory() ? 'folder' : 'blocked';
}

function segmentsOf(path: string): string[] {
  const segments = path.split('/');
  const isUnfit = segments.some((segment) => segment === '' || segment === '.' || segment === '..');
  if (isUnfit || path.includes('\0') || path.includes('\\')) throw new FileFault('its path leads out of the folder');
  return segments;
}
