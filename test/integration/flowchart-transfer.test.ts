import { describe, expect, it } from 'vitest';
import { loadExamples } from '../../src/flowcharts/graph/examples.ts';
import { useStore } from '../data-integrity/library.ts';
import { onEachDatabase } from '../support/databases.ts';
import { codesOf, type Flowcharts, openFlowcharts, type Payload, workedGraph } from '../support/flowcharts.ts';

onEachDatabase((_engine, makeStore) => {
  const open = async () => openFlowcharts(await useStore(makeStore));
  const example = (name: string): Payload => structuredClone(loadExamples().find((each) => each.name === name)?.file);

  async function addFile({ database }: Flowcharts, vault_id: string, sha256: string): Promise<number> {
    const row = await database.queries
      .insertInto('attachments')
      .values({
        vault_id,
        file_name: 'notes.txt',
        content_type: 'text/plain',
        size_bytes: 5,
        sha256,
        created_by: 'local',
        created_at: '2026-03-01T10:00:00.000Z',
      })
      .returning('id')
      .executeTakeFirstOrThrow();
    return Number(row.id);
  }

  describe('[FLR-graph-transfer] a flowchart as a file', () => {
    it('is the same after a round trip, in another vault too', async () => {
      const flowcharts = await open();
      const { ask, makeVault } = flowcharts;
      await makeVault('other');
      const first = await ask('flowchart.import', example('release-checklist'));
      const file = await ask('flowchart.export', { flowchart_id: first.flowchart.id });
      expect(file).toMatchObject({ schema: 'flowright.flowchart/v1', flowchart: { name: 'Release checklist' } });
      expect(Object.keys(file.refs.plans)).toEqual(['p1']);
      expect(file.refs.plans.p1.stages.map(({ name }: Payload) => name)).toEqual(['Prepare', 'Ship']);
      for (const vault of ['default', 'other']) {
        const again = await ask('flowchart.import', file, { vault });
        expect(again).toMatchObject({ version: 1, warnings: [], validation: { valid: true } });
        expect(await ask('flowchart.export', { flowchart_id: again.flowchart.id }, { vault })).toEqual(file);
      }
    });

    it('has plans of its own, shared by the nodes that shared one', async () => {
      const { ask, database } = await open();
      const { nodes, id_map } = await ask('flowchart.import', example('release-checklist'));
      const ref = (name: string) => nodes.find(({ id }: Payload) => id === id_map.nodes[name]).ref_id;
      expect(ref('follow_up')).toBe(ref('tick'));
      expect(await database.queries.selectFrom('plans').select('name').execute()).toEqual([
        { name: 'Release checklist' },
      ]);
      const tasks = await database.queries.selectFrom('plan_tasks').select('name').orderBy('id').execute();
      expect(tasks.map(({ name }) => name)).toEqual([
        'Freeze the branch',
        'Write the notes',
        'Tag the version',
        'Tell the users',
      ]);
      expect(await database.queries.selectFrom('milestones').select(['name', 'priority']).execute()).toEqual([
        { name: 'The release is out', priority: 'high' },
      ]);
    });

    it('finds subflows by name and files by content, and says what it did not find', async () => {
      const flowcharts = await open();
      const { ask, makeVault } = flowcharts;
      await makeVault('other');
      const { flowchart: called } = await ask('flowchart.create', { name: 'Called' });
      const { flowchart } = await ask('flowchart.create', { name: 'Calls' });
      const attachment = await addFile(flowcharts, 'default', 'a'.repeat(64));
      const graph = {
        nodes: [
          { client_id: 's', node_type: 'start' },
          { client_id: 'f', node_type: 'flowchart', ref_id: called.id },
          { client_id: 't', node_type: 'task', config: { executor: 'static' }, attachment_ids: [attachment] },
        ],
        edges: [
          { source: 's', target: 'f', edge_mode: 'solid' },
          { source: 'f', target: 't', edge_mode: 'solid' },
        ],
      };
      await ask('flowchart.save', { flowchart_id: flowchart.id, ...graph });
      const file = await ask('flowchart.export', { flowchart_id: flowchart.id });
      expect(file.refs.flowcharts).toEqual({ f1: { name: 'Called' } });
      const here = await ask('flowchart.import', file);
      expect(here.warnings).toEqual([]);
      expect(here.nodes[1].ref_id).toBe(called.id);
      expect(here.nodes[2].attachment_ids).toEqual([attachment]);
      const there = await ask('flowchart.import', file, { vault: 'other' });
      expect(there.warnings.map(({ code, path }: Payload) => `${code} ${path}`)).toEqual([
        'ref_not_found /nodes/1/ref',
        'attachment_not_found /nodes/2/attachments/0',
      ]);
      expect(there.validation.errors).toMatchObject([{ code: 'missing_ref_id' }]);
    });

    it('that is wrong is a list of issues, and nothing is made', async () => {
      const { ask, refusal, database } = await open();
      const file = example('release-checklist');
      file.schema = 'something/v9';
      file.flowchart.name = '';
      file.extra = true;
      file.refs.plans.checklist.stages[0].name = 7;
      file.refs.milestones.release.status = 'sideways';
      file.nodes[1].ref = 'nobody';
      file.nodes[2].config.mode = 'psychic';
      file.nodes[3].ref_id = 4;
      file.nodes[4].ref = 'checklist';
      file.edges[0].target = 'nowhere';
      expect(codesOf(await refusal('flowchart.import', file))).toEqual([
        'schema_unknown /schema',
        'unknown_key /extra',
        'invalid_format /flowchart/name',
        'invalid_type /refs/plans/checklist/stages/0/name',
        'unknown_key /nodes/3/ref_id',
        'unexpected_ref /nodes/4/ref',
        'plan_config_invalid /nodes/2/config/mode',
        'edge_endpoint_invalid /edges/0/target',
      ]);
      file.refs.plans.checklist.stages[0].name = 'Prepare';
      expect(codesOf(await refusal('flowchart.import', file))).toEqual(
        expect.arrayContaining(['invalid_value /refs/milestones/release/status', 'ref_unknown /nodes/1/ref']),
      );
      for (const wrong of [{}, { schema: 'flowright.flowchart/v1' }, { nodes: 1, edges: 2, refs: 3, flowchart: 4 }]) {
        expect((await refusal('flowchart.import', wrong)).code).toBe('BAD_REQUEST');
      }
      expect((await ask('flowchart.list')).total_count).toBe(0);
      for (const table of ['plans', 'milestones', 'memories'] as const) {
        expect(await database.queries.selectFrom(table).selectAll().execute()).toEqual([]);
      }
    });

    it('can be of an older version', async () => {
      const { ask } = await open();
      const { flowchart } = await ask('flowchart.create', { name: 'Grows' });
      await ask('flowchart.save', { flowchart_id: flowchart.id, ...workedGraph() });
      const file = await ask('flowchart.export', { flowchart_id: flowchart.id, version: 1 });
      expect(file.nodes).toHaveLength(1);
    });
  });

  describe('[FLR-graph-examples] an example', () => {
    it('comes with the program', () => {
      expect(loadExamples().map(({ name }) => name)).toEqual(['memory-loop', 'release-checklist']);
      expect(loadExamples('/nonexistent')).toEqual([]);
    });

    it.each(loadExamples().map(({ name }) => name))('%s can be imported and is ready to run', async (name) => {
      const { ask } = await open();
      const imported = await ask('flowchart.import', example(name));
      expect(imported.validation).toEqual({ valid: true, errors: [], warnings: [] });
      expect(imported.warnings).toEqual([]);
    });
  });
});
