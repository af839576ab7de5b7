import type { Command } from 'commander';
import { readHubLock } from '../../../home/index.ts';
import { createSigninCode, DEFAULT_VAULT } from '../../../identity/index.ts';
import { refusal } from '../../../kernel/errors.ts';
import { withApp } from '../local-call.ts';
import { descend } from '../operation-command.ts';
import type { Cli } from '../run.ts';
import { addressOf } from './hub.ts';

export function register(program: Command, cli: Cli): void {
  descend(program, ['signin'])
    .description('Print a new sign-in link for the hub of this machine')
    .action(() =>
      withApp(cli, async (app) => {
        const { config, paths } = app.settings;
        if (config.identity === null) {
          throw refusal('CONFIG_INVALID', 'No identity is configured. Set `identity: local` in config.yaml.');
        }
        const owner = { user_id: config.identity, vault_id: DEFAULT_VAULT };
        const code = await createSigninCode(app.services.database, app.services.clock, owner);
        const running = readHubLock(paths);
        const link = `${running?.url ?? addressOf(config.host, config.port)}/signin?code=${code}`;
        cli.print(cli.options().json ? JSON.stringify({ link }) : link);
        if (!running)
          cli.tell('The hub is not running: start it with `flowright hub`, then open the link within 15 minutes.');
      }),
    );
}
