import { readdirSync } from 'node:fs';
import { describe, expect, it, vi } from 'vitest';
import { FLOW_STORE_FILENAME, type FlowStoreFile, loadFlowStore, saveFlowStore } from '../../src/flows/index.ts';
import { tempFolder } from '../support/home.ts';

/** Bytes the pretended disk still takes; null for a disk with room. */
const disk = vi.hoisted(() => ({ room: null as number | null }));

// A disk that fills up takes the bytes it has room for and says how many; only the next write is told that it is full.
vi.mock('node:fs', async (original) => {
  const fs = await original<typeof import('node:fs')>();
  const writeSync = (file: number, data: string | NodeJS.ArrayBufferView, offset?: number, length?: number): number => {
    const whole =
      typeof data === 'string' ? Buffer.from(data) : Buffer.from(data.buffer, data.byteOffset, data.byteLength);
    const from = typeof data === 'string' ? 0 : (offset ?? 0);
    const bytes = whole.subarray(from, typeof data === 'string' ? undefined : from + (length ?? whole.length));
    if (disk.room === null) return fs.writeSync(file, bytes);
    if (disk.room === 0) throw Object.assign(new Error('ENOSPC: no space left on device'), { code: 'ENOSPC' });
    const taken = fs.writeSync(file, bytes.subarray(0, disk.room));
    disk.room -= taken;
    return taken;
  };
  return { ...fs, default: { ...fs, writeSync }, writeSync };
});

function storeOf(size: number): FlowStoreFile {
  const runs = Array.from({ length: size }, (_, at) => ({ run_id: `run_${at}` }));
  return { vaults: { default: { flows: [], steps: [], runs, candidates: [], projections: [] } } };
}

describe('[S002-8.7-robust-load] a disk that fills up during a save', () => {
  it('never leaves half a store in the place of a whole one', () => {
    const folder = tempFolder();
    saveFlowStore(folder, storeOf(1));
    disk.room = 100;
    let saved = true;
    try {
      saveFlowStore(folder, storeOf(50));
    } catch {
      saved = false;
    } finally {
      disk.room = null;
    }
    expect(loadFlowStore(folder)).toEqual(storeOf(saved ? 50 : 1));
    expect(readdirSync(folder)).toEqual([FLOW_STORE_FILENAME]);
  });
});
