import { sql } from 'kysely';
import type { Database, Queries } from './database.ts';
import type { OutboxEvent } from './outbox.ts';

/**
 * A place in the order of all events. SQLite has one writer, so that row numbers are in the order of commits. On
 * PostgreSQL transactions commit in any order: a place is (transaction, event), and nothing is read of a transaction
 * while an older one may still commit, so that no event can appear behind a reader.
 */
export type TailCursor = RowCursor | TransactionCursor;

interface RowCursor {
  rowid: number;
  /** When that row was written: row numbers are given out anew once the last rows have been pruned. */
  at: string;
}

interface TransactionCursor {
  transaction_id: string;
  event_key: string;
}

export interface TailPage {
  events: OutboxEvent[];
  cursor: TailCursor;
}

interface StoredEvent {
  stream: string;
  sequence: number;
  event_id: string;
  type: string;
  payload_json: string;
  created_at: string;
}

/** The end as it is now: whatever commits from here on comes after it. */
export async function tailStart(database: Database): Promise<TailCursor> {
  if (database.dialect === 'sqlite') return lastRow(database.queries);
  const { rows } = await sql<{ transaction_id: string }>`
    select pg_snapshot_xmin(pg_current_snapshot())::text as transaction_id`.execute(database.queries);
  return { transaction_id: rows[0]?.transaction_id ?? '0', event_key: '0' };
}

/** Events of all streams after the cursor. Within a stream their order is that of `sequence`, which see in the feed. */
export async function readTail(database: Database, cursor: TailCursor, limit: number): Promise<TailPage> {
  return 'rowid' in cursor
    ? readRows(database.queries, cursor, limit)
    : readTransactions(database.queries, cursor, limit);
}

/** The lowest sequence of a stream after the cursor, also where it is not yet safe to read on from there. */
export async function firstInTail(database: Database, cursor: TailCursor, stream: string): Promise<number | null> {
  const after =
    'rowid' in cursor
      ? sql`rowid > ${cursor.rowid}`
      : sql`(transaction_id, event_key) > (${cursor.transaction_id}::text::xid8, ${cursor.event_key}::text::bigint)`;
  const { rows } = await sql<{ first: number | null }>`
    select min(sequence) as first from events where stream = ${stream} and ${after}`.execute(database.queries);
  return rows[0]?.first ?? null;
}

async function readRows(queries: Queries, cursor: RowCursor, limit: number): Promise<TailPage> {
  const page = await rowsAfter(queries, cursor, '', limit);
  if (page.events.length > 0 || cursor.rowid <= (await lastRow(queries)).rowid) return page;
  return rowsAfter(queries, { rowid: 0, at: cursor.at }, cursor.at, limit);
}

async function rowsAfter(queries: Queries, cursor: RowCursor, since: string, limit: number): Promise<TailPage> {
  const { rows } = await sql<StoredEvent & { place: number }>`
    select rowid as place, stream, sequence, event_id, type, payload_json, created_at
    from events where rowid > ${cursor.rowid} and created_at >= ${since} order by rowid limit ${limit}`.execute(
    queries,
  );
  const last = rows.at(-1);
  return { events: rows.map(eventOf), cursor: last ? { rowid: last.place, at: last.created_at } : cursor };
}

async function lastRow(queries: Queries): Promise<RowCursor> {
  const { rows } = await sql<RowCursor>`
    select rowid, created_at as at from events order by rowid desc limit 1`.execute(queries);
  return rows[0] ?? { rowid: 0, at: '' };
}

async function readTransactions(queries: Queries, cursor: TransactionCursor, limit: number): Promise<TailPage> {
  const { rows } = await sql<StoredEvent & { transaction_id: string; event_key: string }>`
    select transaction_id::text as transaction_id, event_key::text as event_key,
      stream, sequence, event_id, type, payload_json, created_at
    from events
    where (transaction_id, event_key) > (${cursor.transaction_id}::text::xid8, ${cursor.event_key}::text::bigint)
      and transaction_id < pg_snapshot_xmin(pg_current_snapshot())
    order by events.transaction_id, events.event_key
    limit ${limit}`.execute(queries);
  const last = rows.at(-1);
  return {
    events: rows.map(eventOf),
    cursor: last ? { transaction_id: last.transaction_id, event_key: last.event_key } : cursor,
  };
}

function eventOf({ stream, sequence, event_id, type, payload_json, created_at }: StoredEvent): OutboxEvent {
  const payload = JSON.parse(payload_json) as Record<string, unknown>;
  return { stream, sequence, event_id, type, payload, created_at };
}
