import { sql } from 'kysely';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Database } from '../../src/database/index.ts';
import { getFlow, listFlows } from '../../src/flows/index.ts';
import { addFlows, EVERY_SCOPE, makeVault } from '../data-integrity/library.ts';
import { onEachDatabase, type TestStore } from '../support/databases.ts';
import { sampleFlow } from '../support/flows.ts';
import { fillVault } from './many-flows.ts';
import { compareFairly, describeComparison } from './measure.ts';

const LIMIT = 1.5;
const ROUNDS = 150;
const STATES = 100;
const ALL = { visibleScopes: EVERY_SCOPE };

const run = (at: number): string =>
  JSON.stringify({
    schema: 'knowtation.flow_run/v0',
    run_id: `run_${at}`,
    flow_id: 'flow_asked',
    flow_version: '1.0.0',
    step_states: Array.from({ length: STATES }, (_, state) => ({
      step_id: `flow_asked#${state + 1}`,
      status: 'done',
      evidence_ref: `proposal:${at}`,
      verified: true,
    })),
  });

onEachDatabase((engine, makeStore) => {
  let store: TestStore;
  let database: Database;

  /** A vault with one flow of 100 steps and so many runs of it. */
  const vaultWithRuns = async (vaultId: string, runs: number): Promise<void> => {
    await makeVault(database, vaultId);
    await addFlows(database, [sampleFlow('flow_asked', { steps: STATES })], vaultId);
    for (let from = 0; from < runs; from += 250) {
      const rows = Array.from({ length: Math.min(250, runs - from) }, (_, at) => from + at).map((at) => {
        return { vault_id: vaultId, kind: 'runs' as const, position: at + 1, record_json: run(at) };
      });
      await database.queries.insertInto('flow_records').values(rows).execute();
    }
  };

  beforeAll(async () => {
    store = await makeStore();
    database = await store.open();
    await vaultWithRuns('without', 0);
    await vaultWithRuns('one', 1);
    await vaultWithRuns('many', 2_000);
    await fillVault(
      database,
      'crowd',
      Array.from({ length: 10_000 }, () => ({})),
    );
    await addFlows(database, [sampleFlow('flow_asked', { steps: STATES })], 'crowd');
    // A server of some age knows its tables; query-plan.test.ts sees to a young one.
    if (engine === 'postgres') await sql`analyze`.execute(database.queries);
  }, 120_000);

  afterAll(() => store?.remove());

  it.each([
    ['[S002-9.4-deep-runs] one run of 100 step states', 'one'],
    ['[S002-9.4-deep-runs] 2,000 such runs', 'many'],
    ['[S002-9.6-performance] 10,000 other flows', 'crowd'],
  ])('%s beside it do not slow get', async (_what, vault) => {
    const ask = (vaultId: string) => getFlow(database, vaultId, 'flow_asked', ALL);
    expect((await ask(vault))?.steps).toHaveLength(STATES);
    const comparison = await compareFairly(
      LIMIT,
      ROUNDS,
      () => ask(vault),
      () => ask('without'),
    );
    const message = describeComparison(`${engine}, get with ${vault}`, comparison);
    expect(comparison.ratio, message).toBeLessThanOrEqual(LIMIT);
  });

  it('[S002-9.4-deep-runs] nor do they slow list', async () => {
    const comparison = await compareFairly(
      LIMIT,
      ROUNDS,
      () => listFlows(database, 'many', ALL),
      () => listFlows(database, 'without', ALL),
    );
    expect(comparison.ratio, describeComparison(engine, comparison)).toBeLessThanOrEqual(LIMIT);
  });

  it('[S002-8.8-bounded] get costs in proportion to its steps, not to their square', async () => {
    await addFlows(database, [sampleFlow('flow_quarter', { steps: STATES / 4 })], 'without');
    const comparison = await compareFairly(
      4,
      ROUNDS,
      () => getFlow(database, 'without', 'flow_asked', ALL),
      () => getFlow(database, 'without', 'flow_quarter', ALL),
    );
    const message = describeComparison(`${engine}, 100 steps against 25`, comparison);
    expect(comparison.ratio, message).toBeLessThanOrEqual(4 * LIMIT);
  });
});
