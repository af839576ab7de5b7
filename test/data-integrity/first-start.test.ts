import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { FLOW_STORE_FILENAME } from '../../src/flows/index.ts';
import { onEachDatabase } from '../support/databases.ts';
import { sampleFlow } from '../support/flows.ts';
import { flowright, flowrightJson, type ProgramOptions } from '../support/program.ts';
import { programOn, useStore } from './library.ts';
import { exportStore, storeFileText, vaultPart, writeStoreFile } from './store-files.ts';

const DAMAGED = '{"vaults": {"default": {"flows": [{"schema": "knowtation.fl';

const asideIn = (home: string): string[] => readdirSync(home).filter((name) => name.includes('.damaged-'));

async function flowIds(options: ProgramOptions, vault = 'default'): Promise<string[]> {
  const list = ['flow', 'list', '--vault', vault];
  const { flows } = await flowrightJson<{ flows: { flow_id: string }[] }>(list, options);
  return flows.map(({ flow_id }) => flow_id);
}

onEachDatabase((_engine, makeStore) => {
  it('[FLR-store-transfer] the first start takes over a store file in the home, and only once', async () => {
    const store = await useStore(makeStore);
    const options = programOn(store);
    const runs = [{ run_id: 'run_brought', odd: [1, null] }];
    writeStoreFile(store.home, { default: vaultPart([sampleFlow('flow_brought', { scope: 'org' })], { runs }) });
    const text = storeFileText(store.home);
    const first = await flowright(['flow', 'list', '--json'], options);
    expect(first.status).toBe(0);
    expect(first.stderr).toContain('1 flow versions, 1 other records');
    expect(await flowIds(options)).toContain('flow_brought');
    expect(await flowIds(options)).toHaveLength(7);
    expect((await flowright(['flow', 'list'], options)).stderr).toBe('');
    expect(storeFileText(store.home), 'the file itself is left as it was').toBe(text);
    writeStoreFile(store.home, { default: vaultPart([sampleFlow('flow_too_late')]) });
    expect(await flowIds(options)).not.toContain('flow_too_late');
    expect(JSON.parse(await exportStore('out', options)).vaults.default.runs).toEqual(runs);
  });

  it('[FLR-store-transfer] several first starts at once import the file once', async () => {
    const store = await useStore(makeStore);
    await store.open();
    const runs = Array.from({ length: 200 }, (_, at) => ({ run_id: `run_${at}` }));
    writeStoreFile(store.home, { default: vaultPart([], { runs }) });
    const options = programOn(store);
    const starts = await Promise.all(Array.from({ length: 4 }, () => flowright(['flow', 'list', '--json'], options)));
    expect(starts.map(({ status, stderr }) => [status, status === 0 ? '' : stderr])).toEqual(starts.map(() => [0, '']));
    expect(starts.filter(({ stderr }) => stderr.includes('was imported'))).toHaveLength(1);
    expect(JSON.parse(await exportStore('out', options)).vaults.default.runs).toEqual(runs);
  });

  it('[S002-8.7-robust-load] a damaged file is kept aside, reported, and the start goes on', async () => {
    const store = await useStore(makeStore);
    const options = programOn(store);
    writeFileSync(join(store.home, FLOW_STORE_FILENAME), DAMAGED);
    const first = await flowright(['flow', 'list', '--json'], options);
    expect(first.status).toBe(0);
    expect(JSON.parse(first.stdout).flows).toHaveLength(6);
    const [aside, ...others] = asideIn(store.home) as [string];
    expect(others).toEqual([]);
    expect(first.stderr).toContain('damaged');
    expect(first.stderr).toContain(aside);
    expect(readFileSync(join(store.home, aside), 'utf8')).toBe(DAMAGED);
    expect(readdirSync(store.home)).not.toContain(FLOW_STORE_FILENAME);
    const second = await flowright(['flow', 'list', '--json'], options);
    expect([second.stderr, second.stdout]).toEqual(['', first.stdout]);
    expect(readFileSync(join(store.home, aside), 'utf8')).toBe(DAMAGED);
  });

  it('[S002-8.7-robust-load] a mended file is taken over later, and two damaged ones are both kept', async () => {
    const store = await useStore(makeStore);
    const options = programOn(store);
    for (const text of [DAMAGED, '[]', '{"vaults": []}', '\u0000', 'null']) {
      writeFileSync(join(store.home, FLOW_STORE_FILENAME), text);
      expect((await flowright(['flow', 'list'], options)).status, text).toBe(0);
    }
    const kept = asideIn(store.home).map((name) => readFileSync(join(store.home, name), 'utf8'));
    expect(kept.sort()).toEqual([DAMAGED, '[]', '{"vaults": []}', '\u0000', 'null'].sort());
    writeStoreFile(store.home, { default: vaultPart([sampleFlow('flow_mended')]) });
    expect(await flowIds(options)).toContain('flow_mended');
  });

  it('[S002-8.7-robust-load] a folder in the place of the file is reported and left alone', async () => {
    const store = await useStore(makeStore);
    mkdirSync(join(store.home, FLOW_STORE_FILENAME));
    const { status, stderr, stdout } = await flowright(['flow', 'list', '--json'], programOn(store));
    expect([status, JSON.parse(stdout).flows.length]).toEqual([0, 6]);
    expect(stderr).toContain(FLOW_STORE_FILENAME);
    expect(readdirSync(store.home)).toContain(FLOW_STORE_FILENAME);
    rmSync(join(store.home, FLOW_STORE_FILENAME), { recursive: true });
  });

  it('[S002-9.7-injection] what the report quotes from the file cannot command the terminal', async () => {
    const store = await useStore(makeStore);
    const hostile = { ...sampleFlow('flow_x').flow, flow_id: 'flow_\u001b[2J\u0007\nerror: all is lost' };
    writeStoreFile(store.home, { default: vaultPart([], { flows: [hostile] }) });
    const { status, stderr } = await flowright(['flow', 'list', '--json'], programOn(store));
    expect(status).toBe(0);
    expect(stderr).toContain('quarantine');
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not be there
    expect(stderr).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/);
    expect(stderr).not.toMatch(/^error: all is lost/m);
  });
});
