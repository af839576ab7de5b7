import { sql } from 'kysely';
import type { DialectName, Trx } from './database.ts';

/**
 * Makes transactions that name the same thing wait for each other until they end. SQLite has one writer anyway;
 * PostgreSQL takes an advisory lock. Must come before the first read that the decision rests on.
 */
export async function takeTurns(trx: Trx, dialect: DialectName, name: string): Promise<void> {
  if (dialect === 'postgres') await sql`select pg_advisory_xact_lock(hashtextextended(${name}, 0))`.execute(trx);
}
