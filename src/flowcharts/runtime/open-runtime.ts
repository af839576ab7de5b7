import type { Dispatcher } from './dispatcher.ts';
import type { RuntimeHost } from './runtime.ts';

/** The engine, whose code loads when a run is to be walked; most commands never do. */
export function openRuntime(load: () => Promise<Dispatcher>): RuntimeHost {
  let loading: Promise<Dispatcher> | null = null;
  let loaded: Dispatcher | null = null;
  let isClosed = false;
  /** Wakes that came while the engine was loading: until it has heard of them, their runs are under way. */
  let woken: Promise<void> = Promise.resolve();
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
      else if (!isClosed) woken = dispatcher().then((made) => made.wake(runId));
    },
    settled: async (runId) => {
      await woken;
      await loaded?.settled(runId);
    },
    onCommit: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    start: async () => (await dispatcher()).start(),
    underWay: () => loaded?.underWay() ?? [],
    idle: async () => {
      await woken;
      await loaded?.idle();
    },
    close: async () => {
      isClosed = true;
      await (await loading)?.close();
    },
  };
}
