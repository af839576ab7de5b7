import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { tokenFor } from '../security/people.ts';
import { onEachDatabase, type TestStore } from '../support/databases.ts';
import { type Payload, workedGraph } from '../support/flowcharts.ts';
import { flowright, flowrightJson, type ProgramOptions, ROOT, startHub } from '../support/program.ts';

const EXAMPLE = join(ROOT, 'examples/flowcharts/release-checklist.json');

onEachDatabase((_engine, makeStore) => {
  let store: TestStore;
  let options: ProgramOptions;

  beforeEach(async () => {
    store = await makeStore();
    options = { home: store.home, databaseUrl: store.databaseUrl };
  });
  afterEach(() => store.remove());

  const run = (...args: string[]) => flowright(['flowchart', ...args], options);
  const file = (name: string, content: unknown): string => {
    const path = join(store.home, name);
    writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content));
    return path;
  };

  describe('[FLR-graph-crud] [FLR-graph-picture] flowcharts at the command line', () => {
    it('are made, saved from a file, looked at and judged', async () => {
      const made = (await run('create', 'Ship it', '--max-parallel-nodes', '2')).stdout;
      expect(made).toMatch(/^flowchart \d+: Ship it \(graph version 1\)\n$/);
      const id = made.match(/\d+/)?.[0] as string;
      const graph = file('graph.json', workedGraph());
      expect(await run('validate', id, graph)).toMatchObject({
        status: 0,
        stdout: `draft for flowchart ${id}\nit can run\n`,
      });
      expect(await run('save', id, graph, '--base-version', '1')).toMatchObject({
        status: 0,
        stdout: `flowchart ${id} is at version 2: 5 nodes, 5 connectors\nit can run\n`,
      });
      const card = (await run('get', id)).stdout;
      expect(card).toMatch(/\n\[\d+\] start\n {2}──▶ \[\d+\] plan\n {4}──▶ \[\d+\] decision\n/);
      expect(card).toContain('──▶ (done) [');
      expect(card).toContain('┄┄▶ [');
      expect((await run('list')).stdout).toMatch(/\n\d+ +2 +5 +5 +0 +Ship it\n/);
      expect((await run('versions', id)).stdout.split('\n')).toHaveLength(4);
      expect((await run('diff', id)).stdout).toMatch(/^version 1 to 2\n\+ node \d+\n/);
      expect(await run('save', id, graph, '--base-version', '1')).toMatchObject({
        status: 1,
        stderr: expect.stringContaining('(graph_conflict)'),
      });
      const read = await flowrightJson<Payload>(['flowchart', 'graph', id], options);
      expect((await run('save', id, file('read.json', read))).stdout).toContain('is at version 2');
    });

    it('say what is wrong with a file, and end with 1', async () => {
      const id = (await run('create', 'Ship it')).stdout.match(/\d+/)?.[0] as string;
      const graph = workedGraph();
      delete graph.edges[0].edge_mode;
      graph.nodes[4].config = {};
      const refused = await run('save', id, file('graph.json', graph));
      expect(refused.status).toBe(1);
      expect(refused.stderr).toContain('/edges/0/edge_mode');
      expect(refused.stderr).toContain('/nodes/4/config/action');
      expect(await run('validate', id, file('draft.json', { nodes: [], edges: [] }))).toMatchObject({
        status: 1,
        stdout: expect.stringContaining('start_node_count'),
      });
      expect((await run('save', id, join(store.home, 'nowhere.json'))).stderr).toContain('cannot be read');
      expect((await run('save', 'one', file('g.json', workedGraph()))).stderr).toContain('must be a whole number');
    });

    it('[FLR-graph-transfer] go to a file and come back, here and at a hub', async () => {
      const imported = (await run('import', EXAMPLE)).stdout;
      expect(imported).toMatch(/^flowchart \d+: Release checklist \(graph version 1\)\nit can run\n$/);
      const id = imported.match(/\d+/)?.[0] as string;
      const out = join(store.home, 'out.json');
      expect((await run('export', id, '--out', out)).stdout).toBe(`written to ${out}\n`);
      expect(JSON.parse((await run('export', id)).stdout)).toEqual(JSON.parse(readFileSync(out, 'utf8')));
      const hub = await startHub(options);
      try {
        const token = await tokenFor(options, 'local');
        const at = { ...options, env: { FLOWRIGHT_HUB: hub.url, FLOWRIGHT_HUB_TOKEN: token } };
        const typed = { ...at, input: readFileSync(out, 'utf8') };
        const sent = await flowrightJson<Payload>(['flowchart', 'import', '-'], typed);
        const flowchart_id = String(sent.flowchart.id);
        expect(await flowrightJson(['flowchart', 'export', flowchart_id], at)).toEqual(JSON.parse(typed.input));
        const graph = file('graph.json', workedGraph());
        expect(await flowrightJson<Payload>(['flowchart', 'validate', flowchart_id, graph], at)).toMatchObject({
          version: null,
          valid: true,
        });
        expect(await flowrightJson<Payload>(['flowchart', 'save', flowchart_id, graph], at)).toMatchObject({
          version: 2,
        });
        const response = await fetch(`${hub.url}/api/flowcharts/${flowchart_id}/graph`, {
          method: 'POST',
          headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
          body: JSON.stringify({ nodes: [{}], edges: [] }),
        });
        expect(response.status).toBe(400);
      } finally {
        await hub.stop();
      }
      expect((await run('delete', id, '--yes')).stdout).toBe(`flowchart ${id} is deleted\n`);
    });
  });
});
