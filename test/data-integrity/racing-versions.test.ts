import { describe, expect, it } from 'vitest';
import type { Database } from '../../src/database/index.ts';
import { addVersion } from '../../src/flows/flow-store.ts';
import { type FlowBundle, getFlow, listFlows } from '../../src/flows/index.ts';
import { systemClock } from '../../src/kernel/clock.ts';
import { makeStore, onEachDatabase } from '../support/databases.ts';
import { sampleFlow } from '../support/flows.ts';
import { addFlows, EVERY_SCOPE, makeVault, useLibrary, useStore, VAULT } from './library.ts';

/** Time for a second writer to run into whatever makes it wait; too short can only hide a fault, never make one. */
const HEAD_START_MS = 150;

const headStart = (): Promise<void> => new Promise((go) => setTimeout(go, HEAD_START_MS));
const add = (database: Database, trx: Parameters<typeof addVersion>[0], bundle: FlowBundle): Promise<boolean> =>
  addVersion(trx, database.dialect, systemClock, VAULT, bundle);

// SQLite has one writer at a time, so the exact interleavings below can only be made on PostgreSQL.
describe('two transactions on PostgreSQL', () => {
  const twoWriters = async (): Promise<[Database, Database]> => {
    const store = await useStore(() => makeStore('postgres'));
    const pair: [Database, Database] = [await store.open(), await store.open()];
    await makeVault(pair[0], VAULT);
    return pair;
  };

  it.each([true, false])('[S002-2.1-latest] leave the greater version as latest (one before them: %s)', async (old) => {
    const [one, two] = await twoWriters();
    if (old) await addFlows(one, [sampleFlow('flow_raced', { version: '1.0.0' })]);
    const greater = sampleFlow('flow_raced', { version: '1.2.0', tags: ['greater'] });
    const second: Promise<unknown>[] = [];
    await one.transaction(async (trx) => {
      await add(one, trx, greater);
      second.push(two.transaction((other) => add(two, other, sampleFlow('flow_raced', { version: '1.1.0' }))));
      await headStart();
    });
    await Promise.all(second);
    expect((await getFlow(one, VAULT, 'flow_raced', {}))?.flow.version).toBe('1.2.0');
    const tagged = await listFlows(one, VAULT, { visibleScopes: EVERY_SCOPE, tag: 'greater' });
    expect(tagged.flows.map(({ version }) => version)).toEqual(['1.2.0']);
  });

  it('[S002-1.4-seed-idempotent] that add the same flows in opposite order both finish', async () => {
    const [one, two] = await twoWriters();
    const [a, b] = [sampleFlow('flow_a'), sampleFlow('flow_b')];
    const second: Promise<PromiseSettledResult<unknown>[]>[] = [];
    const first = one.transaction(async (trx) => {
      await add(one, trx, a);
      const opposite = two.transaction(async (other) => [await add(two, other, b), await add(two, other, a)]);
      second.push(Promise.allSettled([opposite]));
      await headStart();
      await add(one, trx, b);
    });
    const outcomes = [...(await Promise.allSettled([first])), ...(await Promise.all(second)).flat()];
    const reasons = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [String(outcome.reason)] : []));
    expect(reasons).toEqual([]);
    const { flows } = await listFlows(one, VAULT, {});
    expect(flows.map(({ flow_id }) => flow_id)).toEqual(['flow_a', 'flow_b']);
  });
});

onEachDatabase((_engine, make) => {
  it('[S002-2.1-latest] versions added by many tasks at once end with the greatest as latest', async () => {
    const database = await useLibrary(make);
    const versions = Array.from({ length: 24 }, (_, at) => `1.${(at * 7) % 24}.0`);
    await Promise.all(versions.map((version) => addFlows(database, [sampleFlow('flow_busy', { version })])));
    expect((await getFlow(database, VAULT, 'flow_busy', {}))?.flow.version).toBe('1.23.0');
    const stored = await database.queries.selectFrom('flow_versions').select('version').execute();
    expect(stored).toHaveLength(24);
  });
});
