import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { onFirst, onFirstDatabase } from '../support/databases.ts';
import { sampleFlow } from '../support/flows.ts';
import {
  approve,
  type Office,
  openOffice,
  type ProposalAnswer,
  proposeEdit,
  proposeNew,
  WHOLE_RUBRIC,
} from '../support/office.ts';

const evaluation = (id: string, outcome: string, ...more: string[]) => [
  ...['proposal', 'evaluate', id, '--outcome', outcome, ...more],
];

onFirstDatabase((engine, makeStore) => {
  const once = onFirst(engine);
  let office: Office;
  beforeAll(async () => {
    office = await openOffice(makeStore, { FLOW_AUTHORING_WRITES: '1' });
  });
  afterAll(() => office?.close());

  it('[FLR-four-eyes] of two admins, each needs the other for what the vault shares', async () => {
    const { ann, bob } = office;
    const { proposal_id } = await proposeNew(ann, sampleFlow('flow_shared', { scope: 'project' }));
    for (const args of [
      ['proposal', 'approve', proposal_id],
      evaluation(proposal_id, 'pass', '--checklist', WHOLE_RUBRIC),
    ]) {
      expect((await ann.isRefused(args)).code).toBe('FOUR_EYES_REQUIRED');
    }
    const spoken = await ann.types(['proposal', 'approve', proposal_id]);
    expect(spoken).toMatchObject({ status: 1, stdout: '', stderr: expect.stringContaining('Somebody else') });
    expect(await approve(bob, proposal_id)).toMatchObject({ decided_by: 'bob', self_approved: false });
    const widened = await proposeEdit(bob, 'flow_shared', ({ flow }) =>
      Object.assign(flow, { version: '1.1.0', scope: 'org' }),
    );
    expect((await bob.isRefused(['proposal', 'approve', widened.proposal_id])).code).toBe('FOUR_EYES_REQUIRED');
    expect(await approve(ann, widened.proposal_id)).toMatchObject({ decided_by: 'ann', self_approved: false });
  });

  once(
    '[FLR-four-eyes] a personal flow, and a vault with one admin, need nobody else, and the record says so',
    async () => {
      const { ann, owner } = office;
      const personal = await proposeNew(ann, sampleFlow('flow_mine'));
      expect(await approve(ann, personal.proposal_id)).toMatchObject({ self_approved: true, decided_by: 'ann' });
      expect(await ann.reads(['proposal', 'get', personal.proposal_id])).toMatch(/^approved by ann.*author/m);
      await owner.asks(['vault', 'create', 'alone', '--no-starters']);
      const alone = ['--vault', 'alone'];
      const { proposal_id } = await owner.asks<ProposalAnswer>(
        ['flow', 'propose', '-', '--intent', 'Mine alone', ...alone],
        JSON.stringify(sampleFlow('flow_shared', { scope: 'org' })),
      );
      expect(await owner.asks(['proposal', 'approve', proposal_id, ...alone])).toMatchObject({ self_approved: true });
    },
  );

  once(
    '[S003-2-write-authority] what a role may not write or decide, it is refused, and told which role may',
    async () => {
      const { vic, ed, eve } = office;
      const refused = async (person: typeof vic, scope: 'project' | 'org') =>
        person.isRefused(
          ['flow', 'propose', '-', '--intent', 'Wider'],
          JSON.stringify(sampleFlow('flow_wide', { scope })),
        );
      expect(await refused(vic, 'project')).toMatchObject({
        code: 'FLOW_SCOPE_DENIED',
        message: expect.stringContaining('editor'),
      });
      expect(await refused(ed, 'org')).toMatchObject({ code: 'FLOW_SCOPE_DENIED' });
      expect(await refused(eve, 'project')).toMatchObject({ code: 'FLOW_SCOPE_DENIED' });
      const { proposal_id } = await proposeNew(vic, sampleFlow('flow_of_vic'));
      expect((await vic.isRefused(['proposal', 'approve', proposal_id])).code).toBe('FORBIDDEN');
      expect((await ed.isRefused(evaluation(proposal_id, 'fail', '--comment', 'no'))).code).toBe('FORBIDDEN');
      const refusal = await eve.isRefused(['proposal', 'approve', proposal_id]);
      expect(refusal).toMatchObject({ code: 'FORBIDDEN', message: expect.stringContaining('admin') });
      expect((await ed.isRefused(['policy', 'set', 'evaluator_may_approve', 'true'])).code).toBe('FORBIDDEN');
    },
  );

  it('[S003-3-evaluation] where evaluation is required, approving needs a pass, or an admin with a reason', async () => {
    const { vic, eve, ann, owner } = office;
    const before = await proposeNew(vic, sampleFlow('flow_before_the_rule'));
    await owner.asks(['policy', 'set', 'proposal_evaluation_required', 'true']);
    await owner.asks(['policy', 'set', 'evaluator_may_approve', 'true']);
    expect((await ann.isRefused(['proposal', 'approve', before.proposal_id])).code, 'the rule of today counts').toBe(
      'EVALUATION_REQUIRED',
    );

    const first = await proposeNew(vic, sampleFlow('flow_judged'));
    expect(await vic.asks(['proposal', 'get', first.proposal_id])).toMatchObject({ evaluation_status: 'pending' });
    const early = await ann.isRefused(['proposal', 'approve', first.proposal_id]);
    expect(early).toMatchObject({ code: 'EVALUATION_REQUIRED', message: expect.stringContaining('proposal evaluate') });
    expect((await eve.isRefused(evaluation(first.proposal_id, 'pass'))).message).toContain('accurate, no_secrets');
    expect((await eve.isRefused(evaluation(first.proposal_id, 'fail'))).message).toContain('must say why');
    expect(
      await eve.asks(evaluation(first.proposal_id, 'Needs-Changes', '--comment', 'Name the reviewer.')),
    ).toMatchObject({ evaluation_status: 'needs_changes' });
    expect((await ann.isRefused(['proposal', 'approve', first.proposal_id])).code).toBe('EVALUATION_REQUIRED');
    await eve.asks(evaluation(first.proposal_id, 'pass', '--checklist', WHOLE_RUBRIC));
    expect(await approve(eve, first.proposal_id)).toMatchObject({ decided_by: 'eve', evaluation_waiver: null });

    const second = await proposeNew(vic, sampleFlow('flow_waived'));
    const waive = (reason: string) => ['proposal', 'approve', second.proposal_id, '--waiver-reason', reason];
    expect((await eve.isRefused(waive('I am in a hurry'))).message).toContain('only an admin');
    expect((await ann.isRefused(waive('ok'))).code).toBe('BAD_REQUEST');
    expect(await ann.asks(waive('Read it together'))).toMatchObject({
      status: 'approved',
      evaluation_status: 'pending',
      evaluation_waiver: { by: 'ann', reason: 'Read it together' },
    });
    expect(await vic.reads(['proposal', 'get', second.proposal_id])).toContain('waived by ann: Read it together');

    await owner.asks(['policy', 'set', 'proposal_evaluation_required', 'default']);
    await owner.asks(['policy', 'set', 'evaluator_may_approve', 'default']);
    expect(await approve(ann, before.proposal_id), 'and the rule of today again').toMatchObject({ status: 'approved' });
    const third = await proposeNew(vic, sampleFlow('flow_unjudged'));
    expect((await eve.isRefused(['proposal', 'approve', third.proposal_id])).code).toBe('FORBIDDEN');
  });

  once('[FLR-triggers] what a trigger catches waits for evaluation, a note as well as a flow', async () => {
    const { ed, ann, store } = office;
    const file = join(store.home, 'hub_proposal_review_triggers.json');
    writeFileSync(file, JSON.stringify({ literal_phrases: [{ match: 'production', review_severity: 'elevated' }] }));
    const flow = await proposeNew(ed, sampleFlow('flow_deploy', { instruction: 'Deploy to Production.' }));
    const note = ['proposal', 'create', '--path', 'projects/ops.md', '--body', 'Restart production.'];
    const { proposal_id: noteId } = await ed.asks<ProposalAnswer>(note);
    for (const id of [flow.proposal_id, noteId]) {
      expect(await ann.asks(['proposal', 'get', id])).toMatchObject({
        evaluation_status: 'pending',
        review_severity: 'elevated',
        auto_flag_reasons: ['phrase:production'],
      });
      expect((await ann.isRefused(['proposal', 'approve', id])).code).toBe('EVALUATION_REQUIRED');
    }
    expect(await ann.reads(['proposal', 'get', noteId])).toContain('flagged: phrase:production');
  });
});
