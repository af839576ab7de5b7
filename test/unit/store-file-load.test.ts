import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  FLOW_STORE_FILENAME,
  getFlowStorePath,
  getVaultFlowStore,
  loadFlowStore,
  saveFlowStore,
} from '../../src/flows/index.ts';
import { tempFolder } from '../support/home.ts';

const EMPTY = { flows: [], steps: [], runs: [], candidates: [], projections: [] };

/** A folder whose store file holds this text. */
function folderWith(text: string | Uint8Array): string {
  const folder = tempFolder();
  writeFileSync(getFlowStorePath(folder), text);
  return folder;
}

function load(folder: string) {
  const damaged: { where: string; reason: string }[] = [];
  const store = loadFlowStore(folder, { onDamaged: (where, reason) => damaged.push({ where, reason }) });
  return { store, damaged };
}

const DAMAGED = [
  '',
  ' ',
  'not json',
  '{"vaults": {"default": {"flows": [',
  'null',
  '[]',
  '"vaults"',
  '{}',
  '{"vaults":null}',
  '{"vaults":[]}',
  '{"vaults":3}',
  '{"vaults":"x"}',
];

describe('[S002-1.2-load-never-throws] loading the store file', () => {
  it('that is not there gives an empty store and no report', () => {
    const folder = tempFolder();
    expect(load(folder)).toEqual({ store: { vaults: {} }, damaged: [] });
    expect(load(join(folder, 'no', 'such', 'folder'))).toEqual({ store: { vaults: {} }, damaged: [] });
    expect(readdirSync(folder)).toEqual([]);
  });

  it.each(DAMAGED)(
    '[S002-8.7-robust-load] that holds %j moves it aside, reports it and gives an empty store',
    (text) => {
      const folder = folderWith(text);
      const { store, damaged } = load(folder);
      expect(store).toEqual({ vaults: {} });
      expect(damaged).toEqual([{ where: expect.any(String), reason: expect.stringMatching(/./) }]);
      const where = damaged[0]?.where ?? '';
      expect(where.startsWith(`${getFlowStorePath(folder)}.damaged-`)).toBe(true);
      expect(readFileSync(where, 'utf8')).toBe(text);
      expect(existsSync(getFlowStorePath(folder))).toBe(false);
      expect(load(folder).damaged).toEqual([]);
    },
  );

  // Whatever bytes the file holds, loading answers with a store, and the bytes are still somewhere.
  it('[S002-8.7-robust-load] never throws and never loses a byte, whatever the file holds', () => {
    const folder = tempFolder();
    fc.assert(
      fc.property(
        fc.oneof(
          fc.uint8Array(),
          fc.json().map((text) => Buffer.from(text)),
        ),
        (bytes) => {
          writeFileSync(getFlowStorePath(folder), bytes);
          const { store, damaged } = load(folder);
          expect(Object.keys(store)).toEqual(['vaults']);
          expect(readFileSync(damaged[0]?.where ?? getFlowStorePath(folder))).toEqual(Buffer.from(bytes));
        },
      ),
      { numRuns: 60 },
    );
  });

  it('that is a folder leaves it alone and reports it', () => {
    const folder = tempFolder();
    mkdirSync(getFlowStorePath(folder));
    writeFileSync(join(getFlowStorePath(folder), 'inside'), 'x');
    const { store, damaged } = load(folder);
    expect(store).toEqual({ vaults: {} });
    expect(damaged).toEqual([{ where: getFlowStorePath(folder), reason: expect.stringContaining('EISDIR') }]);
    expect(readdirSync(folder)).toEqual([FLOW_STORE_FILENAME]);
  });

  it('below something that is no folder, or a link to itself, gives an empty store', () => {
    const folder = folderWith('{}');
    expect(load(getFlowStorePath(folder)).store).toEqual({ vaults: {} });
    const looped = tempFolder();
    symlinkSync(getFlowStorePath(looped), getFlowStorePath(looped));
    expect(load(looped).store).toEqual({ vaults: {} });
    expect(load('nul\u0000byte').store).toEqual({ vaults: {} });
  });

  it('that is sound leaves every byte of it alone', () => {
    const text = '{"vaults":{"default":{"flows":[{"flow_id":"flow_a"}]}}}   ';
    const folder = folderWith(text);
    expect(load(folder)).toEqual({
      store: { vaults: { default: { ...EMPTY, flows: [{ flow_id: 'flow_a' }] } } },
      damaged: [],
    });
    expect(readFileSync(getFlowStorePath(folder), 'utf8')).toBe(text);
    expect(readdirSync(folder)).toEqual([FLOW_STORE_FILENAME]);
  });
});

describe('[S002-1.2-vault-lists] a vault of the store file', () => {
  it('without an entry reads as five empty lists and writes nothing', () => {
    const folder = tempFolder();
    expect(getVaultFlowStore(folder, 'default')).toEqual(EMPTY);
    expect(readdirSync(folder)).toEqual([]);
  });

  it('has empty lists for what it lacks and for what is no list', () => {
    const folder = folderWith('{"vaults":{"a":{"runs":[1],"steps":"x"},"b":null,"c":[],"d":5}}');
    expect(getVaultFlowStore(folder, 'a')).toEqual({ ...EMPTY, runs: [1] });
    for (const id of ['b', 'c', 'd']) expect(getVaultFlowStore(folder, id)).toEqual(EMPTY);
  });

  it.each(['__proto__', 'constructor', 'toString', 'hasOwnProperty'])('named %s is a vault like any other', (id) => {
    const folder = tempFolder();
    expect(getVaultFlowStore(folder, id)).toEqual(EMPTY);
    writeFileSync(getFlowStorePath(folder), `{"vaults":{"${id}":{"flows":[{"flow_id":"flow_a"}],"polluted":true}}}`);
    expect(getVaultFlowStore(folder, id).flows).toEqual([{ flow_id: 'flow_a' }]);
    expect(getVaultFlowStore(folder, 'other')).toEqual(EMPTY);
    expect(({} as Record<string, unknown>).flows).toBeUndefined();
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
    const store = loadFlowStore(folder);
    expect(Object.keys(store.vaults)).toEqual([id]);
    saveFlowStore(folder, store);
    expect(getVaultFlowStore(folder, id).flows).toEqual([{ flow_id: 'flow_a' }]);
  });
});
