import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { onEachDatabase, type TestStore } from '../support/databases.ts';
import { sampleFlow } from '../support/flows.ts';
import { approve, baseOf, type How, type Inside, openInside, type Payload, propose, proposeEdit } from './inside.ts';

const RUBRIC = ['accurate', 'no_secrets', 'matches_intent', 'pii', 'tone'];
const SHARED = ['project', 'org'] as const;

onEachDatabase((_engine, makeStore) => {
  let store: TestStore;
  /** The program as it is, and with the policies that the tests are about. */
  let inside: Inside;
  let withEvaluators: Inside;
  let strict: Inside;
  let vault: string;
  let how: How;
  let vaults = 0;

  beforeAll(async () => {
    store = await makeStore();
    const on = { FLOW_AUTHORING_WRITES: '1' };
    inside = await openInside(store, on);
    withEvaluators = await openInside(store, { ...on, HUB_EVALUATOR_MAY_APPROVE: '1' });
    strict = await openInside(store, {
      ...on,
      HUB_EVALUATOR_MAY_APPROVE: '1',
      HUB_PROPOSAL_EVALUATION_REQUIRED: '1',
    });
  });

  afterAll(async () => {
    for (const each of [inside, withEvaluators, strict]) await each?.close();
    await store?.remove();
  });

  // A vault each, whose only admin is the owner.
  beforeEach(async () => {
    vaults += 1;
    vault = `vault-${vaults}`;
    how = { vault };
    await inside.as('local', 'vault.create', { vault_id: vault, starters: false });
  });

  const member = (user: string, role: string, more: { scopes?: string[]; ambiguous?: boolean } = {}) =>
    inside.member(user, role, { ...more, vault });
  const proposed = async (user: string, scope: 'personal' | 'project' | 'org', more: Payload = {}) =>
    (await propose(inside, user, sampleFlow('flow_own', { scope }), more, how)).proposal_id;
  const approveCode = (user: string, proposal_id: string, where = inside, more: Payload = {}) =>
    where.codeOf(user, 'proposal.approve', { proposal_id, ...more }, how);
  const evaluateCode = (user: string, proposal_id: string, where = inside) =>
    where.codeOf(user, 'proposal.evaluate', { proposal_id, outcome: 'pass', checklist: RUBRIC }, how);
  const record = (proposal_id: string) => inside.as('local', 'proposal.get', { proposal_id }, how);

  describe('[FLR-four-eyes] a change of one’s own', () => {
    it.each(SHARED)('of a %s flow is not approved while another admin may', async (scope) => {
      await member('ann', 'admin');
      const id = await proposed('local', scope);
      expect(await approveCode('local', id)).toBe('FOUR_EYES_REQUIRED');
      expect(await approveCode('local', id, inside, { waiver_reason: 'I am sure' })).toBe('FOUR_EYES_REQUIRED');
      expect(await record(id)).toMatchObject({ status: 'proposed', decided_by: null });
      expect(await approve(inside, 'ann', id, {}, how)).toMatchObject({ status: 'approved', self_approved: false });
    });

    it.each(SHARED)('of a %s flow is approved by a sole admin, and the record says so', async (scope) => {
      for (const [user, role] of [
        ['vera', 'viewer'],
        ['edna', 'editor'],
        ['evan', 'evaluator'],
      ] as const)
        await member(user, role);
      const id = await proposed('local', scope);
      expect(await approve(inside, 'local', id, {}, how)).toMatchObject({ status: 'approved', self_approved: true });
      expect(await record(id)).toMatchObject({ self_approved: true, decided_by: 'local', proposed_by: 'local' });
      const { entries } = await inside.as<{ entries: Payload[] }>('local', 'audit.list', {}, how);
      expect(entries[0]).toMatchObject({
        action: 'proposal.approve',
        detail: { proposal_id: id, self_approved: true },
      });
    });

    it('waits for nobody who is disabled, and waits again once they are back', async () => {
      await member('gone', 'admin');
      await inside.as('local', 'user.disable', { user: 'gone' });
      const id = await proposed('local', 'org');
      await inside.as('local', 'user.enable', { user: 'gone' });
      expect(await approveCode('local', id)).toBe('FOUR_EYES_REQUIRED');
      await inside.as('local', 'user.disable', { user: 'gone' });
      expect(await approveCode('local', id)).toBe('done');
      await inside.as('local', 'user.enable', { user: 'gone' });
    });

    it('waits for nobody who could not see it', async () => {
      await member('ned', 'admin', { scopes: ['personal'] });
      await member('max', 'admin', { ambiguous: true });
      expect(await approveCode('local', await proposed('local', 'org'))).toBe('done');
    });

    it('waits for an evaluator only where evaluators may approve', async () => {
      await member('evan', 'evaluator');
      const id = await proposed('local', 'project');
      expect(await approveCode('local', id, withEvaluators)).toBe('FOUR_EYES_REQUIRED');
      expect(await approveCode('local', id, inside)).toBe('done');
    });

    it('of an org flow does not wait for an evaluator, who does not see it', async () => {
      await member('evan', 'evaluator');
      expect(await approveCode('local', await proposed('local', 'org'), withEvaluators)).toBe('done');
    });

    it('of a personal flow or of a note is exempt', async () => {
      await member('ann', 'admin');
      expect(await approveCode('local', await proposed('local', 'personal'))).toBe('done');
      const note = await inside.as('local', 'proposal.create', { path: 'a.md', body: 'Text', intent: 'A note' }, how);
      expect(await approveCode('local', String(note.proposal_id))).toBe('done');
    });

    it.each([
      ['raises a personal flow', 'personal', 'project'],
      ['raises a personal flow to org', 'personal', 'org'],
      ['lowers an org flow', 'org', 'personal'],
      ['lowers a project flow', 'project', 'personal'],
    ] as const)('is shared when it %s', async (_what, from, to) => {
      const id = await proposed('local', from);
      await approve(inside, 'local', id, {}, how);
      await member('ann', 'admin');
      const bundle = sampleFlow('flow_own', { scope: to, version: '2.0.0' });
      const edit = await proposeEdit(inside, 'local', bundle, {}, how);
      expect(await approveCode('local', edit.proposal_id)).toBe('FOUR_EYES_REQUIRED');
      expect(await approveCode('ann', edit.proposal_id)).toBe('done');
    });

    it('is shared when it retires a shared flow', async () => {
      await approve(inside, 'local', await proposed('local', 'org'), {}, how);
      await member('ann', 'admin');
      const retire = await inside.as('local', 'flow.retire', { flow_id: 'flow_own', intent: 'Gone' }, how);
      expect(await approveCode('local', String(retire.proposal_id))).toBe('FOUR_EYES_REQUIRED');
    });

    it('is one’s own when one’s agent proposed it', async () => {
      await member('ann', 'admin');
      const agent = { ...how, agent: true };
      const { proposal_id } = await propose(inside, 'local', sampleFlow('flow_own', { scope: 'org' }), {}, agent);
      expect(await record(proposal_id)).toMatchObject({ proposed_as: 'agent', proposed_by: 'local' });
      expect(await approveCode('local', proposal_id)).toBe('FOUR_EYES_REQUIRED');
      expect(await evaluateCode('local', proposal_id)).toBe('FOUR_EYES_REQUIRED');
      expect(await approveCode('ann', proposal_id)).toBe('done');
    });

    it('is not evaluated by its author either, while another judge may', async () => {
      await member('edith', 'admin');
      const id = await proposed('edith', 'project');
      await member('evan', 'evaluator');
      expect(await evaluateCode('edith', id)).toBe('FOUR_EYES_REQUIRED');
      expect(await record(id)).toMatchObject({ evaluation_status: 'none' });
      expect(await evaluateCode('evan', id)).toBe('done');
    });

    it('does not become another’s when its author is made an evaluator who may approve', async () => {
      await member('ed', 'editor');
      const id = await proposed('ed', 'project');
      await member('ed', 'evaluator');
      expect(await approveCode('ed', id, withEvaluators)).toBe('FOUR_EYES_REQUIRED');
      expect(await evaluateCode('ed', id, withEvaluators)).toBe('FOUR_EYES_REQUIRED');
    });
  });

  describe('[S003-3-evaluation] a waiver', () => {
    it('is an admin’s: an evaluator who may approve has none', async () => {
      await member('ed', 'editor');
      await member('evan', 'evaluator');
      const id = await proposed('ed', 'project');
      expect(await approveCode('evan', id, strict)).toBe('EVALUATION_REQUIRED');
      expect(await approveCode('evan', id, strict, { waiver_reason: 'Looks fine to me' })).toBe('EVALUATION_REQUIRED');
      expect(await approveCode('local', id, strict)).toBe('EVALUATION_REQUIRED');
      expect(await record(id)).toMatchObject({ status: 'proposed', evaluation_waiver: null });
      const reason = 'Seen together';
      expect(await approve(strict, 'local', id, { waiver_reason: reason }, how)).toMatchObject({ status: 'approved' });
      expect(await record(id)).toMatchObject({ evaluation_waiver: { by: 'local', reason } });
    });

    it.each(['', '  ', 'ok', ' a ', '\n\t\n'])('needs a reason: %j is none', async (waiver_reason) => {
      const id = await proposed('local', 'personal');
      expect(await approveCode('local', id, strict, { waiver_reason })).toBe('BAD_REQUEST');
    });

    it('is asked for by the policy of the moment, also for what was proposed before', async () => {
      const id = await proposed('local', 'personal');
      expect(await record(id)).toMatchObject({ evaluation_status: 'none' });
      expect(await approveCode('local', id, strict)).toBe('EVALUATION_REQUIRED');
    });

    it('is not needed after a pass, and is after anything else', async () => {
      const id = await proposed('local', 'personal');
      const judged = (outcome: string) => ({ proposal_id: id, outcome, comment: 'Why', checklist: RUBRIC });
      for (const outcome of ['fail', 'needs_changes']) {
        await strict.as('local', 'proposal.evaluate', judged(outcome), how);
        expect(await approveCode('local', id, strict)).toBe('EVALUATION_REQUIRED');
        expect(await approveCode('local', id, inside)).toBe('EVALUATION_REQUIRED');
      }
      await strict.as('local', 'proposal.evaluate', judged('pass'), how);
      expect(await approveCode('local', id, strict)).toBe('done');
    });

    it('cannot be sent along with the proposal, nor any word of an evaluation', async () => {
      const words = ['evaluation_status', 'evaluation_json', 'waiver_reason', 'status', 'self_approved', 'approved_by'];
      for (const word of words) {
        const given = { ...sampleFlow('flow_word'), intent: 'x', [word]: 'passed' };
        expect(await strict.codeOf('local', 'flow.propose', given, how), word).toBe('FLOW_DRAFT_INVALID');
        const note = { path: 'a.md', body: 'Text', intent: 'x', [word]: 'passed' };
        expect(await strict.codeOf('local', 'proposal.create', note, how), word).toBe('BAD_REQUEST');
      }
    });
  });

  describe('[S003-4-conflict] the base of a proposal', () => {
    it('cannot be replaced by who approves it', async () => {
      await approve(inside, 'local', await proposed('local', 'personal'), {}, how);
      const v2 = sampleFlow('flow_own', { version: '2.0.0' });
      const v3 = sampleFlow('flow_own', { version: '3.0.0' });
      const stale = await proposeEdit(inside, 'local', v3, {}, how);
      const winner = await proposeEdit(inside, 'local', v2, {}, how);
      await approve(inside, 'local', winner.proposal_id, {}, how);
      const { base_state_id } = await baseOf(inside, 'local', 'flow_own', how);
      for (const more of [{}, { base_state_id }, { base_state_id: stale.base_state_id }, { base_state_id: '' }]) {
        expect(await approveCode('local', stale.proposal_id, inside, more)).toMatch(/^(FLOW_LINEAGE_)?CONFLICT$/);
      }
      expect(await inside.as('local', 'flow.get', { flow_id: 'flow_own' }, how)).toMatchObject({
        flow: { version: '2.0.0' },
      });
    });

    it('may be named by who approves it, if it is the same', async () => {
      const first = await proposed('local', 'personal');
      const { base_state_id } = await record(first);
      expect(await approveCode('local', first, inside, { base_state_id: 'flowst1_0000000000000000' })).toBe('CONFLICT');
      expect(await record(first)).toMatchObject({ status: 'proposed' });
      expect(await approveCode('local', first, inside, { base_state_id })).toBe('done');
    });

    it('binds by content and not by the token alone', async () => {
      await approve(inside, 'local', await proposed('local', 'personal'), {}, how);
      const edit = await proposeEdit(inside, 'local', sampleFlow('flow_own', { version: '2.0.0' }), {}, how);
      // Sixty-four bits are forgeable; here the forger has already succeeded.
      const { queries } = inside.app.services.database;
      await queries
        .updateTable('flows')
        .set({ content_sha256: 'f'.repeat(64) })
        .where('vault_id', '=', vault)
        .execute();
      expect(await approveCode('local', edit.proposal_id)).toBe('FLOW_LINEAGE_CONFLICT');
    });
  });

  describe('[S002-4-vault-binding] a proposal of another vault', () => {
    it('is not there, for any act, by who may do everything in both', async () => {
      const proposal_id = await proposed('local', 'org');
      const note = await inside.as('local', 'proposal.create', { path: 'a.md', body: 'Text', intent: 'A note' }, how);
      const acts: [string, Payload][] = [
        ['proposal.get', {}],
        ['proposal.diff', {}],
        ['proposal.comment', { body: 'Hello' }],
        ['proposal.evaluate', { outcome: 'fail', comment: 'No' }],
        ['proposal.approve', {}],
        ['proposal.discard', {}],
        ['proposal.withdraw', {}],
      ];
      for (const id of [proposal_id, String(note.proposal_id)]) {
        for (const [name, more] of acts) {
          expect(await inside.codeOf('local', name, { proposal_id: id, ...more }), name).toBe('NOT_FOUND');
        }
        expect(await record(id)).toMatchObject({ status: 'proposed', comments: [] });
      }
      const diff = { flow_id: 'flow_own', proposal_id };
      expect(await inside.codeOf('local', 'flow.diff', diff)).toBe('NOT_FOUND');
      expect(await inside.as('local', 'proposal.list', { flow_id: 'flow_own' })).toMatchObject({ proposals: [] });
      const log = await approve(inside, 'local', proposal_id, {}, how);
      for (const path of [log.approval_log_path, log.mirror_path]) {
        expect(await inside.codeOf('local', 'note.get', { path }, how)).toBe('done');
        expect(await inside.codeOf('local', 'note.get', { path })).toBe('NOT_FOUND');
      }
    });
  });
});
