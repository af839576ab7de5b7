// The engine as the hub has it, in this process, for benchmarks.
import { type App, openApp } from '../../src/app.ts';
import { silentLog } from '../../src/kernel/log.ts';
import type { AnyOperation, Call } from '../../src/operations/index.ts';
import { loadSettings } from '../../src/settings.ts';

export interface Engine {
  save(name: string, graph: { nodes: unknown[]; edges: unknown[] }, maxParallel?: number): Promise<number>;
  /** Milliseconds from the request to the end of the run. */
  run(flowchartId: number): Promise<number>;
  /** Milliseconds from the request to the commit that says the first node is running. */
  firstNode(flowchartId: number): Promise<number>;
  bytes(): Promise<number>;
  file: string;
  app: App;
  close(): Promise<void>;
}

export async function openEngine(home: string, synchronous: 'FULL' | 'NORMAL' = 'FULL'): Promise<Engine> {
  const settings = loadSettings({ home, environment: { FLOWRIGHT_HOME: home } } as never);
  const app = await openApp(settings, { log: silentLog });
  const principal = await app.principals.local({ identity: 'local', vaultId: 'default', narrowTo: null, agent: false });
  const call: Call = { principal, door: 'http', request_id: 'bench', correlation_id: undefined };
  const operations = new Map((await app.catalogue.all()).map((operation) => [operation.name, operation]));
  const invoke = (name: string, input: unknown): Promise<never> =>
    Promise.resolve(app.invoke(operations.get(name) as AnyOperation, call, input)) as Promise<never>;
  const { sql } = await import('kysely');
  await sql.raw(`pragma synchronous = ${synchronous}`).execute(app.services.database.queries);
  await app.services.runtime.start();

  const runOnce = async (flowchart_id: number): Promise<{ runId: number; ended: Promise<void> }> => {
    let runId = 0;
    const answer: { flowchart_run: { id: number } } = await invoke('flowchart.run', { flowchart_id });
    runId = answer.flowchart_run.id;
    return { runId, ended: app.services.runtime.settled(runId) };
  };

  return {
    app,
    file: settings.paths.database,
    save: async (name, graph, maxParallel = 8) => {
      const { flowchart }: { flowchart: { id: number } } = await invoke('flowchart.create', {
        name,
        max_parallel_nodes: maxParallel,
      });
      await invoke('flowchart.save', { flowchart_id: flowchart.id, ...graph });
      return flowchart.id;
    },
    run: async (flowchartId) => {
      const begun = performance.now();
      const { runId, ended } = await runOnce(flowchartId);
      await ended;
      const taken = performance.now() - begun;
      const { flowchart_run: run }: { flowchart_run: { status: string; error: string | null } } = await invoke(
        'run.show',
        { run_id: runId, limit: 1 },
      );
      if (run.status !== 'completed') throw new Error(`run ${runId} ended as ${run.status}: ${run.error}`);
      return taken;
    },
    firstNode: async (flowchartId) => {
      const begun = performance.now();
      let first = 0;
      const stop = app.services.runtime.onCommit(() => {
        first ||= performance.now() - begun;
      });
      const { ended } = await runOnce(flowchartId);
      await ended;
      stop();
      return first;
    },
    bytes: async () => {
      const pages = await sql<{ page_count: number }>`pragma page_count`.execute(app.services.database.queries);
      const size = await sql<{ page_size: number }>`pragma page_size`.execute(app.services.database.queries);
      const free = await sql<{ freelist_count: number }>`pragma freelist_count`.execute(app.services.database.queries);
      return ((pages.rows[0]?.page_count ?? 0) - (free.rows[0]?.freelist_count ?? 0)) * (size.rows[0]?.page_size ?? 0);
    },
    close: () => app.close(),
  };
}
