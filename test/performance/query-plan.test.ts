import { join } from 'node:path';
import BetterSqlite3 from 'better-sqlite3';
import type { RootOperationNode } from 'kysely';
import { expect, it } from 'vitest';
import type { Database } from '../../src/database/index.ts';
import { getFlow, listFlows } from '../../src/flows/index.ts';
import { EVERY_SCOPE, useStore } from '../data-integrity/library.ts';
import { makeStore } from '../support/databases.ts';
import { fillVault } from './many-flows.ts';

/** The database, and every statement that was run on it. */
function overheard(database: Database): { database: Database; statements(): { sql: string; values: unknown[] }[] } {
  const nodes: { node: RootOperationNode; queryId: { readonly queryId: string } }[] = [];
  const queries = database.queries.withPlugin({
    transformQuery: ({ node, queryId }) => {
      nodes.push({ node, queryId });
      return node;
    },
    transformResult: async ({ result }) => result,
  });
  const executor = database.queries.getExecutor();
  const statements = () =>
    nodes.map(({ node, queryId }) => {
      const { sql, parameters } = executor.compileQuery(node, queryId);
      return { sql, values: [...parameters] };
    });
  return { database: { ...database, queries }, statements };
}

const ALL = { visibleScopes: EVERY_SCOPE };

it.each<[string, (database: Database) => Promise<unknown>, number]>([
  ['a list', (database) => listFlows(database, 'v', ALL), 3],
  ['a list of one scope', (database) => listFlows(database, 'v', { ...ALL, scope: 'org' }), 1],
  ['a list of a tag', (database) => listFlows(database, 'v', { ...ALL, tag: 'bench' }), 3],
  ['a list of a tag in one scope', (database) => listFlows(database, 'v', { tag: 'bench', limit: 3 }), 1],
  ['a get', (database) => getFlow(database, 'v', 'flow_n7', ALL), 1],
])('[S002-8.8-bounded] %s reads index ranges in order: no scan, no sort', async (_what, ask, atLeast) => {
  const store = await useStore(() => makeStore('sqlite'));
  const opened = await store.open();
  await fillVault(opened, 'v', Array.from({ length: 2_000 }, (_, at) => (at % 2 ? {} : { scope: 'org' as const })));
  const { database, statements } = overheard(opened);
  await ask(database);
  const file = new BetterSqlite3(join(store.home, 'flowright.db'), { readonly: true });
  const plans = statements().map(({ sql, values }) => {
    const rows = file.prepare(`explain query plan ${sql}`).all(...values) as { detail: string }[];
    return rows.map(({ detail }) => detail);
  });
  file.close();
  expect(plans.length, 'statements that were run').toBeGreaterThanOrEqual(Math.min(atLeast, 1));
  for (const detail of plans.flat()) {
    expect(detail).not.toMatch(/^SCAN\b/);
    expect(detail).not.toMatch(/TEMP B-TREE/);
  }
  expect(plans.every((plan) => plan.some((detail) => /^SEARCH .* USING .*INDEX/.test(detail)))).toBe(true);
});
