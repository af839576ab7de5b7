import { type App, openApp } from '../../app.ts';
import { refusal } from '../../kernel/errors.ts';
import { stderrLog } from '../../kernel/log.ts';
import type { AnyOperation, Call } from '../../operations/index.ts';
import type { Cli } from './run.ts';

/** Opens the store, calls as the configured local identity, and closes. */
export async function callLocally(operation: AnyOperation, input: Record<string, unknown>, cli: Cli): Promise<unknown> {
  return withApp(cli, async (app) => app.invoke(operation, await localCall(app, cli), input));
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
