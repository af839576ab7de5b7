import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
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
import { at, PASS, proposeEdit, proposeNew, proposeNote } from '../support/review.ts';

const FILES = {
  authoring: 'hub_flow_authoring_policy.json',
  proposals: 'hub_proposal_policy.json',
  triggers: 'hub_proposal_review_triggers.json',
  rubric: 'hub_proposal_rubric.json',
};

onEachDatabase((_engine, makeStore) => {
  let store: TestStore;
  let hub: InProcessHub;
  let owner: Asker;
  let editor: Asker;
  let evaluator: Asker;
  let serial = 0;

  beforeAll(async () => {
    store = await makeStore();
    hub = await openInProcessHub(store, { env: { FLOW_AUTHORING_WRITES: '1' } });
    owner = hub.owner;
    editor = await hub.asker('ed', { role: 'editor' });
    evaluator = await hub.asker('eva', { role: 'evaluator' });
  });
  afterEach(() => {
    for (const file of Object.values(FILES)) rmSync(join(store.home, file), { force: true });
  });
  afterAll(async () => {
    await hub?.close();
    await store?.remove();
  });

  const write = (file: keyof typeof FILES, content: unknown) =>
    writeFileSync(join(store.home, FILES[file]), typeof content === 'string' ? content : JSON.stringify(content));
  const record = (id: string): Promise<Body> => done(owner.get(at(id)));

  /** A proposal of each sort, all with the same words in text that is theirs; their records. */
  async function proposeEach(words: string): Promise<Record<string, Body>> {
    serial += 1;
    const id = `flow_each_${serial}`;
    await done(
      owner.post(at((await proposeNew(owner, `${id}_held`)).proposal_id, 'approve'), {
        waiver_reason: 'to begin with',
      }),
    );
    const envelopes = {
      new: await done(
        editor.post('/api/v1/flows', { ...sampleFlow(`${id}_new`, { instruction: words }), intent: 'x' }),
      ),
      import: await done(
        editor.post('/api/v1/flows/import', {
          bundle: sampleFlow(`${id}_import`, { instruction: words }),
          intent: 'x',
        }),
      ),
      edit: await proposeEdit(editor, `${id}_held`, { version: '2.0.0', summary: words }),
      retire: await done(editor.post(`/api/v1/flows/${id}_held/retire`, { intent: words })),
      note: await proposeNote(editor, `inbox/${id}.md`, { body: words }),
    };
    const records = Object.entries(envelopes).map(async ([kind, { proposal_id }]) => [kind, await record(proposal_id)]);
    return Object.fromEntries(await Promise.all(records));
  }

  describe('[FLR-triggers] a review trigger', () => {
    it('sends proposals of every kind to evaluation', async () => {
      const rule = { match: 'Production', review_queue: 'ops', review_severity: 'elevated' };
      write('triggers', { literal_phrases: [rule] });
      for (const [kind, proposal] of Object.entries(await proposeEach('Straight to PRODUCTION!'))) {
        expect([kind, proposal]).toMatchObject([
          kind,
          {
            evaluation_status: 'pending',
            review_queue: 'ops',
            review_severity: 'elevated',
            auto_flag_reasons: ['phrase:Production'],
          },
        ]);
        expect(await outcome(owner.post(at(proposal.proposal_id, 'approve'))), kind).toBe('EVALUATION_REQUIRED');
      }
      for (const [kind, proposal] of Object.entries(await proposeEach('Nothing much'))) {
        expect([kind, proposal]).toMatchObject([
          kind,
          { evaluation_status: 'none', review_severity: 'standard', auto_flag_reasons: [] },
        ]);
        expect(proposal.review_queue).toBe(kind === 'note' ? '' : 'flow-authoring');
      }
    });

    it.each(['say "now"', 'C:\\temp', 'two\nlines', 'tab\there'])('finds %j in a flow as in a note', async (match) => {
      write('triggers', { literal_phrases: [{ match }] });
      for (const [kind, { auto_flag_reasons }] of Object.entries(await proposeEach(`Well, ${match}, then.`))) {
        expect([kind, auto_flag_reasons]).toEqual([kind, [`phrase:${match}`]]);
      }
    });

    it('goes by the path, of a flow by that of its mirror', async () => {
      write('triggers', { path_prefixes: [{ prefix: 'meta/flows', review_queue: 'flows' }, { prefix: 'inbox' }] });
      const { note, retire, ...flows } = await proposeEach('x');
      expect(note.auto_flag_reasons).toEqual(['path_prefix:inbox']);
      for (const flow of [...Object.values(flows), retire]) {
        expect(flow).toMatchObject({ auto_flag_reasons: ['path_prefix:meta/flows'], review_queue: 'flows' });
      }
    });

    it('goes by labels, which an import has of its own', async () => {
      write('triggers', { label_any: [{ labels: ['IMPORT', 'legal'], review_severity: 'elevated' }] });
      const { import: imported, note } = await proposeEach('x');
      expect(imported).toMatchObject({ labels: ['import'], evaluation_status: 'pending', review_severity: 'elevated' });
      expect(note.evaluation_status).toBe('none');
      const labelled = await proposeNote(editor, 'inbox/labelled.md', { labels: ['Legal'] });
      expect(labelled.auto_flag_reasons).toEqual(['label_any:IMPORT,legal']);
    });

    it('[S003-6-tri-state] file that cannot be read flags everything', async () => {
      write('triggers', '{"literal_phrases": oops');
      for (const [kind, proposal] of Object.entries(await proposeEach('x'))) {
        expect([kind, proposal]).toMatchObject([
          kind,
          { evaluation_status: 'pending', review_severity: 'elevated', auto_flag_reasons: ['triggers_unreadable'] },
        ]);
      }
    });

    it('cannot be talked out of it by the proposal', async () => {
      write('triggers', { literal_phrases: [{ match: 'x' }] });
      for (const key of ['evaluation_status', 'review_queue', 'review_severity', 'auto_flag_reasons', 'status']) {
        const flow = { ...sampleFlow('flow_talks'), intent: 'x', [key]: 'none' };
        expect(await outcome(editor.post('/api/v1/flows', flow)), key).toBe('FLOW_DRAFT_INVALID');
        expect(await outcome(editor.post('/api/v1/proposals', { path: 'x.md', [key]: 'none' })), key).toBe(
          'BAD_REQUEST',
        );
      }
    });
  });

  describe('[S003-3-evaluation] where evaluation is required', () => {
    it('every proposal waits for it, and is approved with a pass or with an admin’s reason', async () => {
      write('proposals', { proposal_evaluation_required: true });
      const { retire, ...others } = await proposeEach('x');
      await done(editor.post(at(retire.proposal_id, 'withdraw')));
      for (const [kind, { proposal_id, evaluation_status }] of Object.entries(others)) {
        expect([kind, evaluation_status]).toEqual([kind, 'pending']);
        expect(await outcome(owner.post(at(proposal_id, 'approve')))).toBe('EVALUATION_REQUIRED');
        if (kind === 'new' || kind === 'note') await done(evaluator.post(at(proposal_id, 'evaluation'), PASS));
        const waiver = kind === 'new' || kind === 'note' ? {} : { waiver_reason: 'Seen together' };
        const approved = await done(owner.post(at(proposal_id, 'approve'), waiver));
        expect(approved.evaluation_waiver?.reason).toBe(waiver.waiver_reason);
      }
    });

    it('it is required of what was proposed before, too', async () => {
      const { new: flow, note } = await proposeEach('x');
      write('proposals', { proposal_evaluation_required: true });
      for (const { proposal_id, evaluation_status } of [flow, note]) {
        expect(evaluation_status).toBe('none');
        expect(await outcome(owner.post(at(proposal_id, 'approve')))).toBe('EVALUATION_REQUIRED');
      }
      rmSync(join(store.home, FILES.proposals));
      for (const { proposal_id } of [flow, note])
        expect(await outcome(owner.post(at(proposal_id, 'approve')))).toBe('200');
    });

    it('it stays required of what was proposed while it was', async () => {
      write('proposals', { proposal_evaluation_required: true });
      const { proposal_id } = await proposeNote(editor, 'inbox/while.md');
      rmSync(join(store.home, FILES.proposals));
      expect(await outcome(owner.post(at(proposal_id, 'approve')))).toBe('EVALUATION_REQUIRED');
    });

    it('[S003-6-tri-state] an unreadable policy file requires it and lets no evaluator approve', async () => {
      write('proposals', '[]');
      const { proposal_id, evaluation_status } = await proposeNote(editor, 'inbox/unreadable.md');
      expect(evaluation_status).toBe('pending');
      expect(await outcome(owner.post(at(proposal_id, 'approve')))).toBe('EVALUATION_REQUIRED');
      expect(await outcome(evaluator.post(at(proposal_id, 'approve')))).toBe('FORBIDDEN');
    });

    it('an evaluator who may approve may not waive', async () => {
      write('proposals', { evaluator_may_approve: true, proposal_evaluation_required: true });
      const { proposal_id } = await proposeNote(editor, 'inbox/by-evaluator.md');
      expect(await outcome(evaluator.post(at(proposal_id, 'approve'), { waiver_reason: 'I say so' }))).toBe(
        'EVALUATION_REQUIRED',
      );
      await done(evaluator.post(at(proposal_id, 'evaluation'), PASS));
      expect(await done(evaluator.post(at(proposal_id, 'approve')))).toMatchObject({
        status: 'approved',
        decided_by: 'eva',
      });
      expect(await outcome(editor.post(at((await proposeNote(editor, 'inbox/e.md')).proposal_id, 'approve')))).toBe(
        'FORBIDDEN',
      );
    });
  });

  describe('the rubric', () => {
    it('of a file is the one that counts, and is shown', async () => {
      write('rubric', { items: [{ id: 'legal', label: 'Counsel has read it' }] });
      expect((await done(owner.get('/api/v1/policy'))).rubric).toEqual([{ id: 'legal', label: 'Counsel has read it' }]);
      const { proposal_id } = await proposeNote(editor, 'inbox/rubric.md');
      expect(await outcome(evaluator.post(at(proposal_id, 'evaluation'), PASS))).toBe('BAD_REQUEST');
      const passed = await done(
        evaluator.post(at(proposal_id, 'evaluation'), { outcome: 'pass', checklist: ['legal'] }),
      );
      expect(passed.evaluation_checklist).toEqual([{ id: 'legal', label: 'Counsel has read it', passed: true }]);
    });

    it('[S003-6-tri-state] that is damaged judges nothing and says so', async () => {
      write('rubric', '{}');
      const { proposal_id } = await proposeNote(editor, 'inbox/damaged-rubric.md');
      const answer = await evaluator.post(at(proposal_id, 'evaluation'), { outcome: 'pass', checklist: [] });
      expect([answer.status, answer.body.code]).toEqual([422, 'POLICY_FILE_DAMAGED']);
      expect(await done(owner.get('/api/v1/policy'))).toMatchObject({
        rubric: null,
        damaged: [{ file: FILES.rubric }],
      });
    });
  });

  describe('[S003-6-gate] [S003-6-policy] the gate is asked again when a flow is approved', () => {
    it('a gate that was closed meanwhile keeps flows out, and lets notes in', async () => {
      const { new: flow, retire, note } = await proposeEach('x');
      for (const [policy, code] of [
        [{ flow_authoring_forbidden: true }, 'FLOW_AUTHORING_POLICY_FORBIDDEN'],
        ['damaged', 'FLOW_AUTHORING_POLICY_FORBIDDEN'],
      ] as const) {
        write('authoring', policy);
        expect(await outcome(owner.post(at(flow.proposal_id, 'approve')))).toBe(code);
        expect(await outcome(owner.post(at(retire.proposal_id, 'approve')))).toBe(code);
      }
      write('authoring', { flow_authoring_verification_kinds: ['test_pass'] });
      expect(await outcome(owner.post(at(flow.proposal_id, 'approve')))).toBe('FLOW_AUTHORING_POLICY_FORBIDDEN');
      expect(await outcome(owner.post(at(note.proposal_id, 'approve')))).toBe('200');
      expect(await record(flow.proposal_id)).toMatchObject({ status: 'proposed' });
      rmSync(join(store.home, FILES.authoring));
      expect(await outcome(owner.post(at(flow.proposal_id, 'approve')))).toBe('200');
    });

    it('a closed gate still lets people read, judge, discuss and give up', async () => {
      const { new: flow, import: imported } = await proposeEach('x');
      write('authoring', { flow_authoring_forbidden: true });
      expect(await outcome(editor.get(at(flow.proposal_id)))).toBe('200');
      expect(await outcome(evaluator.post(at(flow.proposal_id, 'evaluation'), PASS))).toBe('200');
      expect(await outcome(editor.post(at(flow.proposal_id, 'comments'), { body: 'Hm' }))).toBe('201');
      expect(await outcome(editor.post(at(flow.proposal_id, 'withdraw')))).toBe('200');
      expect(await outcome(owner.post(at(imported.proposal_id, 'discard')))).toBe('200');
    });
  });
});
