import type { Kysely, Transaction } from 'kysely';
import type { Ready } from '../kernel/ready.ts';
import type { Schema } from './schema.ts';
import type { Script } from './script.ts';

export type DialectName = 'sqlite' | 'postgres';
export type Trx = Transaction<Schema>;
/** Either the database or a transaction on it: what a read needs. */
export type Queries = Kysely<Schema>;

export interface Presence {
  /** Returns how to let go. */
  hold(name: string): Promise<() => Promise<void>>;
  isHeld(name: string): Promise<boolean>;
}

/** An open database, the same to its users whichever engine is below. */
export interface Database {
  readonly dialect: DialectName;
  readonly queries: Queries;
  /** Everything in `work` happens or nothing does. Takes the write lock at once, so that it cannot fail half-way. */
  transaction<T>(work: (trx: Trx) => Promise<T>): Promise<T>;
  /**
   * A transaction made of statements alone, far cheaper than `transaction`. A statement that returns no rows answers
   * one row `{changes}` when it changed something and none when it did not.
   */
  script<T>(make: () => Script<T>): Promise<T>;
  /** The same inside a transaction that is under way. */
  scriptIn<T>(trx: Trx, script: Script<T>): Promise<T>;
  /**
   * A text that is equal at two moments only if nobody, in any process, committed anything in between.
   * Immediate on SQLite; on PostgreSQL one round trip shared by all who wait.
   */
  stamp(): Ready<string>;
  /** Names that a process holds until it ends, however it ends; null where processes are asked of the system itself. */
  readonly presence: Presence | null;
  /** Writes a consistent copy while others go on working (SQLite only). */
  backup(file: string): Promise<void>;
  close(): Promise<void>;
}
