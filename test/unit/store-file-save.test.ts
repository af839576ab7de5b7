import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  FLOW_STORE_FILENAME,
  type FlowStoreFile,
  getFlowStorePath,
  loadFlowStore,
  saveFlowStore,
} from '../../src/flows/index.ts';
import { sampleFlow } from '../support/flows.ts';
import { tempFolder } from '../support/home.ts';

const { flow, steps } = sampleFlow('flow_kept');
const STORE: FlowStoreFile = {
  vaults: {
    default: {
      flows: [flow],
      steps,
      runs: [{ run_id: 'run_1' }],
      candidates: [{ a: [1] }],
      projections: ['é😀\u0000'],
    },
    empty: { flows: [], steps: [], runs: [], candidates: [], projections: [] },
  },
};

describe('[S002-1.2-atomic-save] saving the store file', () => {
  it('makes the folder and leaves the file and nothing else', () => {
    const folder = join(tempFolder(), 'new', 'home');
    saveFlowStore(folder, STORE);
    expect(readdirSync(folder)).toEqual([FLOW_STORE_FILENAME]);
  });

  it('[S002-1.1-file-shape] writes the vaults as JSON with two spaces', () => {
    const folder = tempFolder();
    saveFlowStore(folder, STORE);
    const text = readFileSync(join(folder, 'hub_flow_store.json'), 'utf8');
    expect(text).toBe(`${JSON.stringify(STORE, null, 2)}\n`);
    expect(text).toMatch(/^\{\n {2}"vaults": \{\n {4}"default": \{\n {6}"flows": \[/);
    expect(Object.keys(JSON.parse(text).vaults.default)).toEqual([
      'flows',
      'steps',
      'runs',
      'candidates',
      'projections',
    ]);
  });

  it('keeps the file from other users of the machine', () => {
    const folder = tempFolder();
    saveFlowStore(folder, STORE);
    expect(statSync(getFlowStorePath(folder)).mode & 0o777).toBe(0o600);
  });

  it('replaces what was there', () => {
    const folder = tempFolder();
    saveFlowStore(folder, STORE);
    saveFlowStore(folder, { vaults: {} });
    expect(loadFlowStore(folder)).toEqual({ vaults: {} });
    expect(readdirSync(folder)).toEqual([FLOW_STORE_FILENAME]);
  });

  // What is saved is what is loaded, for any JSON in any list of any vault.
  it('[S002-1.1-file-shape] loses nothing on the way there and back', () => {
    const folder = tempFolder();
    const list = fc.array(fc.jsonValue({ noUnicodeString: false } as never), { maxLength: 3 });
    const vault = fc.record({ flows: list, steps: list, runs: list, candidates: list, projections: list });
    fc.assert(
      fc.property(fc.dictionary(fc.string(), vault, { maxKeys: 4 }), (vaults) => {
        const plain = JSON.parse(JSON.stringify(vaults)) as FlowStoreFile['vaults'];
        saveFlowStore(folder, { vaults: plain });
        expect(JSON.stringify(loadFlowStore(folder))).toBe(JSON.stringify({ vaults: plain }));
      }),
      { numRuns: 40 },
    );
  });
});

describe('[S002-8.7-robust-load] a save that cannot be done', () => {
  it('leaves the old file and no temporary one', () => {
    const folder = tempFolder();
    saveFlowStore(folder, STORE);
    const endless: FlowStoreFile = { vaults: {} };
    endless.vaults.loop = { flows: [endless], steps: [], runs: [], candidates: [], projections: [] };
    expect(() => saveFlowStore(folder, endless)).toThrow();
    expect(loadFlowStore(folder)).toEqual(STORE);
    expect(readdirSync(folder)).toEqual([FLOW_STORE_FILENAME]);
  });

  it('does not write over a folder of that name', () => {
    const folder = tempFolder();
    mkdirSync(getFlowStorePath(folder));
    writeFileSync(join(getFlowStorePath(folder), 'inside'), 'x');
    expect(() => saveFlowStore(folder, STORE)).toThrow('was not overwritten');
    expect(readdirSync(folder)).toEqual([FLOW_STORE_FILENAME]);
    expect(readdirSync(getFlowStorePath(folder))).toEqual(['inside']);
  });

  it('does not write over a damaged file but beside it', () => {
    const folder = tempFolder();
    writeFileSync(getFlowStorePath(folder), '{"vaults": {"precious');
    saveFlowStore(folder, STORE);
    const [file, kept, ...more] = readdirSync(folder).sort();
    expect([file, more]).toEqual([FLOW_STORE_FILENAME, []]);
    expect(readFileSync(join(folder, kept ?? ''), 'utf8')).toBe('{"vaults": {"precious');
    expect(loadFlowStore(folder)).toEqual(STORE);
  });

  it('that left a temporary file behind does not disturb the next', () => {
    const folder = tempFolder();
    writeFileSync(`${getFlowStorePath(folder)}.1.crashed.tmp`, '{"vaults": {"half');
    expect(loadFlowStore(folder)).toEqual({ vaults: {} });
    saveFlowStore(folder, STORE);
    expect(loadFlowStore(folder)).toEqual(STORE);
  });
});
