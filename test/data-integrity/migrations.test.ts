import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { connect, type Database, migrate, migrationStatus } from '../../src/database/index.ts';
import { SCHEMA_VERSION } from '../../src/database/migrate.ts';
import { onEachDatabase, type TestStore } from '../support/databases.ts';
import { flowright, flowrightJson, startHub } from '../support/program.ts';
import { programOn, useStore } from './library.ts';

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

onEachDatabase((engine, makeStore) => {
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
    expect(await flowrightJson(['db', 'status'], options)).toMatchObject({ current: SCHEMA_VERSION + 1, pending: [] });
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
});
