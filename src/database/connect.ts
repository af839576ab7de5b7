import type { Database } from './database.ts';

/** Opens PostgreSQL when an address is given, else the embedded file. Only the engine in use is loaded. */
export async function connect(options: { url: string | null; file: string }): Promise<Database> {
  if (options.url) {
    const { openPostgres } = await import('./postgres.ts');
    return openPostgres(options.url);
  }
  const { openSqlite } = await import('./sqlite.ts');
  return openSqlite(options.file);
}
