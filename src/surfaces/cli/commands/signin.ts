import type { Command } from 'commander';
import { readHubLock } from '../../../home/index.ts';
import { withApp } from '../local-call.ts';
import { descend } from '../operation-command.ts';
import type { Cli } from '../run.ts';
import { addressOf, reachableHost, signinLink } from '../signin-link.ts';

export function register(program: Command, cli: Cli): void {
  descend(program, ['signin'])
    .description('Print a new sign-in link for the hub of this machine')
    .action(() =>
      withApp(cli, async (app) => {
        const { config, paths } = app.settings;
        const running = readHubLock(paths);
        const port = running ? Number(new URL(running.url).port) : config.port;
        const host = running ? new URL(running.url).hostname : config.host;
        const link = await signinLink(app, addressOf(reachableHost(host.replace(/^\[|\]$/g, '')), port));
        cli.print(cli.options().json ? JSON.stringify({ link }) : link);
        if (!running) {
          cli.tell('The hub is not running: start it with `flowright hub`, then open the link within 15 minutes.');
        }
      }),
    );
}
