import type BetterSqlite3 from 'better-sqlite3';
import type { Row, Script } from './script.ts';
import type { Turn } from './turn.ts';

/** More in one transaction would make the first of them wait for too long. */
const GROUP_LIMIT = 64;

interface Asked {
  make: () => Script<unknown>;
  done(value: unknown): void;
  failed(reason: unknown): void;
}

/**
 * Runs scripts with statements that are prepared once. Scripts that are asked for while another is being written to disk
 * share the next transaction, and so its wait for the disk; one that throws is undone alone.
 */
export class SqliteScripts {
  readonly #connection: BetterSqlite3.Database;
  readonly #turn: Turn;
  readonly #statements = new Map<string, BetterSqlite3.Statement>();
  #asked: Asked[] = [];
  #isFlushing = false;

  constructor(connection: BetterSqlite3.Database, turn: Turn) {
    this.#connection = connection;
    this.#turn = turn;
  }

  run<T>(make: () => Script<T>): Promise<T> {
    return new Promise((done, failed) => {
      this.#asked.push({ make, done: done as (value: unknown) => void, failed });
      if (this.#isFlushing) return;
      this.#isFlushing = true;
      // Later in this turn of the event loop, so that whoever goes on with the same news can join.
      queueMicrotask(() => queueMicrotask(() => void this.#flush()));
    });
  }

  /** Inside a transaction that somebody else began on this connection. */
  inside<T>(script: Script<T>): T {
    let step = script.next();
    while (!step.done) {
      const { sql, values } = step.value;
      step = script.next(this.#rows(sql, values));
    }
    return step.value;
  }

  #rows(sql: string, values: readonly unknown[]): Row[] {
    // The driver tells the number of a new row anyway; collecting it as a result would cost more than the insert.
    if (isAskedForId(sql)) return [{ id: Number(this.#prepared(sql).run(values).lastInsertRowid) }];
    const statement = this.#prepared(sql);
    if (statement.reader) return statement.all(values) as Row[];
    const { changes } = statement.run(values);
    return changes === 0 ? NOTHING : [{ changes }];
  }

  async #flush(): Promise<void> {
    while (this.#asked.length > 0) {
      if (!this.#turn.tryTake()) await this.#turn.take();
      const group = this.#asked.splice(0, GROUP_LIMIT);
      try {
        this.#commit(group);
      } finally {
        this.#turn.give();
      }
      // Those who were answered may have more to say; it joins what is next.
      await undefined;
    }
    this.#isFlushing = false;
  }

  #commit(group: Asked[]): void {
    const settled: (() => void)[] = [];
    try {
      this.#prepared('begin immediate').run();
      for (const asked of group) settled.push(group.length === 1 ? this.#alone(asked) : this.#shared(asked));
      this.#prepared('commit').run();
    } catch (reason) {
      if (this.#connection.inTransaction) this.#prepared('rollback').run();
      for (const { failed } of group) failed(reason);
      return;
    }
    for (const settle of settled) settle();
  }

  #alone({ make, done }: Asked): () => void {
    const value = this.inside(make());
    return () => done(value);
  }

  #shared({ make, done, failed }: Asked): () => void {
    this.#prepared('savepoint script').run();
    try {
      const value = this.inside(make());
      this.#prepared('release script').run();
      return () => done(value);
    } catch (reason) {
      if (!this.#connection.inTransaction) throw reason;
      this.#prepared('rollback to script').run();
      this.#prepared('release script').run();
      return () => failed(reason);
    }
  }

  #prepared(sql: string): BetterSqlite3.Statement {
    let statement = this.#statements.get(sql);
    if (!statement) {
      statement = this.#connection.prepare(isAskedForId(sql) ? sql.slice(0, -RETURNING_ID.length) : sql);
      this.#statements.set(sql, statement);
    }
    return statement;
  }
}

const NOTHING: Row[] = [];
const RETURNING_ID = ' returning id';

/** An insert of one row that wants its number. */
function isAskedForId(sql: string): boolean {
  return sql.startsWith('insert') && sql.endsWith(RETURNING_ID);
}
