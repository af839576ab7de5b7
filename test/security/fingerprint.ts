import type { Queries } from '../../src/database/index.ts';
import { sha256Hex } from '../../src/kernel/hash.ts';

const TABLES = ['flows', 'flow_versions', 'flow_steps', 'flow_tags'] as const;

/** Stands for every row of the library, of every vault. */
export async function libraryFingerprint(queries: Queries): Promise<string> {
  const tables = [];
  for (const table of TABLES) {
    const rows = await queries.selectFrom(table).selectAll().execute();
    tables.push(rows.map((row) => JSON.stringify(row)).sort());
  }
  return sha256Hex(JSON.stringify(tables));
}

export async function countVersions(queries: Queries): Promise<number> {
  const { count } = await queries
    .selectFrom('flow_versions')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow();
  return Number(count);
}
