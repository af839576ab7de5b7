import { sql } from 'kysely';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Database } from '../../src/database/index.ts';
import { listFlows } from '../../src/flows/index.ts';
import type { Scope } from '../../src/operations/index.ts';
import { addFlows, EVERY_SCOPE, makeVault } from '../data-integrity/library.ts';
import { onEachDatabase, type TestStore } from '../support/databases.ts';
import { fillVault, numberedFlow } from './many-flows.ts';
import { compareFairly, describeComparison } from './measure.ts';

const SMALL = 400;
const LARGE = 10_000;
const LIMIT = 2;
const ROUNDS = 60;

const VIEWER: ReadonlySet<Scope> = new Set<Scope>(['personal']);
const repeat = <T>(count: number, make: (at: number) => T): T[] => Array.from({ length: count }, (_, at) => make(at));

/** Large libraries: all to be seen; nearly all invisible; nearly all of another tag; a few old ones below newer others. */
const LIBRARIES = {
  everything: repeat(LARGE, () => ({})),
  invisible: repeat(LARGE, (at) => (at % 50 === 0 ? {} : { scope: at % 2 ? ('org' as const) : ('project' as const) })),
  tagged: repeat(LARGE, (at) => (at % 50 === 0 ? {} : { tags: ['other'] })),
  buried: repeat(LARGE, (at) =>
    at < 200 ? {} : at % 2 ? { scope: 'org' as const, tags: ['other'] } : { tags: ['other'] },
  ),
};

const QUESTIONS = [
  ['everything', 'all that a viewer may see', { visibleScopes: VIEWER }],
  ['everything', 'every scope', { visibleScopes: EVERY_SCOPE }],
  ['everything', 'a tag', { visibleScopes: EVERY_SCOPE, tag: 'bench' }],
  ['invisible', 'all that a viewer may see', { visibleScopes: VIEWER }],
  ['invisible', 'one scope of three', { visibleScopes: EVERY_SCOPE, scope: 'personal' }],
  ['invisible', 'a tag', { visibleScopes: VIEWER, tag: 'bench' }],
  ['tagged', 'a tag', { visibleScopes: VIEWER, tag: 'bench' }],
  ['buried', 'a tag', { visibleScopes: VIEWER, tag: 'bench' }],
  ['buried', 'a tag in every scope', { visibleScopes: EVERY_SCOPE, tag: 'bench' }],
] as const;

onEachDatabase((engine, makeStore) => {
  let store: TestStore;
  let database: Database;

  beforeAll(async () => {
    store = await makeStore();
    database = await store.open();
    await fillVault(
      database,
      'small',
      repeat(SMALL, () => ({})),
    );
    for (const [name, kinds] of Object.entries(LIBRARIES)) await fillVault(database, name, kinds);
    // A server does this by itself, a little later.
    if (engine === 'postgres') await sql`analyze`.execute(database.queries);
  }, 120_000);

  afterAll(() => store?.remove());

  it.each(QUESTIONS)(
    '[S002-9.6-performance] [S002-8.8-bounded] in the library "%s", %s costs at most twice what it does with 400 flows',
    async (library, _what, options) => {
      const { flows } = await listFlows(database, library, options);
      expect(flows).toHaveLength(200);
      const comparison = await compareFairly(
        LIMIT,
        ROUNDS,
        () => listFlows(database, library, options),
        () => listFlows(database, 'small', options),
      );
      const message = describeComparison(`${engine}, ${library}`, comparison);
      expect(comparison.ratio, message).toBeLessThanOrEqual(LIMIT);
    },
  );

  it('[S002-8.8-bounded] a short list of a large library costs no more than the long one', async () => {
    const options = { visibleScopes: EVERY_SCOPE };
    const comparison = await compareFairly(
      1,
      ROUNDS,
      () => listFlows(database, 'everything', { ...options, limit: 5 }),
      () => listFlows(database, 'everything', options),
    );
    const message = describeComparison(`${engine}, 5 against 200`, comparison);
    expect(comparison.ratio, message).toBeLessThanOrEqual(1);
  });

  it('the rows that these measurements read are those that adding a flow writes', async () => {
    await makeVault(database, 'written');
    await addFlows(database, [numberedFlow(0)], 'written');
    const row = (vault: string) =>
      database.queries
        .selectFrom('flows')
        .select(['flow_id', 'version', 'scope', 'updated_ms', 'summary_json', 'retired_at'])
        .where('vault_id', '=', vault)
        .where('flow_id', '=', 'flow_n0')
        .executeTakeFirst();
    const tags = (vault: string) =>
      database.queries
        .selectFrom('flow_tags')
        .select(['tag', 'scope', 'updated_ms'])
        .where('vault_id', '=', vault)
        .where('flow_id', '=', 'flow_n0')
        .execute();
    expect([await row('small'), await tags('small')]).toEqual([await row('written'), await tags('written')]);
  });
});
