import { sql } from 'kysely';
import { refusal } from '../kernel/errors.ts';
import type { Database, Trx } from './database.ts';
import { takeTurns } from './turns.ts';

/** Number of the newest migration. Bumped with each new file in migrations/. */
export const SCHEMA_VERSION = 4;

export interface MigrationStatus {
  dialect: Database['dialect'];
  current: number;
  latest: number;
  pending: number[];
}

export async function migrationStatus(database: Database): Promise<MigrationStatus> {
  const current = await schemaVersion(database);
  const pending = Array.from({ length: Math.max(0, SCHEMA_VERSION - current) }, (_, index) => current + index + 1);
  return { dialect: database.dialect, current, latest: SCHEMA_VERSION, pending };
}

/** Brings the schema up to date in one transaction; many processes may try at once. Returns what was applied. */
export async function migrate(database: Database): Promise<number[]> {
  const { current, pending } = await migrationStatus(database);
  if (current > SCHEMA_VERSION) {
    throw refusal(
      'SCHEMA_TOO_NEW',
      `The database has schema ${current}, this program knows ${SCHEMA_VERSION}. Run the newer Flowright.`,
    );
  }
  if (pending.length === 0) return [];
  const { MIGRATIONS } = await import('./migrations/index.ts');
  return database.transaction(async (trx) => {
    await takeTurns(trx, database.dialect, 'migrations');
    const applied: number[] = [];
    for (let version = (await versionIn(database, trx)) + 1; version <= SCHEMA_VERSION; version += 1) {
      const statements = MIGRATIONS[version - 1]?.(database.dialect) ?? [];
      for (const statement of statements) await sql.raw(statement).execute(trx);
      await recordVersion(database, trx, version);
      applied.push(version);
    }
    return applied;
  });
}

async function schemaVersion(database: Database): Promise<number> {
  return versionIn(database, database.queries);
}

/** SQLite keeps the number in its header, where reading it costs nothing; PostgreSQL in a table of one row. */
async function versionIn(database: Database, queries: Database['queries']): Promise<number> {
  if (database.dialect === 'sqlite') {
    const result = await sql<{ user_version: number }>`pragma user_version`.execute(queries);
    return result.rows[0]?.user_version ?? 0;
  }
  // Asked of the catalogue itself: to_regclass() may answer from a cache that is older than the lock we waited for.
  const exists = await sql<{ found: boolean }>`select exists (
    select from pg_catalog.pg_class where relname = 'flowright_schema' and pg_catalog.pg_table_is_visible(oid)
  ) as found`.execute(queries);
  if (!exists.rows[0]?.found) return 0;
  const result = await sql<{ version: number }>`select version from flowright_schema`.execute(queries);
  return Number(result.rows[0]?.version ?? 0);
}

async function recordVersion(database: Database, trx: Trx, version: number): Promise<void> {
  if (database.dialect === 'sqlite') {
    await sql.raw(`pragma user_version = ${version}`).execute(trx);
    return;
  }
  await sql`create table if not exists flowright_schema (version integer not null)`.execute(trx);
  await sql`delete from flowright_schema`.execute(trx);
  await sql`insert into flowright_schema (version) values (${version})`.execute(trx);
}
