import { type App, openApp } from '../../app.ts';
import { refusal } from '../../kernel/errors.ts';
import { stderrLog } from '../../kernel/log.ts';
import type { AnyOperation, Call } from '../../operations/index.ts';
import type { Cli } from './run.ts';

const NOTICE_MS = 1_000;

/** Opens the store, calls as the configured local identity, and closes. */
export async function callLocally(operation: AnyOperation, input: Record<string, unknown>, cli: Cli): Promise<unknown> {
  return withApp(cli, async (app) => {
    const answer = await app.invoke(operation, await localCall(app, cli), input);
    await walkOn(app, cli);
    return answer;
  });
}

/** A run that was set going here, with no hub to walk it, is walked by this process. */
export async function walkOn(app: App, cli: Cli): Promise<void> {
  const { runtime } = app.services;
  const notice = setTimeout(() => {
    const runs = runtime.underWay().join(', ');
    if (runs !== '') cli.tell(`Walking run ${runs}. Ctrl-C leaves it to the next hub or command.`);
  }, NOTICE_MS);
  await runtime.idle();
  clearTimeout(notice);
}

export async function withApp<T>(cli: Cli, work: (app: App) => Promise<T>): Promise<T> {
  if (cli.options().hub) throw refusal('USAGE_ERROR', 'This command works on the local store: leave --hub out.');
  const app = await openApp(cli.settings(), { log: stderrLog });
  try {
    return await work(app);
  } finally {
    await app.close();
  }
}

export async function localCall(app: App, cli: Cli): Promise<Call> {
  const { config } = app.settings;
  const principal = await app.principals.local({
    identity: config.identity,
    vaultId: config.vault,
    narrowTo: config['flow.visible_scopes'],
    agent: false,
  });
  return { principal, door: 'cli', request_id: cli.requestId(), correlation_id: undefined };
}
