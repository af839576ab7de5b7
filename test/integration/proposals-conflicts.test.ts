import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { addFlows } from '../data-integrity/library.ts';
import { onEachDatabase, type TestStore } from '../support/databases.ts';
import { sampleFlow } from '../support/flows.ts';
import {
  type Asker,
  type Body,
  done,
  type InProcessHub,
  openInProcessHub,
  outcome,
} from '../support/in-process-hub.ts';
import { at, baseOf, editOf, PASS, proposeEdit, proposeNew, proposeNote } from '../support/review.ts';

onEachDatabase((_engine, makeStore) => {
  let store: TestStore;
  let hub: InProcessHub;
  let owner: Asker;
  let editor: Asker;
  let evaluator: Asker;
  let viewer: Asker;

  beforeAll(async () => {
    store = await makeStore();
    hub = await openInProcessHub(store, { env: { FLOW_AUTHORING_WRITES: '1' } });
    owner = hub.owner;
    editor = await hub.asker('ed', { role: 'editor' });
    evaluator = await hub.asker('eva', { role: 'evaluator' });
    viewer = await hub.asker('vera', { role: 'viewer' });
  });
  afterAll(async () => {
    await hub?.close();
    await store?.remove();
  });

  const record = async (id: string): Promise<Body> => done(owner.get(at(id)));

  describe('[FLR-conflicted] of two changes of one thing', () => {
    it('[S003-4-conflict] the second of two edits loses, is told what is there, and can only be given up', async () => {
      await done(owner.post(at((await proposeNew(owner, 'flow_raced')).proposal_id, 'approve')));
      const first = await proposeEdit(editor, 'flow_raced', { version: '1.0.1', title: 'First' });
      const second = await proposeEdit(viewer, 'flow_raced', { version: '1.0.2', title: 'Second' });
      const retire = await done(editor.post('/api/v1/flows/flow_raced/retire', { intent: 'x' }));
      expect(await record(second.proposal_id)).toMatchObject({ status: 'proposed', rebase: null });
      const { conflicted } = await done(owner.post(at(first.proposal_id, 'approve')));
      expect([...conflicted].sort()).toEqual([second.proposal_id, retire.proposal_id].sort());
      const now = await baseOf(owner, 'flow_raced');
      const current = { current_version: now.base_version, current_state_id: now.base_state_id };
      const lost = await done(viewer.get(at(second.proposal_id)));
      expect(lost).toMatchObject({
        status: 'conflicted',
        rebase: { ...current, advice: expect.stringMatching(/propose again/) },
      });
      const approve = await owner.post(at(second.proposal_id, 'approve'), { waiver_reason: 'Please' });
      expect([approve.status, approve.body.code, approve.body.details]).toEqual([
        409,
        'FLOW_LINEAGE_CONFLICT',
        current,
      ]);
      expect(await outcome(evaluator.post(at(second.proposal_id, 'evaluation'), PASS))).toBe('CONFLICT');
      expect(await outcome(editor.post(at(second.proposal_id, 'comments'), { body: 'A pity' }))).toBe('201');
      const rebased = await editOf(viewer, 'flow_raced', { version: '1.0.2', title: 'Second' });
      expect(await outcome(viewer.post('/api/v1/flows', rebased))).toBe('201');
      expect(await done(viewer.post(at(second.proposal_id, 'withdraw')))).toMatchObject({
        status: 'discarded',
        rebase: null,
      });
      expect(await done(owner.post(at(retire.proposal_id, 'discard')))).toMatchObject({ status: 'discarded' });
    });

    it('two new flows of one id: the first that is approved is the flow', async () => {
      const [one, two] = [await proposeNew(editor, 'flow_twins'), await proposeNew(viewer, 'flow_twins')];
      const { conflicted } = await done(owner.post(at(two.proposal_id, 'approve')));
      expect(conflicted).toEqual([one.proposal_id]);
      expect(await outcome(owner.post(at(one.proposal_id, 'approve')))).toBe('FLOW_LINEAGE_CONFLICT');
    });

    it('two changes of one note: likewise, with the code of notes', async () => {
      const one = await proposeNote(editor, 'inbox/raced.md', { body: 'one' });
      const two = await proposeNote(owner, 'inbox/raced.md', { body: 'two' });
      const other = await proposeNote(owner, 'inbox/raced2.md');
      const { conflicted, applied_state_id } = await done(owner.post(at(one.proposal_id, 'approve')));
      expect(conflicted).toEqual([two.proposal_id]);
      expect(await record(two.proposal_id)).toMatchObject({
        status: 'conflicted',
        rebase: { current_version: null, current_state_id: applied_state_id },
      });
      expect(await outcome(owner.post(at(two.proposal_id, 'approve')))).toBe('CONFLICT');
      expect(await record(other.proposal_id)).toMatchObject({ status: 'proposed' });
    });

    it('a note that was written past the review makes a proposal stale, and the approval a conflict', async () => {
      const first = await proposeNote(editor, 'inbox/past.md', { body: 'one' });
      await done(owner.put('/api/v1/notes/inbox%2Fpast.md', { body: 'by hand' }));
      const { rebase } = await record(first.proposal_id);
      const note = await done(owner.get('/api/v1/notes/inbox%2Fpast.md'));
      expect(rebase).toMatchObject({ current_version: null, current_state_id: note.state_id });
      const answer = await owner.post(at(first.proposal_id, 'approve'));
      expect([answer.body.code, answer.body.details]).toEqual(['CONFLICT', { current_state_id: note.state_id }]);
      expect((await done(owner.get('/api/v1/notes/inbox%2Fpast.md'))).body).toBe('by hand');
      const stale = { path: 'inbox/past.md', body: 'x', base_state_id: 'kn1_af63bd4c8601b7df' };
      expect((await editor.post('/api/v1/proposals', stale)).body).toMatchObject({
        code: 'CONFLICT',
        details: { current_state_id: note.state_id },
      });
    });

    it('the base that its author named cannot be replaced by who approves', async () => {
      const { proposal_id } = await proposeNote(editor, 'inbox/base.md');
      const wrong = { base_state_id: 'kn1_0000000000000000' };
      expect(await outcome(owner.post(at(proposal_id, 'approve'), wrong))).toBe('CONFLICT');
      const right = { base_state_id: 'kn1_af63bd4c8601b7df', external_ref: 'ticket:9' };
      expect(await done(owner.post(at(proposal_id, 'approve'), right))).toMatchObject({ external_ref: 'ticket:9' });
    });
  });

  describe('[S003-4-conflict] a flow that changed past the review', () => {
    it('makes the approval a conflict that carries what is current, and leaves everything as it was', async () => {
      await done(owner.post(at((await proposeNew(owner, 'flow_past')).proposal_id, 'approve')));
      const edit = await proposeEdit(editor, 'flow_past', { version: '1.0.1' });
      await addFlows(hub.app.services.database, [sampleFlow('flow_past', { version: '1.5.0', title: 'Imported' })]);
      const now = await baseOf(owner, 'flow_past');
      const current = { current_version: '1.5.0', current_state_id: now.base_state_id };
      const { status, body } = await owner.post(at(edit.proposal_id, 'approve'));
      expect([status, body.code, body.details]).toEqual([409, 'FLOW_LINEAGE_CONFLICT', current]);
      expect(await record(edit.proposal_id)).toMatchObject({ status: 'proposed', decided_by: null, rebase: current });
      const { versions } = await done(owner.get('/api/v1/flows/flow_past/versions'));
      expect(versions.map(({ version }: Body) => version)).toEqual(['1.5.0', '1.0.0']);
    });

    it('in its content and not in its version is a conflict too', async () => {
      await done(owner.post(at((await proposeNew(owner, 'flow_same_version')).proposal_id, 'approve')));
      const edit = await proposeEdit(editor, 'flow_same_version', { version: '1.0.1' });
      const { queries } = hub.app.services.database;
      await queries
        .updateTable('flows')
        .set({ content_sha256: 'f'.repeat(64) })
        .where('flow_id', '=', 'flow_same_version')
        .execute();
      expect(await outcome(owner.post(at(edit.proposal_id, 'approve')))).toBe('FLOW_LINEAGE_CONFLICT');
    });
  });

  describe('[S003-7-one-of-many] of many at once', () => {
    it('one approval of a proposal counts', async () => {
      const { proposal_id } = await proposeNew(editor, 'flow_once');
      const answers = await Promise.all(
        Array.from({ length: 6 }, () => outcome(owner.post(at(proposal_id, 'approve')))),
      );
      expect(answers.filter((answer) => answer === '200')).toHaveLength(1);
      for (const answer of answers)
        expect(['200', 'BAD_REQUEST', 'CONFLICT', 'FLOW_LINEAGE_CONFLICT']).toContain(answer);
      const { versions } = await done(owner.get('/api/v1/flows/flow_once/versions'));
      expect(versions).toHaveLength(1);
    });

    it('one of eight edits of a flow is approved, the others are conflicted', async () => {
      await done(owner.post(at((await proposeNew(owner, 'flow_eight')).proposal_id, 'approve')));
      const edits = await Promise.all(
        Array.from({ length: 8 }, (_, each) => proposeEdit(editor, 'flow_eight', { version: `1.0.${each + 1}` })),
      );
      const answers = await Promise.all(
        edits.map(({ proposal_id }) => outcome(owner.post(at(proposal_id, 'approve')))),
      );
      expect(answers.sort()).toEqual(['200', ...Array.from({ length: 7 }, () => 'FLOW_LINEAGE_CONFLICT')]);
      const records = await Promise.all(edits.map(({ proposal_id }) => record(proposal_id)));
      expect(records.map(({ status }) => status).sort()).toEqual([
        'approved',
        ...Array.from({ length: 7 }, () => 'conflicted'),
      ]);
      const { versions } = await done(owner.get('/api/v1/flows/flow_eight/versions'));
      expect(versions).toHaveLength(2);
      expect(await done(owner.get('/api/v1/audit/verify'))).toMatchObject({ ok: true });
    });

    it('a decision and its opposite: one of them', async () => {
      const { proposal_id } = await proposeNote(editor, 'inbox/either.md');
      const answers = await Promise.all([
        outcome(owner.post(at(proposal_id, 'approve'))),
        outcome(owner.post(at(proposal_id, 'discard'))),
        outcome(editor.post(at(proposal_id, 'withdraw'))),
      ]);
      expect(answers.filter((answer) => answer === '200')).toHaveLength(1);
      const note = await outcome(owner.get('/api/v1/notes/inbox%2Feither.md'));
      expect(note).toBe((await record(proposal_id)).status === 'approved' ? '200' : 'NOT_FOUND');
    });
  });
});
