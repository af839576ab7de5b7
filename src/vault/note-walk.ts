import { type Dirent, lstatSync, readdirSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { checkNotePath, foldCase } from './note-path.ts';

export interface NoteEntry {
  path: string;
  size: number;
  modified: string;
}

/** A folder that is about to be opened, or a note. */
type Step = { folder: string } | { note: NoteEntry };

/** Left out unless the list begins inside one: they hold tools, patterns and what the server writes. */
const IGNORED = ['templates', 'meta', 'node_modules'];

/**
 * Notes below a folder, in the order of their paths, from the first after a given text. A folder that lies before that
 * text as a whole is not opened. Links are not followed, and what no path may name is not shown.
 */
export function* walkNotes(root: string, below: string, after: string): Generator<Step> {
  let base: string;
  try {
    base = realpathSync(root);
  } catch {
    return;
  }
  const parts = below === '' ? [] : below.split('/');
  for (let depth = 1; depth <= parts.length; depth += 1) {
    const folder = join(base, ...parts.slice(0, depth));
    if (!lstatSync(folder, { throwIfNoEntry: false })?.isDirectory()) return;
  }
  yield* walkFolder(base, below === '' ? '' : `${below}/`, after);
}

/** The prefix is empty or ends with a slash. */
function* walkFolder(base: string, prefix: string, after: string): Generator<Step> {
  if (prefix !== '') yield { folder: prefix };
  for (const entry of entriesOf(join(base, prefix))) {
    const path = `${prefix}${entry.name}`;
    if (entry.isDirectory()) {
      const inner = `${path}/`;
      const isBehind = after > inner && !after.startsWith(inner);
      if (!isBehind && isShown(entry.name)) yield* walkFolder(base, inner, after);
    } else if (entry.isFile() && path > after && checkNotePath(path).ok) {
      const found = lstatSync(join(base, path), { throwIfNoEntry: false });
      if (found?.isFile()) yield { note: { path, size: found.size, modified: found.mtime.toISOString() } };
    }
  }
}

function isShown(name: string): boolean {
  return !name.startsWith('.') && !IGNORED.includes(foldCase(name));
}

/** In the order of the paths they lead to: a folder sorts as its name with the slash. */
function entriesOf(folder: string): Dirent[] {
  let entries: Dirent[];
  try {
    entries = readdirSync(folder, { withFileTypes: true });
  } catch {
    // Gone meanwhile, or not ours to read.
    return [];
  }
  const keyed = entries.map((entry) => ({ entry, key: entry.isDirectory() ? `${entry.name}/` : entry.name }));
  keyed.sort((left, right) => (left.key < right.key ? -1 : 1));
  return keyed.map(({ entry }) => entry);
}
