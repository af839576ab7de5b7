import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { type Clock, isoNow } from '../kernel/clock.ts';
import type { Database, DialectName, Queries, Trx } from './database.ts';

/** An event as readers see it. The payload holds references, never copies of large content. */
export interface OutboxEvent {
  stream: string;
  sequence: number;
  event_id: string;
  type: string;
  payload: Record<string, unknown>;
  created_at: string;
}

export interface EventPage {
  events: OutboxEvent[];
  /** True when events after the cursor were already pruned: the reader must load the current state instead. */
  replay_gap: boolean;
  last_sequence: number;
}

/** Writes an event in the transaction of the change it tells of; sequences of a stream have no gap and no repeat. */
export async function appendEvent(
  trx: Trx,
  clock: Clock,
  event: { stream: string; type: string; payload: Record<string, unknown> },
): Promise<number> {
  const { last_sequence: sequence } = await trx
    .insertInto('streams')
    .values({ stream: event.stream, last_sequence: 1, first_sequence: 1 })
    .onConflict((conflict) =>
      conflict.column('stream').doUpdateSet((row) => ({ last_sequence: row('streams.last_sequence', '+', 1) })),
    )
    .returning('last_sequence')
    .executeTakeFirstOrThrow();
  await trx
    .insertInto('events')
    .values({
      stream: event.stream,
      sequence,
      event_id: randomUUID(),
      type: event.type,
      payload_json: JSON.stringify(event.payload),
      created_at: isoNow(clock),
    })
    .execute();
  return sequence;
}

export async function readEvents(queries: Queries, stream: string, after: number, limit: number): Promise<EventPage> {
  const rows = await queries
    .selectFrom('events')
    .selectAll()
    .where('stream', '=', stream)
    .where('sequence', '>', after)
    .orderBy('sequence')
    .limit(limit)
    .execute();
  // Read after the rows: what was pruned before they were read shows here as a gap.
  const head = await queries.selectFrom('streams').selectAll().where('stream', '=', stream).executeTakeFirst();
  if (!head) return { events: [], replay_gap: false, last_sequence: 0 };
  const { newest } = await queries
    .selectFrom('events')
    .select((max) => max.fn.max('sequence').as('newest'))
    .where('stream', '=', stream)
    .executeTakeFirstOrThrow();
  const last_sequence = Math.max(head.last_sequence, head.first_sequence - 1, newest ?? 0);
  const events = rows.map(({ payload_json, ...row }) => ({
    ...row,
    payload: JSON.parse(payload_json) as Record<string, unknown>,
  }));
  return { events, replay_gap: after + 1 < head.first_sequence, last_sequence };
}

/** Events that one transaction removes. */
const PRUNE_BATCH = 1_000;

/** Removes events older than the given time, oldest first; their streams remember where they now begin. */
export async function pruneEvents(database: Database, before: string): Promise<number> {
  let pruned = 0;
  for (;;) {
    const count = await database.transaction((trx) => pruneBatch(trx, database.dialect, before));
    pruned += count;
    if (count < PRUNE_BATCH) return pruned;
  }
}

async function pruneBatch(trx: Trx, dialect: DialectName, before: string): Promise<number> {
  const key = sql.ref(dialect === 'sqlite' ? 'rowid' : 'event_key');
  const { rows: oldest } = await sql<{ key: number; stream: string; sequence: number; created_at: string }>`
    select ${key} as key, stream, sequence, created_at from events order by ${key} limit ${PRUNE_BATCH}`.execute(trx);
  const isYoung = oldest.findIndex((event) => event.created_at >= before);
  const old = isYoung === -1 ? oldest : oldest.slice(0, isYoung);
  const last = old.at(-1);
  if (!last) return 0;
  await sql`delete from events where ${key} <= ${last.key}`.execute(trx);
  const newest = new Map<string, number>();
  for (const { stream, sequence } of old) newest.set(stream, Math.max(sequence, newest.get(stream) ?? 0));
  for (const [stream, sequence] of newest) {
    await trx
      .updateTable('streams')
      .set({ first_sequence: sequence + 1 })
      .where('stream', '=', stream)
      .execute();
  }
  return old.length;
}
