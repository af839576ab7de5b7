import type { Command } from 'commander';
import { connect, type Database, migrate, migrationStatus } from '../../../database/index.ts';
import { descend } from '../operation-command.ts';
import type { Cli } from '../run.ts';

export function register(program: Command, cli: Cli): void {
  descend(program, ['db', 'status'])
    .description('Show which schema the database has and which this program wants')
    .action(() =>
      withDatabase(cli, async (database) => {
        const status = await migrationStatus(database);
        const text = `${status.dialect}: schema ${status.current} of ${status.latest}, ${status.pending.length} pending`;
        cli.print(cli.options().json ? JSON.stringify(status) : text);
      }),
    );
  descend(program, ['db', 'migrate'])
    .description('Bring the schema up to date; every other command does this by itself too')
    .action(() =>
      withDatabase(cli, async (database) => {
        const applied = await migrate(database);
        const text = applied.length > 0 ? `applied: ${applied.join(', ')}` : 'the schema is up to date';
        cli.print(cli.options().json ? JSON.stringify({ applied }) : text);
      }),
    );
}

async function withDatabase(cli: Cli, work: (database: Database) => Promise<void>): Promise<void> {
  const { config, paths } = cli.settings();
  const database = await connect({ url: config.database_url, file: paths.database });
  try {
    await work(database);
  } finally {
    await database.close();
  }
}
