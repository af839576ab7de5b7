import { chmodSync, closeSync, existsSync, fsyncSync, openSync, renameSync, rmSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import BetterSqlite3 from 'better-sqlite3';
import {
  CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  Kysely,
  SqliteAdapter,
  type SqliteDatabase,
  SqliteDriver,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from 'kysely';
import { FlowrightError, refusal } from '../kernel/errors.ts';
import type { Database } from './database.ts';
import type { Schema } from './schema.ts';
import { SqliteScripts } from './sqlite-scripts.ts';
import { Turn } from './turn.ts';

const BUSY_TIMEOUT_MS = 30_000;
/** 64 MiB: moving the log into the file waits for the disk, and the longer it is, the more often a page is in it. */
const CHECKPOINT_PAGES = 16_000;
/** Marks a file as ours: "FLWR". */
export const APPLICATION_ID = 0x464c5752;

export function openSqlite(file: string): Database {
  const connection = openConnection(file);
  const turn = new Turn();
  const queries = new Kysely<Schema>({ dialect: immediateDialect(connection, turn) });
  const scripts = new SqliteScripts(connection, turn);
  return {
    dialect: 'sqlite',
    queries,
    transaction: (work) => queries.transaction().execute(work),
    script: (make) =>
      scripts.run(make).catch((error: unknown) => {
        throw clearFault(connection, error);
      }),
    scriptIn: async (_trx, script) => scripts.inside(script),
    stamp: stampReader(connection),
    presence: null,
    backup: (target) => backup(connection, target),
    close: () => queries.destroy(),
  };
}

function openConnection(file: string): BetterSqlite3.Database {
  let connection: BetterSqlite3.Database;
  const isNew = !existsSync(file);
  try {
    connection = new BetterSqlite3(file, { timeout: BUSY_TIMEOUT_MS });
    connection.pragma('foreign_keys = ON');
    connection.pragma('synchronous = FULL');
    connection.pragma(`wal_autocheckpoint = ${CHECKPOINT_PAGES}`);
    enterWal(connection);
    if (isNew) chmodSync(file, 0o600);
  } catch (error) {
    throw refusal('DATABASE_UNAVAILABLE', `The database ${file} cannot be opened: ${(error as Error).message}.`);
  }
  return connection;
}

/**
 * data_version moves with commits of other connections and costs a few system calls; total_changes() moves with our own.
 * What is asked for without waiting in between is one question, so one look at the other connections serves it. No
 * longer: while other requests are read, another process may commit and its client ask us what it just wrote.
 */
function stampReader(connection: BetterSqlite3.Database): () => string {
  const others = connection.prepare('PRAGMA data_version').pluck();
  const own = connection.prepare('SELECT total_changes()').pluck();
  let seen: unknown;
  const forget = (): void => {
    seen = undefined;
  };
  return () => {
    if (seen === undefined) {
      seen = others.get();
      queueMicrotask(forget);
    }
    return `${seen}:${own.get()}`;
  };
}

/** Switching to WAL ignores the busy timeout, so several first starts must take turns here. */
function enterWal(connection: BetterSqlite3.Database): void {
  if (connection.pragma('journal_mode', { simple: true }) === 'wal') return;
  const deadline = Date.now() + BUSY_TIMEOUT_MS;
  for (;;) {
    try {
      connection.pragma('journal_mode = WAL');
      return;
    } catch (error) {
      if ((error as { code?: string }).code !== 'SQLITE_BUSY' || Date.now() > deadline) throw error;
      pause(20);
    }
  }
}

function pause(milliseconds: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds);
}

/** Transactions begin IMMEDIATE: a read that turns into a write would otherwise fail instead of wait. */
class ImmediateSqliteDriver extends SqliteDriver {
  readonly #turn: Turn;

  constructor(database: SqliteDatabase, turn: Turn) {
    super({ database });
    this.#turn = turn;
  }

  // Scripts use the same connection, and must not land inside a transaction of somebody else.
  override async acquireConnection(): Promise<DatabaseConnection> {
    await this.#turn.take();
    return super.acquireConnection();
  }

  override async releaseConnection(): Promise<void> {
    await super.releaseConnection();
    this.#turn.give();
  }

  override async beginTransaction(connection: DatabaseConnection): Promise<void> {
    await connection.executeQuery(CompiledQuery.raw('begin immediate'));
  }
}

/** A file that is damaged says so at the first statement that meets the damage, whichever that is. */
function clearFault(connection: BetterSqlite3.Database, error: unknown): unknown {
  const code = String((error as { code?: string }).code);
  if (code.startsWith('SQLITE_BUSY')) {
    const message = 'Another process has held the database for too long. Try again in a moment.';
    return new FlowrightError('DATABASE_UNAVAILABLE', message, { cause: error });
  }
  if (code.startsWith('SQLITE_READONLY')) {
    const message = `The database ${connection.name} cannot be written. Make the file and its folder writable.`;
    return new FlowrightError('DATABASE_UNAVAILABLE', message, { cause: error });
  }
  if (!/^SQLITE_(CORRUPT|NOTADB)/.test(code)) return error;
  return new FlowrightError(
    'DATABASE_UNAVAILABLE',
    `The database ${connection.name} is damaged. Restore a backup with \`flowright restore FILE\`; \`flowright doctor\` says more.`,
    { cause: error },
  );
}

function withClearFaults(connection: BetterSqlite3.Database): SqliteDatabase {
  const clearly = <T>(work: () => T): T => {
    try {
      return work();
    } catch (error) {
      throw clearFault(connection, error);
    }
  };
  return {
    close: () => connection.close(),
    prepare: (sql) => {
      const statement = clearly(() => connection.prepare(sql));
      return {
        reader: statement.reader,
        all: (parameters) => clearly(() => statement.all(parameters)),
        run: (parameters) => clearly(() => statement.run(parameters)),
        iterate: (parameters) => clearly(() => statement.iterate(parameters) as IterableIterator<unknown>),
      };
    },
  };
}

function immediateDialect(connection: BetterSqlite3.Database, turn: Turn): Dialect {
  return {
    createAdapter: () => new SqliteAdapter(),
    createDriver: () => new ImmediateSqliteDriver(withClearFaults(connection), turn),
    createIntrospector: (db) => new SqliteIntrospector(db),
    createQueryCompiler: () => new SqliteQueryCompiler(),
  };
}

async function backup(connection: BetterSqlite3.Database, target: string): Promise<void> {
  const draft = `${target}.${process.pid}.tmp`;
  if (isSameFile(target, connection.name)) {
    throw refusal('BAD_REQUEST', 'That is the database itself. Name another file for the backup.');
  }
  if (!existsSync(dirname(target)))
    throw refusal('BAD_REQUEST', `There is no folder ${dirname(target)}. Make it first.`);
  if (existsSync(target) && !isBackup(target)) {
    throw refusal('BAD_REQUEST', `${target} is there and is no Flowright backup. Name another file.`);
  }
  try {
    await connection.backup(draft);
    // One file that stands alone: a copy in WAL mode would grow files of its own beside it when it is read.
    const single = new BetterSqlite3(draft);
    single.pragma('journal_mode = DELETE');
    const isSound = single.pragma('quick_check', { simple: true }) === 'ok';
    single.close();
    if (!isSound) throw refusal('DATABASE_UNAVAILABLE', 'The database is damaged; no backup was written.');
    chmodSync(draft, 0o600);
    const copy = openSync(draft, 'r+');
    fsyncSync(copy);
    closeSync(copy);
    renameSync(draft, target);
  } finally {
    rmSync(draft, { force: true });
  }
}

function isBackup(file: string): boolean {
  let copy: BetterSqlite3.Database | undefined;
  try {
    copy = new BetterSqlite3(file, { readonly: true });
    return copy.pragma('application_id', { simple: true }) === APPLICATION_ID;
  } catch {
    return false;
  } finally {
    copy?.close();
  }
}

function isSameFile(left: string, right: string): boolean {
  if (!existsSync(left) || !existsSync(right)) return false;
  const [a, b] = [statSync(left), statSync(right)];
  return a.ino === b.ino && a.dev === b.dev;
}
