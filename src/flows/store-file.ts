import { randomUUID } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { syncFolder, writeDurably } from '../home/index.ts';

/** The single-file store of the contract. It lives on at the edges: imported once, exported on request. */
export const FLOW_STORE_FILENAME = 'hub_flow_store.json';

export const RECORD_KINDS = ['runs', 'candidates', 'projections'] as const;

export interface VaultFlowStore {
  flows: unknown[];
  steps: unknown[];
  runs: unknown[];
  candidates: unknown[];
  projections: unknown[];
}

export interface FlowStoreFile {
  vaults: Record<string, VaultFlowStore>;
}

export interface LoadReport {
  /** Called for a file that could not be used: where it is now, and what was wrong with it. */
  onDamaged?(quarantine: string, reason: string): void;
}

export function getFlowStorePath(dataDir: string): string {
  return join(dataDir, FLOW_STORE_FILENAME);
}

/**
 * Reads the store and never throws. A missing file is an empty store; so is a damaged one, but that is first moved
 * aside, so that nothing written afterwards can take its place.
 */
export function loadFlowStore(dataDir: string, report: LoadReport = {}): FlowStoreFile {
  const path = getFlowStorePath(dataDir);
  const found = readStore(path);
  if (found.state === 'sound') return found.store;
  if (found.state === 'damaged') report.onDamaged?.(setAside(path) ?? path, found.reason);
  if (found.state === 'unreadable') report.onDamaged?.(path, found.reason);
  return emptyStore();
}

/** Writes the whole store at once: a temporary file, fsync, rename. A damaged file at that place is moved aside first. */
export function saveFlowStore(dataDir: string, store: FlowStoreFile): void {
  const path = getFlowStorePath(dataDir);
  mkdirSync(dataDir, { recursive: true });
  const { state } = readStore(path);
  if (state === 'unreadable' || (state === 'damaged' && !setAside(path))) {
    throw new Error(`${path} holds something that cannot be read or moved aside; it was not overwritten`);
  }
  const draft = `${path}.${process.pid}.${randomUUID()}.tmp`;
  try {
    writeDurably(draft, `${JSON.stringify(store, null, 2)}\n`);
    renameSync(draft, path);
    syncFolder(dirname(path));
  } finally {
    rmSync(draft, { force: true });
  }
}

/** A vault's part of the file, with empty lists where it has none. */
export function getVaultFlowStore(dataDir: string, vaultId: string): VaultFlowStore {
  const { vaults } = loadFlowStore(dataDir);
  return withLists(Object.hasOwn(vaults, vaultId) ? vaults[vaultId] : undefined);
}

function withLists(vault: unknown): VaultFlowStore {
  const record = (vault !== null && typeof vault === 'object' ? vault : {}) as Record<string, unknown>;
  const list = (key: string): unknown[] => (Array.isArray(record[key]) ? (record[key] as unknown[]) : []);
  return {
    flows: list('flows'),
    steps: list('steps'),
    runs: list('runs'),
    candidates: list('candidates'),
    projections: list('projections'),
  };
}

function emptyStore(): FlowStoreFile {
  return { vaults: Object.create(null) as Record<string, VaultFlowStore> };
}

type Found =
  | { state: 'missing' }
  | { state: 'unreadable' | 'damaged'; reason: string }
  | { state: 'sound'; store: FlowStoreFile };

function readStore(path: string): Found {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    return code === 'ENOENT' ? { state: 'missing' } : { state: 'unreadable', reason: message };
  }
  try {
    const parsed = JSON.parse(text) as { vaults?: unknown } | null;
    const vaults = parsed?.vaults;
    if (vaults === null || typeof vaults !== 'object' || Array.isArray(vaults)) {
      return { state: 'damaged', reason: 'it has no "vaults" object' };
    }
    const store = emptyStore();
    for (const [vaultId, vault] of Object.entries(vaults)) store.vaults[vaultId] = withLists(vault);
    return { state: 'sound', store };
  } catch (error) {
    return { state: 'damaged', reason: (error as Error).message };
  }
}

function setAside(path: string): string | null {
  const quarantine = `${path}.damaged-${new Date().toISOString().replaceAll(':', '-')}-${randomUUID().slice(0, 8)}`;
  try {
    renameSync(path, quarantine);
    return quarantine;
  } catch {
    return null;
  }
}
