import { randomUUID } from 'node:crypto';
import { constants, lstatSync, mkdirSync } from 'node:fs';
import { open, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { syncFolder } from '../home/index.ts';
import { sha256Hex } from '../kernel/hash.ts';

/** Why a stored file cannot be given out. */
export class FileFault extends Error {}

const SHA256_RE = /^[0-9a-f]{64}$/;
/** Names that are the same file system name for one vault only, also where case does not count. */
const PLAIN_VAULT_RE = /^[a-z0-9][a-z0-9_-]{0,63}$/;

/** What a file is expected to be. */
export interface Content {
  sha256: string;
  size_bytes: number;
}

/**
 * The segments below the store's folder. Nothing of them comes from a client: a vault id that is not plain is hashed,
 * and a hash is a hash or refused.
 */
export function placeOf(vaultId: string, sha256: string): readonly [string, string, string] {
  if (!SHA256_RE.test(sha256)) throw new FileFault('its name leads out of the store');
  const vault = PLAIN_VAULT_RE.test(vaultId) ? vaultId : `~${sha256Hex(vaultId)}`;
  return [vault, sha256.slice(0, 2), sha256];
}

/** The bytes, if they are what they should be. A link on the way, or in place of the file, is not followed. */
export async function readStored(dir: string, vaultId: string, content: Content): Promise<Buffer> {
  const path = wayTo(dir, placeOf(vaultId, content.sha256));
  if (path === null) throw new FileFault('it is missing from the store');
  const file = await opened(path);
  try {
    const { size } = await file.stat();
    // Before it is read: what took its place may be of any size.
    if (size !== content.size_bytes) throw new FileFault('it no longer has the size it was stored with');
    const bytes = await file.readFile();
    if (sha256Hex(bytes) !== content.sha256) throw new FileFault('it no longer holds what was stored');
    return bytes;
  } finally {
    await file.close();
  }
}

/** Is there a file of the right size? Cheap enough for inside a transaction. */
export function hasStored(dir: string, vaultId: string, content: Content): boolean {
  const path = wayTo(dir, placeOf(vaultId, content.sha256));
  const found = path === null ? undefined : lstatSync(path, { throwIfNoEntry: false });
  return found?.isFile() === true && found.size === content.size_bytes;
}

/** Puts the bytes in place; they are on the disk when this returns. What lay there under the name is replaced. */
export async function writeStored(dir: string, vaultId: string, sha256: string, bytes: Buffer): Promise<void> {
  const path = makeWay(dir, placeOf(vaultId, sha256));
  const draft = join(dirname(path), `.${randomUUID()}.tmp`);
  try {
    const file = await open(draft, 'wx', 0o600);
    try {
      await file.writeFile(bytes);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(draft, path);
  } finally {
    await rm(draft, { force: true });
  }
  syncFolder(dirname(path));
}

export async function removeStored(dir: string, vaultId: string, sha256: string): Promise<void> {
  const path = wayTo(dir, placeOf(vaultId, sha256));
  if (path !== null) await rm(path, { force: true });
}

async function opened(path: string) {
  try {
    return await open(path, constants.O_RDONLY | constants.O_NOFOLLOW);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') throw new FileFault('it is missing from the store');
    if (code === 'ELOOP') throw new FileFault('a link is in its place');
    throw error;
  }
}

/** Null when a folder on the way is missing. The store's own folder may be a link: somebody chose it. */
function wayTo(dir: string, segments: readonly string[]): string | null {
  let folder = dir;
  for (const segment of segments.slice(0, -1)) {
    folder = join(folder, segment);
    if (!isFolder(folder)) return null;
  }
  return join(folder, segments.at(-1) as string);
}

function makeWay(dir: string, segments: readonly string[]): string {
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  let folder = dir;
  for (const segment of segments.slice(0, -1)) {
    const next = join(folder, segment);
    if (!isFolder(next)) {
      // Recursive only so that it does not mind somebody making the same folder at this moment.
      mkdirSync(next, { recursive: true, mode: 0o700 });
      syncFolder(folder);
    }
    folder = next;
  }
  return join(folder, segments.at(-1) as string);
}

/** False when nothing is there; anything else than a folder is refused. */
function isFolder(path: string): boolean {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (!found) return false;
  if (!found.isDirectory()) throw new FileFault('something that is not a folder is on the way to it');
  return true;
}
