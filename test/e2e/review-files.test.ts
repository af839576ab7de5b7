import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { FlowBundle } from '../../src/flows/index.ts';
import { onFirst, onFirstDatabase } from '../support/databases.ts';
import { sampleFlow } from '../support/flows.ts';
import {
  approve,
  type FlowProposalAnswer,
  type Office,
  openOffice,
  type ProposalAnswer,
  proposeNew,
} from '../support/office.ts';

interface Note {
  body: string;
  frontmatter: Record<string, unknown>;
  state_id: string;
}
interface Mirrors {
  mirrors: { flow_id: string; version: string; state: string; path: string }[];
}

onFirstDatabase((engine, makeStore) => {
  const once = onFirst(engine);
  let office: Office;
  beforeAll(async () => {
    office = await openOffice(makeStore, { FLOW_AUTHORING_WRITES: '1' });
  });
  afterAll(() => office?.close());

  const vaultFile = (...parts: string[]) => join(office.store.home, 'vaults', 'default', ...parts);
  const propose = (path: string, body: string, ...more: string[]) =>
    office.ed.asks<ProposalAnswer>([
      ...['proposal', 'create', '--path', path, '--body', body, '--intent', 'Keep it', ...more],
    ]);

  it('[FLR-notes] a proposed note is on disk when it is approved and not before, and says who was behind it', async () => {
    const { vic, ann } = office;
    const { proposal_id, status } = await propose('projects/plan.md', '# Plan\n\nStart small.');
    expect(status).toBe('proposed');
    expect((await vic.isRefused(['note', 'get', 'projects/plan.md'])).code).toBe('NOT_FOUND');
    const diff = await vic.reads(['proposal', 'diff', proposal_id]);
    expect(diff).toBe('projects/plan.md (new)\n@@ line 1 → 1 @@\n+# Plan\n+\n+Start small.\n');
    expect(await approve(ann, proposal_id)).toMatchObject({ status: 'approved', mirror_path: 'projects/plan.md' });
    const note = await vic.asks<Note>(['note', 'get', 'projects/plan.md']);
    expect(note.body).toBe('# Plan\n\nStart small.');
    expect(note.frontmatter).toMatchObject({
      author_kind: 'human',
      knowtation_proposed_by: expect.stringMatching(/^[0-9a-f]{64}$/),
      knowtation_approved_by: expect.stringMatching(/^[0-9a-f]{64}$/),
    });
    expect(readFileSync(vaultFile('projects', 'plan.md'), 'utf8')).not.toMatch(/\b(ed|ann)\b/);
    const [log] = readdirSync(vaultFile('approvals'));
    expect(readFileSync(vaultFile('approvals', log as string), 'utf8')).toContain(proposal_id);
  });

  once('[FLR-conflicted] two changes of one note: the second is told, reads the note, and proposes again', async () => {
    const { ed, ann } = office;
    await approve(ann, (await propose('projects/list.md', 'one')).proposal_id);
    const first = await propose('projects/list.md', 'one\ntwo');
    const second = await propose('projects/list.md', 'one\nthree');
    expect((await approve(ann, first.proposal_id)).conflicted).toEqual([second.proposal_id]);
    const now = await ed.asks<Note>(['note', 'get', 'projects/list.md']);
    expect(await ann.isRefused(['proposal', 'approve', second.proposal_id])).toMatchObject({
      code: 'CONFLICT',
      details: { current_state_id: now.state_id },
    });
    const again = await propose('projects/list.md', `${now.body}\nthree`, '--base-state-id', now.state_id);
    expect(await ann.reads(['proposal', 'diff', again.proposal_id])).toContain('\n two\n+three\n');
    await approve(ann, again.proposal_id);
    expect((await ed.asks<Note>(['note', 'get', 'projects/list.md'])).body).toBe('one\ntwo\nthree');
  });

  once(
    '[FLR-notes] a note that was written meanwhile is not overwritten, and who may not write notes may not propose them',
    async () => {
      const { ed, vic, ann } = office;
      const { proposal_id } = await propose('projects/busy.md', 'proposed');
      await ed.reads(['note', 'put', 'projects/busy.md', '--file', '-'], 'written at once');
      expect((await ann.isRefused(['proposal', 'approve', proposal_id])).code).toBe('CONFLICT');
      expect((await ed.asks<Note>(['note', 'get', 'projects/busy.md'])).body).toBe('written at once');
      const refused = await vic.isRefused(['proposal', 'create', '--path', 'projects/x.md', '--body', 'x']);
      expect(refused).toMatchObject({ code: 'FORBIDDEN', message: expect.stringContaining('editor') });
      for (const path of ['meta/flows/x.md', 'approvals/x.md']) {
        expect((await ed.isRefused(['proposal', 'create', '--path', path, '--body', 'x'])).code).toBe('FORBIDDEN');
      }
    },
  );

  once('[FLR-notes] the front block of a note can be proposed too, and its types survive', async () => {
    const { ann, ed } = office;
    const frontmatter = { tags: ['a', 'b'], done: false, size: 3 };
    const { proposal_id } = await propose('projects/typed.md', 'text', '--frontmatter', JSON.stringify(frontmatter));
    await approve(ann, proposal_id);
    expect((await ed.asks<Note>(['note', 'get', 'projects/typed.md'])).frontmatter).toMatchObject(frontmatter);
  });

  it('[FLR-mirror] [S002-9.5-index-wins] a mirror edited by hand changes nothing until it is proposed and approved', async () => {
    const { ed, vic, ann } = office;
    const flowId = 'flow_mirrored';
    await approve(ann, (await proposeNew(ed, sampleFlow(flowId))).proposal_id);
    const file = vaultFile('meta', 'flows', 'mirrored.md');
    const stateOf = async () => {
      const { stdout, status } = await vic.types(['flow', 'mirror', 'list', '--json']);
      const { state } = (JSON.parse(stdout) as Mirrors).mirrors.find(({ flow_id }) => flow_id === flowId) ?? {};
      return { state, status };
    };
    expect(await stateOf()).toEqual({ state: 'in_step', status: 0 });
    expect((await ed.isRefused(['flow', 'mirror', 'propose', flowId])).code).toBe('CONFLICT');

    const edited = readFileSync(file, 'utf8').replace(`"title": "Title of ${flowId}"`, '"title": "By hand"');
    writeFileSync(file, edited);
    expect(await stateOf(), 'bad news end with 1').toEqual({ state: 'edited', status: 1 });
    expect((await vic.types(['flow', 'mirror', 'list'])).stdout).toContain('flow mirror propose');
    expect((await vic.asks<FlowBundle>(['flow', 'get', flowId])).flow.title).toBe(`Title of ${flowId}`);

    const offered = await ed.asks<FlowProposalAnswer>(['flow', 'mirror', 'propose', flowId]);
    expect(offered).toMatchObject({ base_version: '1.0.0', status: 'proposed' });
    await approve(ann, offered.proposal_id);
    expect((await vic.asks<FlowBundle>(['flow', 'get', flowId])).flow).toMatchObject({
      title: 'By hand',
      version: '1.0.1',
    });
    expect(await stateOf()).toEqual({ state: 'in_step', status: 0 });
    expect(readdirSync(vaultFile('meta', 'flows')).filter((name) => name.startsWith('mirrored'))).toEqual([
      'mirrored.md',
    ]);

    rmSync(file);
    expect(await stateOf()).toEqual({ state: 'missing', status: 1 });
    await ed.reads(['flow', 'mirror', 'restore', flowId]);
    expect(await stateOf()).toEqual({ state: 'in_step', status: 0 });

    writeFileSync(file, edited);
    const restored = await ed.asks<{ kept_aside: string }>(['flow', 'mirror', 'restore', flowId]);
    expect(readFileSync(vaultFile(restored.kept_aside), 'utf8')).toBe(edited);
    expect(await stateOf()).toEqual({ state: 'in_step', status: 0 });

    const { proposal_id } = await ed.asks<ProposalAnswer>(['flow', 'retire', flowId, '--intent', 'Done with it']);
    await approve(ann, proposal_id);
    expect(existsSync(file), 'a retired flow has no mirror').toBe(false);
  });
});
