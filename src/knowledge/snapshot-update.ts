import { existsSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { makeFolder, syncFolder, writeDurably } from '../home/index.ts';
import { stableStringify } from '../kernel/canonical-json.ts';
import { refusal } from '../kernel/errors.ts';
import { sha256Hex } from '../kernel/hash.ts';
import { bannedKeys } from './credential-lint.ts';
import { folderFault } from './folder-fault.ts';
import {
  readSnapshot,
  type SnapshotKind,
  type SnapshotMeta,
  type SnapshotPaths,
  type SnapshotReading,
  snapshotName,
  snapshotPaths,
  snapshotText,
} from './snapshot-file.ts';
import { underLock } from './snapshot-lock.ts';

export interface SnapshotContent {
  items: readonly unknown[];
  generated_at: string;
  source: string;
  source_host: string | null;
  flowise_version: string | null;
  repaired?: { id: string; at: string }[];
  removed?: string[];
  based_on?: string;
}

export interface SnapshotWriting {
  state: 'written' | 'unchanged' | 'left';
  /** The snapshot as it stands now. */
  reading: SnapshotReading;
}

/** Kinds that are asked for again after a while; for these it is also kept when nothing had changed. */
const AGEING: readonly SnapshotKind[] = ['flowise_templates', 'flowise_credentials'];

/**
 * Reads a snapshot, lets `decide` say what it shall hold, and writes that, while no other process does the same. Null
 * leaves it alone; content that is there already leaves every byte of both files. Whatever is written is read back.
 */
export async function updateSnapshot(
  folder: string,
  kind: SnapshotKind,
  decide: (current: SnapshotReading) => SnapshotContent | null,
): Promise<SnapshotWriting> {
  try {
    makeFolder(folder, 0o700);
    return await updateUnderLock(folder, kind, decide);
  } catch (error) {
    throw folderFault(folder, kind, error);
  }
}

function updateUnderLock(
  folder: string,
  kind: SnapshotKind,
  decide: (current: SnapshotReading) => SnapshotContent | null,
): Promise<SnapshotWriting> {
  const paths = snapshotPaths(folder, kind);
  return underLock(paths.lock, () => {
    completeInterrupted(paths);
    const current = readSnapshot(folder, kind);
    const content = decide(current);
    if (!content) return { state: 'left', reading: current };
    if (kind === 'flowise_credentials') refuseBanned(content.items);
    const next = nextFiles(folder, kind, content, current);
    if (current.state === 'ok' && isSame(current.meta, next.meta)) {
      if (AGEING.includes(kind)) keepChecked(paths, next.meta.sha256, content.generated_at);
      return { state: 'unchanged', reading: readSnapshot(folder, kind) };
    }
    for (const step of writeSteps(paths, next.text, next.meta)) step();
    return { state: 'written', reading: confirmed(folder, kind, next.meta) };
  });
}

/**
 * The write, step by step. After each of them the files are readable: as before up to the third, as after from there on.
 */
export function writeSteps(paths: SnapshotPaths, text: string, meta: SnapshotMeta): (() => void)[] {
  const folder = dirname(paths.snapshot);
  return [
    () => {
      rmSync(paths.newMeta, { force: true });
      writeDurably(paths.newMeta, `${JSON.stringify(meta, null, 2)}\n`);
    },
    () => {
      rmSync(paths.newSnapshot, { force: true });
      writeDurably(paths.newSnapshot, text);
    },
    () => {
      renameSync(paths.newSnapshot, paths.snapshot);
      syncFolder(folder);
    },
    () => {
      renameSync(paths.newMeta, paths.meta);
      syncFolder(folder);
    },
  ];
}

/** A writer that died between its renames left the fitting meta file aside; it must not be lost to the next one. */
function completeInterrupted(paths: SnapshotPaths): void {
  if (existsSync(paths.newMeta) && existsSync(paths.snapshot)) {
    try {
      const meta = JSON.parse(readFileSync(paths.newMeta, 'utf8')) as SnapshotMeta;
      if (meta.sha256 === sha256Hex(readFileSync(paths.snapshot))) renameSync(paths.newMeta, paths.meta);
    } catch {
      // Half-written: the snapshot is still the one before.
    }
  }
  rmSync(paths.newSnapshot, { force: true });
}

function refuseBanned(items: readonly unknown[]): void {
  const keys = bannedKeys(items);
  if (keys.length === 0) return;
  throw refusal('SNAPSHOT_INVALID', 'Credentials were not written: they hold keys that must not be kept.', { keys });
}

/** Entries that only differ in the order of their keys keep the text that is there. */
function nextFiles(folder: string, kind: SnapshotKind, content: SnapshotContent, current: SnapshotReading) {
  const { items, generated_at, source, source_host, flowise_version, repaired, removed, based_on } = content;
  const isThere = current.state === 'ok' && stableStringify(current.items) === stableStringify(items);
  const text = isThere ? readFileSync(snapshotPaths(folder, kind).snapshot, 'utf8') : snapshotText(items);
  const meta: SnapshotMeta = {
    snapshot_file: snapshotName(folder, kind),
    generated_at,
    source_host,
    flowise_version,
    item_count: items.length,
    sha256: sha256Hex(text),
    status: items.length === 0 ? 'empty' : 'ok',
    source,
    ...(repaired && repaired.length > 0 ? { repaired } : {}),
    ...(removed && removed.length > 0 ? { removed } : {}),
    ...(based_on ? { based_on } : {}),
  };
  return { text, meta };
}

function isSame(before: SnapshotMeta, after: SnapshotMeta): boolean {
  const { generated_at: _, ...left } = before;
  const { generated_at: __, ...right } = after;
  return stableStringify(left) === stableStringify(right);
}

function keepChecked(paths: SnapshotPaths, sha256: string | null, checkedAt: string): void {
  const draft = `${paths.checked}.new`;
  rmSync(draft, { force: true });
  writeDurably(draft, `${JSON.stringify({ sha256, checked_at: checkedAt })}\n`);
  renameSync(draft, paths.checked);
}

function confirmed(folder: string, kind: SnapshotKind, meta: SnapshotMeta): SnapshotReading {
  const reading = readSnapshot(folder, kind);
  if (reading.state === 'ok' && reading.meta.sha256 === meta.sha256) return reading;
  throw refusal('SNAPSHOT_INVALID', `${kind} was written but does not read back as written. Refresh it again.`, {
    kind,
    state: reading.state,
  });
}
