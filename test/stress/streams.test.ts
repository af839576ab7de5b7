import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { readEvents } from '../../src/database/index.ts';
import { programOn, useStore } from '../data-integrity/library.ts';
import { importStore, vaultPart, writeStoreFile } from '../data-integrity/store-files.ts';
import { onEachDatabase } from '../support/databases.ts';
import { sampleFlow } from '../support/flows.ts';

const LOADER = fileURLToPath(new URL('./typescript.mjs', import.meta.url));
const APPENDER = fileURLToPath(new URL('./append-events.ts', import.meta.url));
const counting = (length: number): number[] => Array.from({ length }, (_, at) => at + 1);

onEachDatabase((_engine, makeStore) => {
  it('[FLR-outbox-sequence] 40 transactions of 4 processes on one stream leave no gap and no repeat', async () => {
    const store = await useStore(makeStore);
    const database = await store.open();
    const args = ['--import', LOADER, APPENDER];
    const target = [store.databaseUrl ?? '', join(store.home, 'flowright.db'), '10'];
    const run = promisify(execFile);
    const finished = await Promise.all(counting(4).map(() => run(process.execPath, [...args, ...target])));
    const committed = finished.flatMap(({ stdout }) => JSON.parse(stdout) as number[]);
    // Of ten transactions two fail; the eight others append eleven events (0, 3 and 6 two each).
    expect(committed.sort((a, b) => a - b)).toEqual(counting(4 * 11));
    const { events, last_sequence } = await readEvents(database.queries, 'busy', 0, 1_000);
    expect(events.map(({ sequence }) => sequence)).toEqual(counting(44));
    expect(last_sequence).toBe(44);
    expect(new Set(events.map(({ payload }) => payload.pid)).size).toBe(4);
  });

  it('[FLR-outbox-sequence] imports of 8 processes into one vault are told of in one unbroken stream', async () => {
    const store = await useStore(makeStore);
    await store.open();
    const imports = counting(8).map((n) => {
      const bundles = counting(5).map((at) => sampleFlow(`flow_p${n}_${at}`));
      return importStore(
        writeStoreFile(join(store.home, `in-${n}`), { default: vaultPart(bundles) }),
        programOn(store),
      );
    });
    expect((await Promise.all(imports)).map(({ flows }) => flows)).toEqual(counting(8).map(() => 5));
    const database = await store.open();
    const { events } = await readEvents(database.queries, 'vault:default', 0, 1_000);
    expect(events.map(({ sequence }) => sequence)).toEqual(counting(40));
    expect(new Set(events.map(({ payload }) => payload.flow_id)).size).toBe(40);
    const audit = await database.queries.selectFrom('audit').select('sequence').orderBy('sequence').execute();
    expect(audit.map(({ sequence }) => sequence)).toEqual(counting(8));
  });
});
