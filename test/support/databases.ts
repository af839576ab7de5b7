import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import pg from 'pg';
import { describe, inject, it } from 'vitest';
import { connect, type Database, migrate } from '../../src/database/index.ts';
import { makeFolder } from './home.ts';
import { TEMPLATE } from './template.ts';

/** A place for data on one engine: a home folder and, for PostgreSQL, a database of its own. */
export interface TestStore {
  home: string;
  databaseUrl: string | undefined;
  /** Opens the database with its schema in place; closed with the store. */
  open(): Promise<Database>;
  remove(): Promise<void>;
}

export type Engine = 'sqlite' | 'postgres';
export const ENGINES: Engine[] = ['sqlite', 'postgres'];

/** Runs one suite on both engines. */
export function onEachDatabase(
  suite: (engine: Engine, make: () => Promise<TestStore>) => void,
  options: StoreOptions = {},
): void {
  for (const engine of ENGINES) describe(`on ${engine}`, () => suite(engine, () => makeStore(engine, options)));
}

/**
 * For suites that start programs, whose in-process counterparts run on both engines: the embedded one, and both with
 * TEST_DATABASES=all. Programs are dear to start.
 */
export function onFirstDatabase(suite: (engine: Engine, make: () => Promise<TestStore>) => void): void {
  const engines = process.env.TEST_DATABASES === 'all' ? ENGINES : ENGINES.slice(0, 1);
  for (const engine of engines) describe(`on ${engine}`, () => suite(engine, () => makeStore(engine)));
}

/**
 * For what differs in nothing by engine, such as the words of a command over what other tests prove on both: declares
 * a test on the first engine alone. Programs are dear to start.
 */
export function onFirst(engine: Engine): (title: string, test: () => Promise<void>) => void {
  return (title, test) => {
    if (engine === ENGINES[0]) it(title, test);
  };
}

export interface StoreOptions {
  /** Without even a schema; otherwise PostgreSQL has it already, which is the same and faster. */
  isEmpty?: boolean;
}

export async function makeStore(engine: Engine, options: StoreOptions = {}): Promise<TestStore> {
  const { folder, remove } = makeFolder();
  const database = engine === 'postgres' ? await makePostgresDatabase(options) : undefined;
  const opened: Database[] = [];
  return {
    home: folder,
    databaseUrl: database?.url,
    open: async () => {
      const connection = await connect({ url: database?.url ?? null, file: join(folder, 'flowright.db') });
      opened.push(connection);
      await migrate(connection);
      return connection;
    },
    remove: async () => {
      for (const connection of opened) await connection.close();
      await database?.drop();
      remove();
    },
  };
}

async function makePostgresDatabase(options: StoreOptions): Promise<{ url: string; drop(): Promise<void> }> {
  const name = `test_${randomBytes(6).toString('hex')}`;
  await asOwner(`create database ${name} template ${options.isEmpty ? 'template0' : TEMPLATE} strategy file_copy`);
  const url = new URL(inject('postgresUrl'));
  url.pathname = `/${name}`;
  return { url: url.href, drop: () => asOwner(`drop database ${name} with (force)`) };
}

let owners: pg.Pool | undefined;

/** One connection for all stores of a file; it keeps no process alive. */
async function asOwner(statement: string): Promise<void> {
  owners ??= new pg.Pool({ connectionString: inject('postgresUrl'), max: 1, allowExitOnIdle: true });
  await owners.query(statement);
}
