import type { Command } from 'commander';
import { withApp } from '../local-call.ts';
import { descend } from '../operation-command.ts';
import type { Cli } from '../run.ts';

export function register(program: Command, cli: Cli): void {
  descend(program, ['init'])
    .description('Make the data folder ready: settings, database, owner, starter flows')
    .action(() => withApp(cli, async (app) => initialise(app, cli)));
}

async function initialise(app: Parameters<Parameters<typeof withApp>[1]>[0], cli: Cli): Promise<void> {
  const { paths, config } = app.settings;
  const principal = await app.principals.local({
    identity: config.identity,
    vaultId: config.vault,
    narrowTo: null,
    agent: false,
  });
  const { flows } = await app.services.flows.list(principal, {});
  const { dialect } = app.services.database;
  const facts = {
    home: paths.home,
    config: paths.config,
    database: dialect,
    identity: config.identity,
    flows: flows.length,
  };
  if (cli.options().json) cli.print(JSON.stringify(facts));
  else {
    cli.print(
      `${paths.home} is ready: ${dialect} database, identity ${config.identity ?? '(none)'}, ${flows.length} flows.`,
    );
    cli.print('Next: `flowright flow list`, or `flowright hub` for the web and MCP doors.');
  }
}
