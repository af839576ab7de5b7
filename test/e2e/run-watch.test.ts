import { spawn } from 'node:child_process';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { App } from '../../src/app.ts';
import { openTestApp } from '../support/app.ts';
import { makeStore, type TestStore } from '../support/databases.ts';
import { flowright, flowrightJson, MAIN, programEnv, startHub } from '../support/program.ts';
import { type RunRows, runRows } from '../support/run-rows.ts';

describe('flowright run watch', () => {
  let store: TestStore;
  let app: App;
  let rows: RunRows;
  let chart: { id: number; nodes: number[] };

  beforeAll(async () => {
    store = await makeStore('sqlite');
    await flowright(['init'], { home: store.home });
    app = await openTestApp(store);
    rows = runRows(app.services.database, app.services.clock);
    chart = await rows.flowchart([{ type: 'task', title: 'Draft' }]);
  });
  afterAll(async () => {
    await app.close();
    await store.remove();
  });

  const finished = async (status: 'completed' | 'failed' | 'canceled'): Promise<number> => {
    const run = await rows.run(chart.id, { status });
    const nodeRun = await rows.nodeRun(run, chart.nodes[0]!, { sequence: 1, output: { text: 'x' } });
    await rows.event(run, 'flowchart.node.updated', {
      flowchart_node_id: chart.nodes[0],
      node_run_id: nodeRun,
      status: 'succeeded',
    });
    await rows.event(run, 'flowchart.run.updated', { status });
    return run;
  };

  it('prints a line an event when piped and ends with the code of the run [FLR-watch-plain] [FLR-watch-exit-codes]', async () => {
    for (const [status, code] of [
      ['completed', 0],
      ['failed', 2],
      ['canceled', 1],
    ] as const) {
      const run = await finished(status);
      const ended = await flowright(['run', 'watch', String(run)], { home: store.home });
      expect(ended.stderr).toBe('');
      expect(ended.stdout).toMatch(/Draft {2}succeeded/);
      expect(ended.stdout).toContain(`run ${run}: ${status}`);
      expect(ended.status).toBe(code);
    }
    expect((await flowright(['run', 'watch', '999999'], { home: store.home })).status).toBe(1);
    expect((await flowright(['run', 'watch', 'soon'], { home: store.home })).stderr).toContain('USAGE_ERROR');
  });

  it('says the same over a hub, and as JSON lines [FLR-watch-hub]', async () => {
    const run = await finished('completed');
    const hub = await startHub({ home: store.home });
    try {
      const { token } = await flowrightJson<{ token: string }>(['token', 'create', '--user', 'local'], {
        home: store.home,
      });
      const env = { FLOWRIGHT_HUB: hub.url, FLOWRIGHT_HUB_TOKEN: token };
      const remote = await flowright(['run', 'watch', String(run)], { home: store.home, env });
      const local = await flowright(['run', 'watch', String(run)], { home: store.home });
      expect(remote).toEqual(local);
      const lines = (await flowright(['run', 'watch', String(run), '--json'], { home: store.home, env })).stdout
        .trim()
        .split('\n');
      expect(lines.map((line) => JSON.parse(line).sequence)).toEqual([1, 2]);
    } finally {
      await hub.stop();
    }
  });

  it('follows a run that goes on, and leaves it alone at Ctrl-C [FLR-watch-leaves]', async () => {
    const run = await rows.run(chart.id);
    const child = spawn(process.execPath, [MAIN, 'run', 'watch', String(run)], {
      env: programEnv({ home: store.home }),
    });
    let stdout = '';
    child.stdout.setEncoding('utf8').on('data', (chunk) => {
      stdout += chunk;
    });
    const ended = new Promise<number | null>((end) => child.once('close', end));
    await rows.event(run, 'flowchart.run.updated', { status: 'paused', transition: 'paused' });
    await vi.waitFor(() => expect(stdout).toContain('paused (paused)'), { timeout: 20_000 });
    child.kill('SIGINT');
    expect(await ended).toBe(1);
    expect(stdout).toContain(`The run is left as it is. Watch it again with: flowright run watch ${run}`);
    const row = await app.services.database.queries
      .selectFrom('flowchart_runs')
      .select('status')
      .where('id', '=', run)
      .executeTakeFirst();
    expect(row?.status).toBe('paused');
  });
});
