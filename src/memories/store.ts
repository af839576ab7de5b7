import { type DialectName, forgetWords, indexWords, type Queries, searchWords, type Trx } from '../database/index.ts';
import { type Clock, isoNow } from '../kernel/clock.ts';
import type { Memory } from './memory.ts';

export interface Page {
  limit: number;
  offset: number;
}

const COLUMNS = ['id', 'title', 'description', 'created_at', 'updated_at'] as const;

/** One memory of a vault; undefined when it is missing or belongs to another vault. */
export function findMemory(queries: Queries, vaultId: string, id: number): Promise<Memory | undefined> {
  return queries
    .selectFrom('memories')
    .select(COLUMNS)
    .where('vault_id', '=', vaultId)
    .where('id', '=', id)
    .executeTakeFirst();
}

/** As `findMemory`, and nobody else changes it until the transaction ends. */
export function holdMemory(trx: Trx, dialect: DialectName, vaultId: string, id: number): Promise<Memory | undefined> {
  const found = trx.selectFrom('memories').select(COLUMNS).where('vault_id', '=', vaultId).where('id', '=', id);
  // SQLite has one writer and does not know the words.
  return (dialect === 'postgres' ? found.forUpdate() : found).executeTakeFirst();
}

export async function latestMemories(
  queries: Queries,
  vaultId: string,
  { limit, offset }: Page,
): Promise<{ items: Memory[]; total: number }> {
  const ours = queries.selectFrom('memories').where('vault_id', '=', vaultId);
  const items = await ours
    .select(COLUMNS)
    .orderBy('updated_at', 'desc')
    .orderBy('id', 'desc')
    .limit(limit)
    .offset(offset)
    .execute();
  const { total } = await ours.select((row) => row.fn.countAll<number>().as('total')).executeTakeFirstOrThrow();
  return { items, total: Number(total) };
}

/** Memories in which the words occur, best match first. */
export async function searchMemories(
  queries: Queries,
  dialect: DialectName,
  search: Page & { vault_id: string; query: string; match?: 'all' | 'any' },
): Promise<{ items: Memory[]; total: number }> {
  const { ids, total } = await searchWords(queries, dialect, { kind: 'memory', ...search });
  if (ids.length === 0) return { items: [], total };
  const rows = await queries
    .selectFrom('memories')
    .select(COLUMNS)
    .where('vault_id', '=', search.vault_id)
    .where('id', 'in', ids)
    .execute();
  const byId = new Map(rows.map((row) => [row.id, row]));
  return { items: ids.flatMap((id) => byId.get(id) ?? []), total };
}

export async function createMemory(
  trx: Trx,
  dialect: DialectName,
  clock: Clock,
  memory: { vault_id: string; title: string | null; description: string },
): Promise<Memory> {
  const now = isoNow(clock);
  const made = await trx
    .insertInto('memories')
    .values({ ...memory, created_at: now, updated_at: now })
    .returning(COLUMNS)
    .executeTakeFirstOrThrow();
  await remember(trx, dialect, memory.vault_id, made);
  return made;
}

/** Undefined when there is no such memory in the vault. */
export async function changeMemory(
  trx: Trx,
  dialect: DialectName,
  clock: Clock,
  memory: { vault_id: string; id: number; title?: string | null; description?: string },
): Promise<Memory | undefined> {
  const { vault_id, id, ...changes } = memory;
  const changed = await trx
    .updateTable('memories')
    .set({ ...changes, updated_at: isoNow(clock) })
    .where('vault_id', '=', vault_id)
    .where('id', '=', id)
    .returning(COLUMNS)
    .executeTakeFirst();
  if (changed) await remember(trx, dialect, vault_id, changed);
  return changed;
}

/** False when there is no such memory in the vault. */
export async function removeMemory(trx: Trx, dialect: DialectName, vaultId: string, id: number): Promise<boolean> {
  const removed = await trx
    .deleteFrom('memories')
    .where('vault_id', '=', vaultId)
    .where('id', '=', id)
    .returning('id')
    .executeTakeFirst();
  if (removed) await forgetWords(trx, dialect, 'memory', id);
  return removed !== undefined;
}

async function remember(trx: Trx, dialect: DialectName, vault_id: string, memory: Memory): Promise<void> {
  const { id, title, description } = memory;
  await indexWords(trx, dialect, { kind: 'memory', id, vault_id, title, body: description });
}
