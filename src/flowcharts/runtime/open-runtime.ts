import type { Dispatcher } from './dispatcher.ts';
import type { RuntimeHost } from './runtime.ts';

/** The engine, whose code loads when a run is to be walked; most commands never do. */
export function openRuntime(load: () => Promise<Dispatcher>): RuntimeHost {
  let loading: Promise<Dispatcher> | null = null;
  let loaded: Dispatcher | null = null;
  let isClosed = false;
  const listeners = new Set<(runId: number) => void>();
  const dispatcher = async (): Promise<Dispatcher> => {
    loading ??= load().then((made) => {
      made.onCommit((runId) => {
        for (const listener of listeners) listener(runId);
      });
      loaded = made;
      return made;
    });
    return loading;
  };
  return {
    wake: (runId) => {
      if (loaded) loaded.wake(runId);
      else if (!isClosed) void dispatcher().then((made) => made.wake(runId));
    },
    settled: async (runId) => (await loading)?.settled(runId),
    onCommit: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    start: async () => (await dispatcher()).start(),
    underWay: () => loaded?.underWay() ?? [],
    idle: async () => {
      // Twice a turn: a wake that is still loading the engine counts as under way.
      await (await loading)?.idle();
    },
    close: async () => {
      isClosed = true;
      await (await loading)?.close();
    },
  };
}
