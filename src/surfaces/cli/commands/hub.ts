import type { AddressInfo } from 'node:net';
import type { Command } from 'commander';
import { openApp } from '../../../app.ts';
import { removeHubLock, writeHubLock } from '../../../home/index.ts';
import { keepSynced, keepTidy } from '../../../housekeeping.ts';
import { refusal } from '../../../kernel/errors.ts';
import { descend } from '../operation-command.ts';
import type { Cli } from '../run.ts';
import { addressOf, assertIdentity, reachableHost, signinLink } from '../signin-link.ts';

/** How long requests under way may take once the hub is told to stop. */
const GRACE_MS = 1_000;

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
  const stop = stopSignal();
  const app = await openApp(settings, { log: createPinoLog(config.log_level) });
  const server = await createHttpServer(app);
  try {
    await assertIdentity(app);
    await server.listen({ host: config.host, port: config.port });
  } catch (error) {
    await server.close();
    await app.close();
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EACCES' || code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND') {
      throw refusal(
        'CONFIG_INVALID',
        `The hub cannot listen on ${config.host}:${config.port} (${code}). Choose another host or port.`,
      );
    }
    if (code !== 'EADDRINUSE') throw error;
    throw refusal(
      'PORT_IN_USE',
      `Port ${config.port} on ${config.host} is in use. Stop the other program, or set FLOWRIGHT_PORT to another port.`,
    );
  }
  const { port } = server.server.address() as AddressInfo;
  const url = addressOf(config.host, port);
  writeHubLock(paths, url);
  await app.services.runtime.start();
  const stopTidying = keepTidy(app.services);
  const stopSyncing = await keepSynced(app.services);
  cli.print(`listening on ${url}`);
  cli.print(`sign in: ${await signinLink(app, addressOf(reachableHost(config.host), port))}`);
  await stop;
  cli.tell('stopping');
  // A connection that says nothing, such as a browser keeps for later, must not hold up the end.
  const grace = setTimeout(() => server.server.closeAllConnections(), GRACE_MS);
  await server.close();
  clearTimeout(grace);
  stopTidying();
  stopSyncing();
  removeHubLock(paths);
  await app.close();
}

function stopSignal(): Promise<void> {
  return new Promise((stop) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stop());
  });
}
