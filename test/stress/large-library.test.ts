import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Database } from '../../src/database/index.ts';
import { getFlow, listFlows, MAX_FLOW_SUMMARIES, MAX_STEPS_PER_FLOW } from '../../src/flows/index.ts';
import { addFlows, EVERY_SCOPE, makeVault, programOn } from '../data-integrity/library.ts';
import { onEachDatabase, type TestStore } from '../support/databases.ts';
import { sampleFlow } from '../support/flows.ts';
import { flowrightJson } from '../support/program.ts';

const ALL = { visibleScopes: EVERY_SCOPE };
const SCOPES = ['personal', 'project', 'org'] as const;
const numbered = (count: number, steps: number) =>
  Array.from({ length: count }, (_, at) =>
    sampleFlow(`flow_n${String(at).padStart(3, '0')}`, {
      steps,
      scope: SCOPES[at % 3] ?? 'org',
      tags: ['all', `t${at % 50}`],
      updated: new Date(Date.UTC(2026, 0, 1) + at * 1000).toISOString(),
    }),
  );

onEachDatabase((_engine, makeStore) => {
  let store: TestStore;
  let database: Database;

  beforeAll(async () => {
    store = await makeStore();
    database = await store.open();
    for (const vault of ['full', 'over', 'long']) await makeVault(database, vault);
    await addFlows(database, numbered(MAX_FLOW_SUMMARIES, MAX_STEPS_PER_FLOW), 'full');
    await addFlows(database, numbered(250, 1), 'over');
    await addFlows(
      database,
      [sampleFlow('flow_long', { steps: 105 }), sampleFlow('flow_full', { steps: 100 })],
      'long',
    );
  }, 180_000);

  afterAll(() => store?.remove());

  it('[S002-1.5-list-caps] 200 flows are listed whole and in order', async () => {
    const { flows, truncated } = await listFlows(database, 'full', ALL);
    const newestFirst = numbered(MAX_FLOW_SUMMARIES, 1)
      .map(({ flow }) => flow.flow_id)
      .reverse();
    expect([truncated, flows.map(({ flow_id }) => flow_id)]).toEqual([false, newestFirst]);
    expect(new Set(flows.map(({ step_count }) => step_count))).toEqual(new Set([MAX_STEPS_PER_FLOW]));
  });

  it('[S002-1.5-step-order] each of 200 flows gives its 100 steps in order', async () => {
    for (const { flow, steps } of numbered(MAX_FLOW_SUMMARIES, MAX_STEPS_PER_FLOW)) {
      const given = await getFlow(database, 'full', flow.flow_id, ALL);
      expect(JSON.stringify([given?.flow, given?.steps])).toBe(JSON.stringify([flow, steps]));
    }
  });

  it('[S002-1.5-list-caps] [S002-8.8-bounded] of 250 flows 200 are listed, marked as not all', async () => {
    const { flows, truncated } = await listFlows(database, 'over', ALL);
    expect([flows.length, truncated, flows[0]?.flow_id, flows.at(-1)?.flow_id]).toEqual([
      200,
      true,
      'flow_n249',
      'flow_n050',
    ]);
    const tagged = await listFlows(database, 'over', { ...ALL, tag: 'all' });
    expect([tagged.flows, tagged.truncated]).toEqual([flows, true]);
  });

  it.each([
    [{ limit: 250 }, 200, true],
    [{ limit: 1_000_000 }, 200, true],
    [{ limit: 200 }, 200, true],
    [{ limit: 199 }, 199, true],
    [{ limit: 1 }, 1, true],
    [{ scope: 'org' as const }, 83, false],
    [{ scope: 'org' as const, limit: 83 }, 83, false],
    [{ scope: 'org' as const, limit: 82 }, 82, true],
    [{ tag: 't7' }, 5, false],
    [{ tag: 't7', limit: 4 }, 4, true],
  ])('[S002-1.5-list-caps] %o gives %i and truncated %s', async (options, count, isCut) => {
    const { flows, truncated } = await listFlows(database, 'over', { ...ALL, ...options });
    expect([flows.length, truncated]).toEqual([count, isCut]);
  });

  it('[S002-1.5-step-order] a stored flow of 105 steps gives the first 100 and says so', async () => {
    const given = await getFlow(database, 'long', 'flow_long', ALL);
    expect([given?.steps.length, given?.flow.steps.length, given?.flow.truncated]).toEqual([100, 100, true]);
    expect(given?.steps.map(({ ordinal }) => ordinal)).toEqual(Array.from({ length: 100 }, (_, at) => at + 1));
    expect(given?.flow.steps).toEqual(given?.steps.map(({ step_id }) => step_id));
    const full = await getFlow(database, 'long', 'flow_full', ALL);
    expect([full?.steps.length, full?.flow.truncated]).toEqual([100, false]);
    const stored = await database.queries
      .selectFrom('flow_steps')
      .select('step_id')
      .where('vault_id', '=', 'long')
      .execute();
    expect(stored, 'nothing is cut in the store').toHaveLength(205);
  });

  it('[S002-1.5-list-caps] the command line gives the same 200 and 100', async () => {
    const ask = (...words: string[]) => flowrightJson<never>(words, programOn(store));
    expect(await ask('flow', 'list', '--vault', 'over')).toEqual(await listFlows(database, 'over', ALL));
    expect(await ask('flow', 'get', 'flow_long', '--vault', 'long')).toEqual(
      await getFlow(database, 'long', 'flow_long', ALL),
    );
  });
});
