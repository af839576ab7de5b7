import { readFileSync, statSync } from 'node:fs';
import { join, resolve, sep } from 'node:path';
import { sha256Hex } from '../kernel/hash.ts';
import { bannedKeys } from './credential-lint.ts';

/**
 * A snapshot is two files: `<kind>.snapshot.json`, an array, and `<kind>.meta.json` with its fingerprint. They are
 * replaced in an order that leaves them readable whenever the writer dies (see snapshot-update.ts): between the two
 * renames the meta file that fits the snapshot still has the ending `.new`, and a reader takes that one.
 */
export const SNAPSHOT_KINDS = [
  'flowise_nodes',
  'flowise_templates',
  'flowise_credentials',
  'workday_mcp',
  'workday_api',
] as const;
export type SnapshotKind = (typeof SNAPSHOT_KINDS)[number];

/** A stub has only status, item_count and sha256. */
export interface SnapshotMeta {
  /** With forward slashes on every system, and without the folders above. */
  snapshot_file?: string;
  generated_at?: string;
  /** Address of the server that it tells of; null when it tells of none in particular. */
  source_host?: string | null;
  flowise_version?: string | null;
  item_count: number;
  /** Of the snapshot's exact bytes. */
  sha256: string | null;
  status: 'ok' | 'empty' | 'stub';
  /** Where the entries come from, such as reference, flowise_api or repair. */
  source?: string;
  /** Entries that were added one by one, from the API. */
  repaired?: { id: string; at: string }[];
  /** Entries that the server has no more; they stay in the file and are not resolved. */
  removed?: string[];
  /** Fingerprint of the baseline that repaired entries were added to. */
  based_on?: string;
}

export type SnapshotReading =
  | { state: 'ok'; items: unknown[]; meta: SnapshotMeta; stamp: string }
  /** Reserved, and empty on purpose. */
  | { state: 'stub'; meta: SnapshotMeta }
  | { state: 'missing' }
  /** Somebody changed the snapshot, or lost its meta file. */
  | { state: 'mismatch'; reason: string }
  /** Not what a snapshot or its meta file looks like. */
  | { state: 'damaged'; reason: string }
  /** Of another server than the one that was asked for. */
  | { state: 'wrong_host'; reason: string; meta: SnapshotMeta }
  /** Holds keys that no file of credentials may hold; its content is not handed out. */
  | { state: 'banned'; reason: string; keys: string[] };

export interface SnapshotPaths {
  snapshot: string;
  meta: string;
  /** Written first; in place of meta when a writer died between the two renames. */
  newMeta: string;
  newSnapshot: string;
  /** When a refresh last found nothing to change, so that an unchanged snapshot keeps its bytes and is not asked for again. */
  checked: string;
  lock: string;
}

export function snapshotPaths(folder: string, kind: SnapshotKind): SnapshotPaths {
  const file = (ending: string) => join(folder, `${kind}.${ending}`);
  return {
    snapshot: file('snapshot.json'),
    meta: file('meta.json'),
    newMeta: file('meta.json.new'),
    newSnapshot: file('snapshot.json.new'),
    checked: file('checked.json'),
    lock: file('lock'),
  };
}

/** How a meta file names its snapshot: from the folder called schemas on, else from its own folder. */
export function snapshotName(folder: string, kind: SnapshotKind): string {
  const steps = resolve(folder).split(sep);
  const from = steps.lastIndexOf('schemas');
  return [...steps.slice(from === -1 ? -1 : from), `${kind}.snapshot.json`].join('/');
}

export function snapshotText(items: readonly unknown[]): string {
  return `${JSON.stringify(items, null, 2)}\n`;
}

/** Another process may be between its two renames just now; it is looked at again before anything is called broken. */
const LOOKS = 3;

/**
 * Reads and checks a snapshot; never throws. `host` is the server that it must tell of: a snapshot that names no server
 * serves any, except one of credentials.
 */
export function readSnapshot(folder: string, kind: SnapshotKind, host?: string): SnapshotReading {
  const paths = snapshotPaths(folder, kind);
  let reading = readOnce(paths, kind, host);
  for (let look = 1; look < LOOKS && (reading.state === 'mismatch' || reading.state === 'damaged'); look++) {
    reading = readOnce(paths, kind, host);
  }
  return reading;
}

function readOnce(paths: SnapshotPaths, kind: SnapshotKind, host: string | undefined): SnapshotReading {
  const stamp = snapshotStamp(paths);
  const bytes = bytesOf(paths.snapshot);
  if (bytes === null) return { state: 'missing' };
  if (bytes === 'unreadable') return { state: 'damaged', reason: `${kind}.snapshot.json cannot be read` };
  const meta = metaOf(paths.meta);
  if (isMeta(meta) && meta.status === 'stub') return { state: 'stub', meta };
  const sha256 = sha256Hex(bytes);
  if (isMeta(meta) && meta.sha256 === sha256) return examined(kind, bytes, meta, host, stamp);
  const next = metaOf(paths.newMeta);
  if (isMeta(next) && next.sha256 === sha256) return examined(kind, bytes, next, host, stamp);
  if (meta === 'damaged') return { state: 'damaged', reason: `${kind}.meta.json is not a meta file` };
  if (meta === null) return { state: 'mismatch', reason: `${kind}.meta.json is missing` };
  return { state: 'mismatch', reason: `${kind}.snapshot.json does not have the fingerprint in ${kind}.meta.json` };
}

/** What is known to be the bytes that were written. */
function examined(
  kind: SnapshotKind,
  bytes: Buffer,
  meta: SnapshotMeta,
  host: string | undefined,
  stamp: string,
): SnapshotReading {
  const items = parsed(bytes);
  if (!Array.isArray(items)) return { state: 'damaged', reason: `${kind}.snapshot.json is not a JSON array` };
  if (kind === 'flowise_credentials') {
    const keys = bannedKeys(items);
    const reason = `${kind}.snapshot.json holds keys that it must not hold`;
    if (keys.length > 0) return { state: 'banned', reason, keys };
  }
  if (host !== undefined && !isOf(meta, host, kind)) {
    const reason = `${kind}.snapshot.json tells of ${meta.source_host ?? 'no server'}, not of ${host}`;
    return { state: 'wrong_host', reason, meta };
  }
  return { state: 'ok', items, meta, stamp };
}

function isOf(meta: SnapshotMeta, host: string, kind: SnapshotKind): boolean {
  if (meta.source_host === host) return true;
  const namesNone = meta.source_host === null || meta.source_host === undefined;
  return namesNone && kind !== 'flowise_credentials';
}

/** Tells, without reading it, whether a snapshot was written since. */
export function snapshotStamp(paths: SnapshotPaths): string {
  return [paths.snapshot, paths.meta, paths.checked].map(fileStamp).join(' ');
}

function fileStamp(path: string): string {
  try {
    const { ino, size, mtimeNs } = statSync(path, { bigint: true });
    return `${ino}:${size}:${mtimeNs}`;
  } catch {
    return '-';
  }
}

/** When the snapshot was last known to be what the server has; undefined for one that does not say. */
export function checkedAt(folder: string, kind: SnapshotKind, meta: SnapshotMeta): string | undefined {
  const bytes = bytesOf(snapshotPaths(folder, kind).checked);
  const checked = Buffer.isBuffer(bytes) ? parsed(bytes) : undefined;
  const { sha256, checked_at } = (checked ?? {}) as { sha256?: unknown; checked_at?: unknown };
  const isAbout = sha256 === meta.sha256 && typeof checked_at === 'string';
  return isAbout && checked_at > (meta.generated_at ?? '') ? checked_at : meta.generated_at;
}

const ABSENT: ReadonlySet<string | undefined> = new Set(['ENOENT', 'ENOTDIR']);

function bytesOf(path: string): Buffer | null | 'unreadable' {
  try {
    return readFileSync(path);
  } catch (error) {
    return ABSENT.has((error as NodeJS.ErrnoException).code) ? null : 'unreadable';
  }
}

function metaOf(path: string): SnapshotMeta | null | 'damaged' {
  const bytes = bytesOf(path);
  if (bytes === null) return null;
  const meta = bytes === 'unreadable' ? undefined : parsed(bytes);
  const isObject = meta !== null && typeof meta === 'object' && !Array.isArray(meta);
  return isObject && 'sha256' in meta ? (meta as SnapshotMeta) : 'damaged';
}

function isMeta(meta: SnapshotMeta | null | 'damaged'): meta is SnapshotMeta {
  return meta !== null && meta !== 'damaged';
}

function parsed(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString('utf8'));
  } catch {
    return undefined;
  }
}
