import { afterAll, beforeAll, expect, it } from 'vitest';
import type { FlowBundle } from '../../src/flows/index.ts';
import { onFirst, onFirstDatabase } from '../support/databases.ts';
import { sampleFlow } from '../support/flows.ts';
import {
  approve,
  baseOf,
  type FlowProposalAnswer,
  type Office,
  openOffice,
  type ProposalAnswer,
  proposeEdit,
  proposeNew,
  WHOLE_RUBRIC,
} from '../support/office.ts';
import type { Person } from '../support/person.ts';

onFirstDatabase((engine, makeStore) => {
  const once = onFirst(engine);
  let office: Office;
  beforeAll(async () => {
    office = await openOffice(makeStore, { FLOW_AUTHORING_WRITES: '1' });
  });
  afterAll(() => office?.close());

  const get = (person: Person, flowId: string, ...more: string[]) =>
    person.asks<FlowBundle>(['flow', 'get', flowId, ...more]);
  /** Everything the library says about a flow, byte for byte. */
  const allOf = async (flowId: string) => [
    await office.owner.reads(['flow', 'get', flowId, '--json']),
    await office.owner.reads(['flow', 'versions', flowId, '--json']),
    await office.owner.reads(['flow', 'list', '--json']),
  ];

  it('[S003-3-no-silent-promotion] [S003-1.2-envelope] a new flow is proposed, evaluated, approved, and only then there', async () => {
    const { ed, eve, bob, vic, owner } = office;
    const bundle = sampleFlow('flow_weekly_review');
    const propose = ['flow', 'propose', '-', '--intent', 'We do this every Friday'];
    const proposed = await ed.asks<FlowProposalAnswer>(propose, JSON.stringify(bundle));
    expect(proposed).toEqual({
      schema: 'knowtation.flow_proposal/v0',
      proposal_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      flow_id: 'flow_weekly_review',
      base_version: null,
      base_state_id: null,
      scope: 'personal',
      auto_approvable: false,
      status: 'proposed',
      review_queue: 'flow-authoring',
    });
    const { proposal_id } = proposed;
    const evaluated = await eve.asks<ProposalAnswer>([
      ...['proposal', 'evaluate', proposal_id, '--outcome', 'pass', '--checklist', WHOLE_RUBRIC],
    ]);
    expect(evaluated).toMatchObject({ status: 'proposed', evaluation_status: 'passed' });
    for (const person of [vic, owner]) {
      expect((await person.isRefused(['flow', 'get', 'flow_weekly_review'])).code).toBe('unknown_flow');
    }

    expect(await bob.asks(['proposal', 'approve', proposal_id])).toMatchObject({
      status: 'approved',
      proposed_by: 'ed',
      decided_by: 'bob',
      self_approved: false,
      intent: 'We do this every Friday',
      mirror_path: 'meta/flows/weekly-review.md',
      mirror_written: true,
      approval_log_written: true,
    });
    for (const person of [vic, owner]) {
      const { flow, steps } = await get(person, 'flow_weekly_review');
      expect({ ...flow, updated: bundle.flow.updated }).toEqual(bundle.flow);
      expect(flow.updated, 'the server stamps it').not.toBe(bundle.flow.updated);
      expect(steps).toEqual(bundle.steps);
    }
    expect(await owner.asks(['audit', 'verify'])).toMatchObject({ ok: true });
  });

  it('[S003-4-new-row] [FLR-versions] an edit is a new version, and the old one stays pinnable as it was', async () => {
    const { ed, ann, owner } = office;
    const before = await owner.reads(['flow', 'get', 'flow_research_brief', '--json']);
    const bundle = await ed.asks<FlowBundle>(['flow', 'export', 'flow_research_brief']);
    Object.assign(bundle.flow, { version: '0.2.0', title: 'Research in brief' });
    Object.assign(bundle.steps[0] as object, { instruction: 'Ask one question.' });
    const base = await baseOf(ed, 'flow_research_brief');
    const propose = ['flow', 'propose', '-', '--intent', 'A better way', ...base];
    const proposed = await ed.asks<FlowProposalAnswer>(propose, JSON.stringify(bundle));
    expect(proposed).toMatchObject({ base_version: '0.1.0', base_state_id: expect.stringMatching(/^flowst1_/) });
    expect(await owner.reads(['flow', 'get', 'flow_research_brief', '--json'])).toBe(before);
    await ann.asks(['proposal', 'approve', proposed.proposal_id]);
    const { flow, steps } = await get(ed, 'flow_research_brief');
    expect(flow).toMatchObject({ version: '0.2.0', title: 'Research in brief' });
    expect(steps[0]).toMatchObject({ instruction: 'Ask one question.' });
    expect(await owner.reads(['flow', 'get', 'flow_research_brief', '--version', '0.1.0', '--json'])).toBe(before);
    const { versions } = await ed.asks<{ versions: unknown[] }>(['flow', 'versions', 'flow_research_brief']);
    expect(versions).toMatchObject([
      { version: '0.2.0', proposal_id: proposed.proposal_id },
      { version: '0.1.0', proposal_id: null, state_id: proposed.base_state_id },
    ]);
    const diff = await ed.reads(['flow', 'diff', 'flow_research_brief']);
    expect(diff).toMatch(/^flow_research_brief 0\.1\.0 → 0\.2\.0\n/);
    expect(diff).toMatch(/^Step 1: .*\n {2}~ instruction/m);
  });

  once(
    '[S003-3-no-silent-promotion] discarding and withdrawing leave the library as it was, and are final',
    async () => {
      const { ed, vic, ann } = office;
      const before = await allOf('flow_session_to_flow');
      const wish = ({ flow }: FlowBundle) => Object.assign(flow, { version: '9.0.0', title: 'No' });
      const first = await proposeEdit(ed, 'flow_session_to_flow', wish);
      const second = await proposeEdit(ed, 'flow_session_to_flow', wish);
      expect((await vic.isRefused(['proposal', 'discard', first.proposal_id])).code).toBe('FORBIDDEN');
      expect((await ann.isRefused(['proposal', 'withdraw', first.proposal_id])).code).toBe('FORBIDDEN');
      const discarded = ['proposal', 'discard', first.proposal_id, '--reason', 'Too bold'];
      expect(await ann.asks(discarded)).toMatchObject({
        status: 'discarded',
        decided_by: 'ann',
        decision_note: 'Too bold',
      });
      expect(await ed.asks(['proposal', 'withdraw', second.proposal_id])).toMatchObject({
        status: 'discarded',
        decided_by: 'ed',
      });
      for (const { proposal_id } of [first, second]) {
        expect((await ann.isRefused(['proposal', 'approve', proposal_id])).message).toContain('discarded already');
      }
      expect(await allOf('flow_session_to_flow')).toEqual(before);
    },
  );

  once(
    '[FLR-conflicted] [S003-4-conflict] who comes second is told what is there now, rebases, and gets through',
    async () => {
      const { ed, vic, ann } = office;
      const flowId = 'flow_capture_to_note';
      const stale = await baseOf(ed, flowId);
      const first = await proposeEdit(ed, flowId, ({ flow }) =>
        Object.assign(flow, { version: '0.2.0', title: 'One' }),
      );
      const second = await proposeEdit(vic, flowId, ({ flow }) =>
        Object.assign(flow, { version: '0.2.0', tags: ['x'] }),
      );
      expect((await approve(ann, first.proposal_id)).conflicted).toEqual([second.proposal_id]);

      const [, current_version, , current_state_id] = await baseOf(ed, flowId);
      const lost = await ann.isRefused(['proposal', 'approve', second.proposal_id]);
      expect(lost).toMatchObject({
        code: 'FLOW_LINEAGE_CONFLICT',
        details: { current_version, current_state_id },
      });
      const { flow, steps } = await vic.asks<FlowBundle>(['flow', 'export', flowId]);
      const late = JSON.stringify({ flow: { ...flow, version: '0.3.0' }, steps });
      expect(await vic.isRefused(['flow', 'propose', '-', '--intent', 'Late', ...stale], late)).toMatchObject({
        code: 'FLOW_LINEAGE_CONFLICT',
        details: { current_version: '0.2.0', current_state_id },
      });

      const card = await vic.reads(['proposal', 'get', second.proposal_id]);
      expect(card).toMatch(/^conflicted: edit flow_capture_to_note 0\.2\.0/m);
      expect(card).toContain(`0.2.0 ${current_state_id}`);
      expect(card).toContain('propose again');
      const again = await proposeEdit(vic, flowId, (now) => Object.assign(now.flow, { version: '0.2.1', tags: ['x'] }));
      expect(await approve(ann, again.proposal_id)).toMatchObject({ status: 'approved' });
      expect((await get(ed, flowId)).flow).toMatchObject({ version: '0.2.1', title: 'One', tags: ['x'] });
      expect(await vic.asks(['proposal', 'withdraw', second.proposal_id])).toMatchObject({ status: 'discarded' });
    },
  );

  it('[FLR-freshness-cross-process] what another process approved, the hub answers at once', async () => {
    const { ed, vic, owner, hub, tokens } = office;
    const headers = { authorization: `Bearer ${tokens.vic}` };
    const version = async () => {
      const response = await fetch(new URL('/api/v1/flows/flow_reviewed_writeback', hub.url), { headers });
      return ((await response.json()) as FlowBundle).flow.version;
    };
    expect(await version()).toBe('0.1.0');
    const proposed = await proposeEdit(ed, 'flow_reviewed_writeback', ({ flow }) =>
      Object.assign(flow, { version: '0.1.1' }),
    );
    await owner.asks(['proposal', 'approve', proposed.proposal_id]);
    expect(await version()).toBe('0.1.1');
    expect(await vic.asks(['proposal', 'get', proposed.proposal_id])).toMatchObject({
      status: 'approved',
      decided_by: 'local',
    });
  });

  once(
    '[FLR-export-import] a flow travels through a pipe into another vault, unchanged but for its stamp',
    async () => {
      const { owner } = office;
      await owner.asks(['vault', 'create', 'branch', '--no-starters']);
      const bundle = await owner.reads(['flow', 'export', 'flow_overseer_handover']);
      const there = (...args: string[]) => [...args, '--vault', 'branch'];
      const imported = await owner.asks<FlowProposalAnswer>(
        there('flow', 'import', '-', '--intent', 'Use it here too', '--source-vault-hint', 'default'),
        bundle,
      );
      expect(imported).toMatchObject({ base_version: null, scope: 'project', status: 'proposed' });
      expect(await owner.asks(there('flow', 'list'))).toMatchObject({ flows: [] });
      await owner.asks(there('proposal', 'approve', imported.proposal_id));
      const again = await owner.reads(there('flow', 'export', 'flow_overseer_handover'));
      const but = (text: string) => text.replace(/"updated": "[^"]+"/, '"updated": ""');
      expect(but(again)).toBe(but(bundle));
      expect((await owner.isRefused(there('flow', 'import', '-', '--intent', 'Twice'), bundle)).code).toBe(
        'FLOW_LINEAGE_CONFLICT',
      );
    },
  );

  once(
    '[FLR-retire] a retired flow is gone for all, its id stays taken, and admins can still read what it was',
    async () => {
      const { ed, vic, ann } = office;
      await approve(ann, (await proposeNew(ed, sampleFlow('flow_old_way'))).proposal_id);
      const proposed = await ed.asks<FlowProposalAnswer>(['flow', 'retire', 'flow_old_way', '--intent', 'Replaced']);
      expect(proposed).toMatchObject({ base_version: '1.0.0', status: 'proposed' });
      expect((await get(vic, 'flow_old_way')).flow.version, 'still there').toBe('1.0.0');
      expect(await ann.reads(['proposal', 'diff', proposed.proposal_id])).toContain('retired');
      await approve(ann, proposed.proposal_id);
      expect((await vic.isRefused(['flow', 'get', 'flow_old_way'])).code).toBe('unknown_flow');
      expect((await ann.isRefused(['flow', 'get', 'flow_old_way'])).code).toBe('unknown_flow');
      expect((await vic.isRefused(['flow', 'get', 'flow_old_way', '--version', '1.0.0'])).code).toBe('unknown_flow');
      expect((await get(ann, 'flow_old_way', '--version', '1.0.0')).flow.version).toBe('1.0.0');
      const revived = JSON.stringify(sampleFlow('flow_old_way', { version: '2.0.0' }));
      const taken = await ed.isRefused(['flow', 'propose', '-', '--intent', 'Again'], revived);
      expect(taken).toMatchObject({ code: 'FLOW_LINEAGE_CONFLICT', message: expect.stringContaining('retired') });
    },
  );
});
