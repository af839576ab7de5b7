import type { Server } from 'node:net';
import type { Command } from 'commander';
import { openApp } from '../../../app.ts';
import { readHubLock, removeHubLock, writeHubLock } from '../../../home/index.ts';
import { createSigninCode, DEFAULT_VAULT, OWNER } from '../../../identity/index.ts';
import { refusal } from '../../../kernel/errors.ts';
import { descend } from '../operation-command.ts';
import type { Cli } from '../run.ts';

export function register(program: Command, cli: Cli): void {
  descend(program, ['hub'])
    .description('Run the hub in the foreground; Ctrl-C stops it')
    .addHelpText('after', '\nExamples:\n  flowright hub\n  FLOWRIGHT_PORT=8080 flowright hub')
    .action(() => runHub(cli));
}

async function runHub(cli: Cli): Promise<void> {
  const { createPinoLog } = await import('../../../kernel/pino-log.ts');
  const { createHttpServer } = await import('../../http/server.ts');
  const { isLoopback } = await import('../../http/origin-guard.ts');
  const settings = cli.settings();
  const { config, paths } = settings;
  if (!isLoopback(config.host) && !config.allow_remote) {
    throw refusal(
      'CONFIG_INVALID',
      `host is ${config.host}, which others can reach. Set allow_remote: true (FLOWRIGHT_ALLOW_REMOTE=true) if you mean that.`,
    );
  }
  const app = await openApp(settings, { log: createPinoLog(config.log_level) });
  const server = await createHttpServer(app);
  try {
    await server.listen({ host: config.host, port: config.port });
  } catch (error) {
    await server.close();
    await app.close();
    if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error;
    throw refusal(
      'PORT_IN_USE',
      `Port ${config.port} on ${config.host} is in use. Stop the other program, or set FLOWRIGHT_PORT to another port.`,
    );
  }
  const url = addressOf(config.host, portOf(server.server.address()) ?? config.port);
  if (!readHubLock(paths)) writeHubLock(paths, url);
  cli.print(`listening on ${url}`);
  const code = await createSigninCode(app.services.database, app.services.clock, {
    user_id: config.identity ?? OWNER,
    vault_id: DEFAULT_VAULT,
  });
  cli.print(`sign in: ${url}/signin?code=${code}`);
  await stopSignal();
  cli.tell('stopping');
  await server.close();
  removeHubLock(paths);
  await app.close();
}

export function addressOf(host: string, port: number): string {
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
}

function portOf(address: ReturnType<Server['address']>): number | undefined {
  return address !== null && typeof address === 'object' ? address.port : undefined;
}

function stopSignal(): Promise<void> {
  return new Promise((stop) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stop());
  });
}
