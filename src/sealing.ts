import { existsSync } from 'node:fs';
import type { Queries } from './database/index.ts';
import { keptSealingKey } from './home/index.ts';

/** The key of this data folder. None is made where the database already holds what another one sealed. */
export async function openSealing(path: string, queries: Queries): Promise<() => Buffer> {
  return keptSealingKey(path, existsSync(path) || (await holdsSealed(queries)));
}

/** Whether anything is stored that only the sealing key opens. */
export async function holdsSealed(queries: Queries): Promise<boolean> {
  const row = await queries
    .selectNoFrom(({ exists, selectFrom, or }) =>
      or([
        exists(selectFrom('flowise_servers').select('name').where('secret_sealed', 'is not', null)),
        exists(selectFrom('chatflow_states').select('flow_hash')),
        exists(selectFrom('chatflow_writes').select('write_id')),
      ]).as('holds'),
    )
    .executeTakeFirstOrThrow();
  // SQLite has no truth values: it answers 0 or 1.
  return Boolean(row.holds);
}
