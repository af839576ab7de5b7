import { CompiledQuery, Kysely, PostgresDialect } from 'kysely';
import pg from 'pg';
import { FlowrightError, refusal } from '../kernel/errors.ts';
import { hideUrlPassword } from '../kernel/secrets.ts';
import type { Database, Presence, Trx } from './database.ts';
import type { Schema } from './schema.ts';
import { numbered, type Row, type Script } from './script.ts';

const POOL_SIZE = 10;
const CONNECT_TIMEOUT_MS = 10_000;
const QUERY_TIMEOUT_MS = 60_000;
const INT8_OID = 20;

export async function openPostgres(url: string): Promise<Database> {
  const types = { getTypeParser: typeParser } as pg.CustomTypesConfig;
  const pool = new pg.Pool({
    connectionString: url,
    max: POOL_SIZE,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    query_timeout: QUERY_TIMEOUT_MS,
    types,
  });
  // An idle connection that the server drops is replaced on next use; without a listener it would end the process.
  pool.on('error', () => {});
  // The same for one that is in use; whoever waits for its answer is told.
  pool.on('connect', (client) => client.on('error', () => {}));
  const queries = new Kysely<Schema>({ dialect: new PostgresDialect({ pool }) });
  try {
    await queries.executeQuery(CompiledQuery.raw('select 1'));
  } catch (error) {
    await queries.destroy();
    const reason = (error as Error).message || (error as NodeJS.ErrnoException).code;
    throw new FlowrightError(
      'DATABASE_UNAVAILABLE',
      `PostgreSQL at ${hideUrlPassword(url)} does not answer: ${reason}. Check DATABASE_URL and that the server is running.`,
      { cause: error },
    );
  }
  return {
    dialect: 'postgres',
    queries,
    transaction: (work) => queries.transaction().execute(work),
    script: (make) => queries.transaction().execute((trx) => runScript(trx, make())),
    scriptIn: runScript,
    stamp: sharedStamp(async () => {
      // A snapshot names every transaction it sees: equal snapshots see equal data.
      const result = await pool.query<{ stamp: string }>('select pg_current_snapshot()::text as stamp');
      return result.rows[0]?.stamp ?? '';
    }),
    presence: sessionPresence(url, pool),
    backup: async () => {
      throw refusal(
        'BAD_REQUEST',
        'PostgreSQL is backed up with its own tools: pg_dump --format=custom "$DATABASE_URL".',
      );
    },
    close: () => queries.destroy(),
  };
}

/** A session that ends, even by SIGKILL, lets its advisory locks go. */
function sessionPresence(url: string, pool: pg.Pool): Presence {
  return {
    hold: async (name) => {
      const session = new pg.Client({ connectionString: url });
      // When the server drops it the name is free; fencing keeps the holder from writing.
      session.on('error', () => {});
      await session.connect();
      await session.query('select pg_advisory_lock(hashtextextended($1, 0))', [name]);
      return () => session.end();
    },
    isHeld: async (name) => {
      const free = await pool.query<{ free: boolean }>(
        'select pg_try_advisory_xact_lock(hashtextextended($1, 0)) as free',
        [name],
      );
      return free.rows[0]?.free === false;
    },
  };
}

const numberedOnce = new Map<string, string>();

async function runScript<T>(trx: Trx, script: Script<T>): Promise<T> {
  let step = script.next();
  while (!step.done) {
    const { sql, values } = step.value;
    let text = numberedOnce.get(sql);
    if (text === undefined) {
      text = numbered(sql);
      numberedOnce.set(sql, text);
    }
    const { rows, numAffectedRows } = await trx.executeQuery<Row>(CompiledQuery.raw(text, [...values]));
    step = script.next(rows.length === 0 && numAffectedRows ? [{ changes: Number(numAffectedRows) }] : rows);
  }
  return step.value;
}

const typeParser: typeof pg.types.getTypeParser = ((oid: number, format?: 'text') =>
  oid === INT8_OID ? Number : pg.types.getTypeParser(oid, format)) as typeof pg.types.getTypeParser;

/**
 * One query answers everybody who asked before it was sent. Whoever asks while it is under way waits for the next:
 * an answer must be younger than its question.
 */
function sharedStamp(ask: () => Promise<string>): () => Promise<string> {
  let underWay: Promise<string> | null = null;
  let next: Promise<string> | null = null;
  const send = (): Promise<string> => {
    underWay = ask().finally(() => {
      underWay = null;
    });
    return underWay;
  };
  return () => {
    if (!underWay) return send();
    next ??= underWay
      .catch(() => {})
      .then(() => {
        next = null;
        return send();
      });
    return next;
  };
}
