import { join } from 'node:path';
import BetterSqlite3 from 'better-sqlite3';
import { CompiledQuery, type RootOperationNode } from 'kysely';
import type { Database } from '../../src/database/index.ts';
import type { TestStore } from '../support/databases.ts';

/** Something that is asked of the database, in one statement or several. */
export type Ask = (database: Database) => Promise<unknown>;

/** The statements that a question runs. */
async function statementsOf(database: Database, ask: Ask): Promise<{ sql: string; values: unknown[] }[]> {
  const nodes: { node: RootOperationNode; queryId: { readonly queryId: string } }[] = [];
  const queries = database.queries.withPlugin({
    transformQuery: ({ node, queryId }) => {
      nodes.push({ node, queryId });
      return node;
    },
    transformResult: async ({ result }) => result,
  });
  await ask({ ...database, queries });
  const executor = database.queries.getExecutor();
  return nodes.map(({ node, queryId }) => {
    const { sql, parameters } = executor.compileQuery(node, queryId);
    return { sql, values: [...parameters] };
  });
}

/** How SQLite would find the answer: one list of steps a statement. */
export async function sqlitePlans(store: TestStore, database: Database, ask: Ask): Promise<string[][]> {
  const statements = await statementsOf(database, ask);
  const file = new BetterSqlite3(join(store.home, 'flowright.db'), { readonly: true });
  const plans = statements.map(({ sql, values }) => {
    const rows = file.prepare(`explain query plan ${sql}`).all(...values) as { detail: string }[];
    return rows.map(({ detail }) => detail);
  });
  file.close();
  return plans;
}

/** How PostgreSQL would find the answer: one text a statement. */
export async function postgresPlans(database: Database, ask: Ask): Promise<string[]> {
  const plans: string[] = [];
  for (const { sql, values } of await statementsOf(database, ask)) {
    const { rows } = await database.queries.executeQuery<{ 'QUERY PLAN': string }>(
      CompiledQuery.raw(`explain ${sql}`, values),
    );
    plans.push(rows.map((row) => row['QUERY PLAN']).join('\n'));
  }
  return plans;
}
