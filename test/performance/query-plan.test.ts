import { expect, it } from 'vitest';
import type { Database } from '../../src/database/index.ts';
import { getFlow, listFlows } from '../../src/flows/index.ts';
import { addFlows, EVERY_SCOPE, useStore } from '../data-integrity/library.ts';
import { makeStore, type TestStore } from '../support/databases.ts';
import { sampleFlow } from '../support/flows.ts';
import { fillVault } from './many-flows.ts';
import { type Ask, postgresPlans, sqlitePlans } from './plans.ts';

const ALL = { visibleScopes: EVERY_SCOPE };
const get: Ask = (database) => getFlow(database, 'v', 'flow_asked', ALL);

async function fill(store: TestStore): Promise<Database> {
  const database = await store.open();
  const kinds = Array.from({ length: 2_000 }, (_, at) => (at % 2 ? {} : { scope: 'org' as const }));
  await fillVault(database, 'v', kinds);
  await addFlows(database, [sampleFlow('flow_asked')], 'v');
  return database;
}

it.each<[string, Ask]>([
  ['a list', (database) => listFlows(database, 'v', ALL)],
  ['a list of one scope', (database) => listFlows(database, 'v', { ...ALL, scope: 'org' })],
  ['a list of a tag', (database) => listFlows(database, 'v', { ...ALL, tag: 'bench' })],
  ['a list of a tag in one scope', (database) => listFlows(database, 'v', { tag: 'bench', limit: 3 })],
  ['a get', get],
])('[S002-8.8-bounded] on SQLite %s reads ranges of indexes in order: no scan, no sort', async (_what, ask) => {
  const store = await useStore(() => makeStore('sqlite'));
  const plans = await sqlitePlans(store, await fill(store), ask);
  expect(plans).not.toEqual([]);
  for (const detail of plans.flat()) {
    expect(detail).not.toMatch(/^SCAN (flows|tagged|flow_\w+)\b/);
    expect(detail).not.toMatch(/TEMP B-TREE/);
  }
  expect(plans.every((plan) => plan.some((detail) => /^SEARCH .* USING .*INDEX/.test(detail)))).toBe(true);
});

it('[S002-8.8-bounded] on a PostgreSQL that knows nothing of its tables yet, get finds its flow by its id', async () => {
  const store = await useStore(() => makeStore('postgres'));
  const plans = await postgresPlans(await fill(store), get);
  expect(plans).toHaveLength(3);
  // An index that begins with scope and time would be walked through for the whole vault.
  for (const plan of plans) {
    expect(plan).not.toContain('flows_by_scope');
    expect(plan).not.toContain('Seq Scan');
  }
});
