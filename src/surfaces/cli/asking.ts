import type { AnyOperation } from '../../operations/index.ts';
import type { Cli } from './run.ts';

/** Several questions in a row, and what else a command that follows a run needs. */
export interface Asking {
  ask(operation: AnyOperation, input: Record<string, unknown>): Promise<unknown>;
  /** Where no hub does it, this process walks the run. */
  drive(runId: number): void;
  /** Resolves once nothing is walked here any more. */
  settle(): Promise<void>;
}

/** Over a hub every question is a request of its own; the local store stays open between them. */
export async function asking<T>(cli: Cli, work: (asking: Asking) => Promise<T>): Promise<T> {
  if (cli.settings().config.hub_url) {
    return work({
      ask: async (operation, input) => JSON.parse(await cli.ask(operation, input)) as unknown,
      drive: () => {},
      settle: async () => {},
    });
  }
  const { localCall, walkOn, withApp } = await import('./local-call.ts');
  return withApp(cli, async (app) => {
    const call = await localCall(app, cli);
    return work({
      ask: async (operation, input) => app.invoke(operation, call, input),
      drive: () => void app.services.runtime.start().catch(() => {}),
      settle: () => walkOn(app, cli),
    });
  });
}
