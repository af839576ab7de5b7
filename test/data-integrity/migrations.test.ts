import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { connect, type Database, migrate, migrationStatus } from '../../src/database/index.ts';
import { SCHEMA_VERSION } from '../../src/database/migrate.ts';
import { MIGRATIONS } from '../../src/database/migrations/index.ts';
import { onEachDatabase, type TestStore } from '../support/databases.ts';
import { flowright, flowrightJson, startHub } from '../support/program.ts';
import { programOn, useStore } from './library.ts';
import { baseOf, openReview, type Review } from './review.ts';

const EVERY = Array.from({ length: SCHEMA_VERSION }, (_, at) => at + 1);

const bare = (store: TestStore): Promise<Database> =>
  connect({ url: store.databaseUrl ?? null, file: join(store.home, 'flowright.db') });

/** Pretends that a newer Flowright was here. */
async function raiseSchema(store: TestStore): Promise<void> {
  const database = await bare(store);
  const statement =
    database.dialect === 'sqlite'
      ? `pragma user_version = ${SCHEMA_VERSION + 1}`
      : `update flowright_schema set version = ${SCHEMA_VERSION + 1}`;
  await sql.raw(statement).execute(database.queries);
  await database.close();
}

/** Tables of the first schema that hold something after the first start, each after those it refers to. */
const FIRST_TABLES = [
  'vaults',
  'users',
  'memberships',
  'audit',
  'streams',
  'events',
  'revisions',
  'flows',
  'flow_tags',
];
const FIRST_FLOW_TABLES = ['flow_versions', 'flow_steps'];

/** Makes a database as the first Flowright left it, with the rows that another one holds. */
async function asFirstSchema(store: TestStore, rows: Database): Promise<void> {
  const first = await bare(store);
  for (const statement of MIGRATIONS[0]?.(first.dialect) ?? []) await sql.raw(statement).execute(first.queries);
  if (first.dialect === 'sqlite') await sql`pragma user_version = 1`.execute(first.queries);
  else await sql.raw('create table flowright_schema as select 1 as version').execute(first.queries);
  for (const table of [...FIRST_TABLES, ...FIRST_FLOW_TABLES]) {
    const found = await sql<Record<string, unknown>>`select * from ${sql.table(table)}`.execute(rows.queries);
    for (const { flow_key: _key, proposal_id: _later, event_key: _place, transaction_id: _by, ...row } of found.rows) {
      await first.queries
        .insertInto(table as 'vaults')
        .values(row as never)
        .execute();
    }
  }
  await first.close();
}

onEachDatabase(
  (engine, makeStore) => {
    it('[FLR-database-both] a database of the first schema keeps every row, and what it holds can be reviewed', async () => {
      const [source, old] = [await useStore(makeStore), await useStore(makeStore)];
      const told = async ({ ask, app }: Review) => {
        const { flows } = await ask<{ flows: { flow_id: string }[] }>('flow.list', {});
        const each = flows.map(({ flow_id }) =>
          Promise.all([ask('flow.get', { flow_id }), ask('flow.versions', { flow_id })]),
        );
        return JSON.stringify([flows, await Promise.all(each), await app.services.auditLog.verify('default')]);
      };
      const before = await openReview(source);
      await before.ask('vault.create', { vault_id: 'more' });
      const answers = await told(before);
      await asFirstSchema(old, before.app.services.database);
      await before.close();
      expect(await flowrightJson(['db', 'status'], programOn(old))).toMatchObject({
        current: 1,
        pending: EVERY.slice(1),
      });
      const after = await openReview(old);
      expect(await told(after)).toBe(answers);
      const base = await baseOf(after, 'flow_capture_to_note');
      const found = await after.ask<{ flow: object; steps: object[] }>('flow.get', { flow_id: 'flow_capture_to_note' });
      const edit = { flow: { ...found.flow, version: '0.2.0' }, steps: found.steps, ...base };
      expect(await after.approve((await after.propose(edit)).proposal_id)).toMatchObject({ mirror_written: true });
      const { versions } = await after.ask<{ versions: { version: string; proposal_id: string | null }[] }>(
        'flow.versions',
        { flow_id: 'flow_capture_to_note' },
      );
      expect(versions).toMatchObject([
        { version: '0.2.0', proposal_id: expect.any(String) },
        { version: '0.1.0', proposal_id: null },
      ]);
      await after.close();
    });

    it('[FLR-database-both] two processes that migrate at once apply each migration once', async () => {
      const store = await useStore(makeStore);
      const options = programOn(store);
      const commands = Array.from({ length: 4 }, () => flowright(['db', 'migrate', '--json'], options));
      const finished = await Promise.all(commands);
      expect(finished.map(({ status, stderr }) => [status, stderr])).toEqual(finished.map(() => [0, '']));
      const applied = finished.flatMap(({ stdout }) => (JSON.parse(stdout) as { applied: number[] }).applied);
      expect(applied).toEqual(EVERY);
      const status = await flowrightJson(['db', 'status'], options);
      expect(status).toEqual({ dialect: engine, current: SCHEMA_VERSION, latest: SCHEMA_VERSION, pending: [] });
    });

    it('[FLR-database-both] db status tells what is pending and changes nothing', async () => {
      const store = await useStore(makeStore);
      const options = programOn(store);
      const before = { dialect: engine, current: 0, latest: SCHEMA_VERSION, pending: EVERY };
      expect(await flowrightJson(['db', 'status'], options)).toEqual(before);
      expect(await flowrightJson(['db', 'status'], options)).toEqual(before);
      expect(await flowrightJson(['db', 'migrate'], options)).toEqual({ applied: EVERY });
      expect(await flowrightJson(['db', 'migrate'], options)).toEqual({ applied: [] });
      expect((await flowright(['db', 'migrate'], options)).stdout).toBe('the schema is up to date\n');
      const text = `${engine}: schema ${SCHEMA_VERSION} of ${SCHEMA_VERSION}, 0 pending\n`;
      expect((await flowright(['db', 'status'], options)).stdout).toBe(text);
    });

    it('[FLR-database-both] a database of a newer schema is refused by every command and left as it is', async () => {
      const store = await useStore(makeStore);
      const options = programOn(store);
      await flowright(['flow', 'list'], options);
      await raiseSchema(store);
      for (const command of [['flow', 'list'], ['db', 'migrate'], ['vault', 'create', 'more'], ['init']]) {
        const { status, stdout, stderr } = await flowright([...command, '--json'], options);
        expect([status, stdout, JSON.parse(stderr).code], command.join(' ')).toEqual([2, '', 'SCHEMA_TOO_NEW']);
      }
      await expect(startHub(options)).rejects.toThrow('SCHEMA_TOO_NEW');
      expect(readdirSync(store.home).filter((name) => name.endsWith('.lock'))).toEqual([]);
      const database = await bare(store);
      const status = await migrationStatus(database);
      await expect(migrate(database)).rejects.toMatchObject({ code: 'SCHEMA_TOO_NEW' });
      const vaults = await database.queries.selectFrom('vaults').select('vault_id').execute();
      await database.close();
      expect([status.current, vaults]).toEqual([SCHEMA_VERSION + 1, [{ vault_id: 'default' }]]);
      expect(await flowrightJson(['db', 'status'], options)).toMatchObject({
        current: SCHEMA_VERSION + 1,
        pending: [],
      });
    });

    it('[FLR-database-both] a migration that fails half-way leaves nothing behind', async () => {
      const store = await useStore(makeStore);
      const database = await bare(store);
      // A table in the way of a late statement.
      await sql.raw('create table flow_quarantine (other text)').execute(database.queries);
      await expect(migrate(database)).rejects.toThrow(/flow_quarantine/);
      expect(await migrationStatus(database)).toMatchObject({ current: 0, pending: EVERY });
      await expect(sql`select * from vaults`.execute(database.queries)).rejects.toThrow(/vaults/);
      await sql.raw('drop table flow_quarantine').execute(database.queries);
      expect(await migrate(database)).toEqual(EVERY);
      await database.close();
    });
  },
  { isEmpty: true },
);
