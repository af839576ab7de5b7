import { readdirSync } from 'node:fs';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { FLOW_STORE_FILENAME, type FlowStoreFile, loadFlowStore, saveFlowStore } from '../../src/flows/index.ts';
import { tempFolder } from '../support/home.ts';

/** A disk that may have little room left, or may fail to rename. */
const disk = vi.hoisted(() => ({ room: Number.POSITIVE_INFINITY, renames: true }));

vi.mock('node:fs', async (original) => {
  const fs = await original<typeof import('node:fs')>();
  const full = () => Object.assign(new Error('ENOSPC: no space left on device'), { code: 'ENOSPC' });
  // A disk that fills up takes what it has room for and says how much; only the next write is told that it is full.
  const writeSync = (file: number, data: string | Uint8Array, offset = 0, length?: number): number => {
    if (disk.room === 0) throw full();
    const whole = Buffer.from(data as Uint8Array);
    const bytes = typeof data === 'string' ? whole : whole.subarray(offset, length && offset + length);
    const taken = fs.writeSync(file, bytes.subarray(0, disk.room));
    disk.room -= taken;
    return taken;
  };
  const writeFileSync: typeof fs.writeFileSync = (file, data, options) => {
    if (Buffer.byteLength(data as string) > disk.room) throw full();
    fs.writeFileSync(file, data, options);
  };
  const renameSync: typeof fs.renameSync = (from, to) => {
    if (!disk.renames) throw Object.assign(new Error('EIO: i/o error, rename'), { code: 'EIO' });
    fs.renameSync(from, to);
  };
  return { ...fs, writeSync, writeFileSync, renameSync };
});

function storeOf(size: number): FlowStoreFile {
  const runs = Array.from({ length: size }, (_, at) => ({ run_id: `run_${at}` }));
  return { vaults: { default: { flows: [], steps: [], runs, candidates: [], projections: [] } } };
}

function isSaved(folder: string, store: FlowStoreFile): boolean {
  try {
    saveFlowStore(folder, store);
    return true;
  } catch {
    return false;
  }
}

describe('[S002-8.7-robust-load] a disk that fails during a save', () => {
  beforeEach(() => {
    Object.assign(disk, { room: Number.POSITIVE_INFINITY, renames: true });
  });

  it.each([0, 100])('with room for %i bytes never leaves half a store in the place of a whole one', (room) => {
    const folder = tempFolder();
    saveFlowStore(folder, storeOf(1));
    disk.room = room;
    const size = isSaved(folder, storeOf(50)) ? 50 : 1;
    expect(loadFlowStore(folder).vaults.default?.runs.length).toBe(size);
    expect(readdirSync(folder)).toEqual([FLOW_STORE_FILENAME]);
  });

  it('[S002-1.2-atomic-save] to rename leaves the old store and no temporary file', () => {
    const folder = tempFolder();
    saveFlowStore(folder, storeOf(1));
    disk.renames = false;
    expect(isSaved(folder, storeOf(50))).toBe(false);
    expect(loadFlowStore(folder)).toEqual(storeOf(1));
    expect(readdirSync(folder)).toEqual([FLOW_STORE_FILENAME]);
  });

  it('and then works again saves again', () => {
    const folder = tempFolder();
    disk.room = 0;
    expect(isSaved(folder, storeOf(50))).toBe(false);
    disk.room = Number.POSITIVE_INFINITY;
    saveFlowStore(folder, storeOf(50));
    expect(loadFlowStore(folder)).toEqual(storeOf(50));
  });
});
