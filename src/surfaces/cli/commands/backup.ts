import { resolve } from 'node:path';
import type { Command } from 'commander';
import { restoreSqlite } from '../../../database/index.ts';
import { readHubLock } from '../../../home/index.ts';
import { refusal } from '../../../kernel/errors.ts';
import { confirm } from '../confirm.ts';
import { localCall, withApp } from '../local-call.ts';
import { descend } from '../operation-command.ts';
import type { Cli } from '../run.ts';

export function register(program: Command, cli: Cli): void {
  descend(program, ['backup'])
    .argument('<file>', 'where to write the copy')
    .description('Write a consistent copy of the embedded database, also while the hub runs')
    .action((file: string) =>
      withApp(cli, async ({ services }) => {
        await services.database.backup(resolve(file));
        cli.print(cli.options().json ? JSON.stringify({ file: resolve(file) }) : `backup written to ${resolve(file)}`);
      }),
    );
  descend(program, ['restore'])
    .argument('<file>', 'a file written by `flowright backup`')
    .description('Put a backup in place; the present database is kept beside it')
    .action((file: string) => restore(resolve(file), cli));
}

async function restore(file: string, cli: Cli): Promise<void> {
  const { config, paths } = cli.settings();
  if (config.database_url) {
    throw refusal(
      'BAD_REQUEST',
      'PostgreSQL is restored with its own tools: pg_restore --dbname "$DATABASE_URL" FILE.',
    );
  }
  const hub = readHubLock(paths);
  if (hub)
    throw refusal('HUB_RUNNING', `The hub at ${hub.url} (process ${hub.pid}) uses this database. Stop it first.`);
  await confirm({ summary: `Replace the database in ${paths.home}` }, cli);
  const stamp = new Date().toISOString().replaceAll(/[:.]/g, '-');
  const aside = await restoreSqlite(file, paths.database, stamp);
  await withApp(cli, async (app) => {
    const call = await localCall(app, cli);
    const { database, auditLog } = app.services;
    await database.transaction((trx) => auditLog.done(trx, call, 'database.restore', {}));
  });
  if (cli.options().json) cli.print(JSON.stringify({ restored: file, kept: aside }));
  else cli.print(`restored from ${file}${aside ? `; the database before it is kept as ${aside}` : ''}`);
}
