import { spawn } from 'node:child_process';
import { join } from 'node:path';
import BetterSqlite3 from 'better-sqlite3';
import { expect, it } from 'vitest';
import { onEachDatabase, type TestStore } from '../support/databases.ts';
import { sampleFlow } from '../support/flows.ts';
import { flowright, flowrightJson, MAIN, type ProgramOptions, programEnv } from '../support/program.ts';
import { programOn, useStore } from './library.ts';
import { exportStore, importStore, vaultPart, writeStoreFile } from './store-files.ts';

const FLOWS = 300;
const KILLS = process.env.CRASH_STEPS === 'all' ? 12 : 4;

/** Starts the import and kills it, with no chance to clean up, after the delay. True when it had ended by itself. */
function importKilledAfter(delay: number, folder: string, options: ProgramOptions): Promise<boolean> {
  return new Promise((done, fail) => {
    const args = [MAIN, 'flow', 'store', 'import', folder, '--json'];
    const child = spawn(process.execPath, args, { env: programEnv(options), stdio: 'ignore' });
    const timer = setTimeout(() => child.kill('SIGKILL'), delay);
    child.once('error', fail);
    child.once('exit', (code) => {
      clearTimeout(timer);
      done(code === 0);
    });
  });
}

/** How much of the file is in the store, counted in every table that an import writes. */
async function contents(store: TestStore): Promise<Record<string, number>> {
  const database = await store.open();
  const count = async (table: 'flows' | 'flow_versions' | 'flow_steps' | 'flow_records') => {
    const query = database.queries.selectFrom(table).select(({ fn }) => fn.countAll<number>().as('rows'));
    return Number((await query.where('vault_id', '=', 'large').executeTakeFirstOrThrow()).rows);
  };
  const stream = await database.queries
    .selectFrom('streams')
    .select('last_sequence')
    .where('stream', '=', 'vault:large')
    .executeTakeFirst();
  const audited = await database.queries.selectFrom('audit').select('sequence').execute();
  const counts = {
    flows: await count('flows'),
    versions: await count('flow_versions'),
    steps: await count('flow_steps'),
    records: await count('flow_records'),
    events: stream?.last_sequence ?? 0,
    audited: audited.length,
  };
  await database.close();
  return counts;
}

const NOTHING = { flows: 0, versions: 0, steps: 0, records: 0, events: 0, audited: 0 };
const ALL = { flows: FLOWS, versions: FLOWS, steps: 3 * FLOWS, records: 50, events: FLOWS, audited: 1 };

onEachDatabase((engine, makeStore) => {
  it('[S002-8.7-robust-load] an import that is killed has happened or has not, and never in part', async () => {
    const bundles = Array.from({ length: FLOWS }, (_, at) => sampleFlow(`flow_l${at}`, { steps: 3 }));
    const runs = Array.from({ length: 50 }, (_, at) => ({ run_id: `run_${at}` }));
    const part = vaultPart(bundles, { runs });
    const whole = await useStore(makeStore);
    const folder = writeStoreFile(join(whole.home, 'in'), { large: part });
    const start = performance.now();
    await importStore(folder, programOn(whole));
    const took = performance.now() - start;
    const outcomes: string[] = [];
    for (let kill = 0; kill < KILLS; kill += 1) {
      const store = await useStore(makeStore);
      const options = programOn(store);
      await flowright(['flow', 'list'], options);
      const ended = await importKilledAfter((took * (kill + 1.5)) / (KILLS + 1), folder, options);
      const after = await contents(store);
      expect([NOTHING, ALL], `killed at ${kill + 1} of ${KILLS}`).toContainEqual(after);
      if (ended) expect(after).toEqual(ALL);
      outcomes.push(after.flows === 0 ? 'before' : 'after');
      if (engine === 'sqlite') expectSound(store);
      const list = await flowrightJson<{ flows: unknown[] }>(['flow', 'list'], options);
      expect(list.flows, 'the store opens and answers').toHaveLength(6);
      if (after.flows === 0 && kill % 3 === 2) {
        expect((await importStore(folder, options)).flows, 'the import can be repeated').toBe(FLOWS);
        const again = JSON.parse(await exportStore('out', options)).vaults.large;
        expect([again.flows.length, again.runs]).toEqual([FLOWS, runs]);
      }
    }
    expect(outcomes, 'at least one import was really interrupted').toContain('before');
  }, 240_000);
});

function expectSound(store: TestStore): void {
  const file = new BetterSqlite3(join(store.home, 'flowright.db'));
  expect(file.pragma('integrity_check', { simple: true })).toBe('ok');
  expect(file.pragma('foreign_key_check')).toEqual([]);
  file.close();
}
