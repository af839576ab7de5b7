import { execFile } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { FLOW_STORE_FILENAME } from '../../src/flows/index.ts';
import { makeStore as makeStoreOn, onEachDatabase } from '../support/databases.ts';
import { sampleFlow } from '../support/flows.ts';
import { flowright, MAIN, programEnv } from '../support/program.ts';
import { programOn, useStore } from './library.ts';
import { CANDIDATES, FALSE_RUNS, oldStore, PROJECTIONS, RUNS, SOUND } from './old-store.ts';
import { exportStore, importStore, storeFileText, type VaultPart, vaultPart, writeStoreFile } from './store-files.ts';

interface StoreFile {
  vaults: Record<string, VaultPart>;
}

onEachDatabase((_engine, makeStore) => {
  it('[FLR-store-transfer] [S002-1.1-file-shape] an export holds every version and every record as it came', async () => {
    const store = await useStore(makeStore);
    const options = programOn(store);
    await importStore(writeStoreFile(join(store.home, 'in'), oldStore()), options);
    const { vaults } = JSON.parse(await exportStore('out', options)) as StoreFile;
    expect(Object.keys(vaults)).toEqual(['default', 'empty', 'old']);
    expect(vaults.empty).toEqual({ flows: [], steps: [], runs: [], candidates: [], projections: [] });
    const { flows, steps, runs, candidates, projections } = vaults.old as VaultPart;
    expect(runs).toEqual(RUNS);
    expect(candidates).toEqual(CANDIDATES);
    expect(projections).toEqual(PROJECTIONS);
    const byVersion = (list: { flow_id?: unknown; version?: unknown }[]) =>
      list.map((flow) => JSON.stringify(flow)).sort();
    expect(byVersion(flows)).toEqual(byVersion(SOUND.map(({ flow }) => flow)));
    for (const { flow } of SOUND) {
      const own = steps.filter((step) => step.flow_id === flow.flow_id && step.flow_version === flow.version);
      expect(
        own.map(({ step_id }) => step_id),
        `${flow.flow_id} ${flow.version}`,
      ).toEqual(flow.steps);
    }
    expect(steps).toHaveLength(SOUND.reduce((sum, { flow }) => sum + flow.steps.length, 0));
  });

  it('[FLR-store-transfer] an export that another home imports is exported there as the same bytes', async () => {
    const [first, second] = [await useStore(makeStore), await useStore(makeStore)];
    await importStore(writeStoreFile(join(first.home, 'in'), oldStore()), programOn(first));
    await flowright(['flow', 'list'], programOn(first));
    const exported = await exportStore('out', programOn(first));
    expect(JSON.parse(exported).vaults.default.flows).toHaveLength(6);
    const report = await importStore(join(first.home, 'out'), programOn(second));
    expect(report.quarantined).toEqual([]);
    expect(await exportStore('out', programOn(second))).toBe(exported);
  });

  it('[S002-9.5-run-invariant] a run step done without its required proof is never exported', async () => {
    const store = await useStore(makeStore);
    await importStore(writeStoreFile(join(store.home, 'in'), oldStore()), programOn(store));
    const text = await exportStore('out', programOn(store));
    for (const { run_id } of FALSE_RUNS) expect(text).not.toContain(run_id);
    expect(text).toContain('run_z_first');
  });

  it('[S002-9.5-run-invariant] nor one whose flow the library had before the file came', async () => {
    const store = await useStore(makeStore);
    const options = programOn(store);
    await flowright(['flow', 'list'], options);
    const false_run = {
      run_id: 'run_of_a_starter',
      flow_id: 'flow_overseer_handover',
      flow_version: '0.1.0',
      step_states: [{ step_id: 'flow_overseer_handover#1', status: 'done', evidence_ref: null, verified: false }],
    };
    const folder = writeStoreFile(join(store.home, 'in'), { default: vaultPart([], { runs: [false_run] }) });
    expect((await importStore(folder, options)).quarantined).toHaveLength(1);
    expect(await exportStore('out', options)).not.toContain('run_of_a_starter');
  });

  it('[FLR-store-transfer] records that repeat each other in a file are all kept', async () => {
    const store = await useStore(makeStore);
    const twice = { note: 'the same thing observed twice' };
    const part = vaultPart([], { candidates: [twice, { note: 'between' }, twice] });
    await importStore(writeStoreFile(join(store.home, 'in'), { default: part }), programOn(store));
    const { vaults } = JSON.parse(await exportStore('out', programOn(store))) as StoreFile;
    expect(vaults.default?.candidates).toEqual(part.candidates);
  });
});

describe('[S002-8.7-robust-load] [S002-1.2-atomic-save] an export', () => {
  const exportInto = async (folder: string, options: { home: string }, blocks: string) =>
    promisify(execFile)(
      'bash',
      ['-c', `ulimit -f ${blocks}; exec "$0" "$@"`, process.execPath, MAIN, 'flow', 'store', 'export', folder],
      { env: programEnv(options) },
    ).then(
      () => 0,
      (error: { code?: number; signal?: string }) => error.code ?? error.signal,
    );

  it('that the disk cuts short fails, and leaves the file of before', async () => {
    const store = await useStore(() => makeStoreOn('sqlite'));
    const options = programOn(store);
    const bundles = Array.from({ length: 60 }, (_, at) => sampleFlow(`flow_n${at}`, { steps: 10 }));
    await importStore(writeStoreFile(join(store.home, 'in'), { default: vaultPart(bundles) }), options);
    const folder = join(store.home, 'out');
    expect(await exportInto(folder, options, 'unlimited')).toBe(0);
    const before = storeFileText(folder);
    expect(before.length).toBeGreaterThan(300_000);
    expect(await exportInto(folder, options, '100'), 'the end of an export that could not be written').not.toBe(0);
    expect(storeFileText(folder) === before, 'the file is the one of before').toBe(true);
    expect(readdirSync(folder)).toEqual([FLOW_STORE_FILENAME]);
  });

  it('moves a damaged file at its place aside instead of writing over it', async () => {
    const store = await useStore(() => makeStoreOn('sqlite'));
    const folder = join(store.home, 'out');
    await exportStore('out', programOn(store));
    writeFileSync(join(folder, FLOW_STORE_FILENAME), '{"vaults": {"precious": ');
    await exportStore('out', programOn(store));
    const aside = readdirSync(folder).find((name) => name.includes('damaged'));
    expect(readFileSync(join(folder, aside ?? ''), 'utf8')).toBe('{"vaults": {"precious": ');
    expect(JSON.parse(storeFileText(folder))).toHaveProperty('vaults.default');
  });
});
