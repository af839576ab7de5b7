import { describe, expect, it } from 'vitest';
import { FlowProposal, flowProposal, proposedLine } from '../../src/authoring/flow-proposal.ts';
import { approvalLogNote, approvalLogPath } from '../../src/proposals/approval-log.ts';
import {
  NOT_EVALUATED,
  ProposalRecord,
  type ProposalRow,
  ProposalSummary,
  proposalRecord,
  proposalSummary,
} from '../../src/proposals/record.ts';
import { proposalCard, proposalTable } from '../../src/proposals/render.ts';

const ID = '00000000-0000-4000-8000-000000000001';
const HOSTILE = 'evil\u001b[2J\u0007\r\nsecond line \u202e';

function row(change: Partial<ProposalRow> = {}): ProposalRow {
  return {
    proposal_key: 7,
    proposal_id: ID,
    vault_id: 'default',
    target: 'flow',
    status: 'proposed',
    path: 'meta/flows/a.md',
    base_text: null,
    source: 'flow',
    intent: 'Because',
    body: '{"flow":{"title":"SECRET BODY"}}',
    frontmatter_json: '{"type":"flow"}',
    labels_json: '["import"]',
    label_words: '\nimport\n',
    external_ref: 'ticket:7',
    base_state_id: 'flowst1_0123456789abcdef',
    base_sha256: 'f'.repeat(64),
    flow_id: 'flow_a',
    flow_kind: 'edit',
    flow_version: '1.1.0',
    base_version: '1.0.0',
    scope: 'project',
    auto_approvable: 1,
    review_queue: 'flow-authoring',
    review_severity: 'standard',
    flag_reasons_json: '[]',
    evaluation_status: 'none',
    evaluation_json: JSON.stringify(NOT_EVALUATED),
    waiver_json: null,
    proposed_by: 'ann',
    proposed_as: 'agent',
    actor_hash: 'a'.repeat(64),
    decided_by: null,
    decided_at: null,
    decision_note: '',
    self_approved: 0,
    applied_state_id: null,
    idempotency_key: 'my key',
    request_sha256: 'b'.repeat(64),
    created_at: '2026-01-01T00:00:00.000Z',
    updated_at: '2026-01-01T00:00:00.000Z',
    ...change,
  };
}
const note = (change: Partial<ProposalRow> = {}) =>
  row({
    target: 'note',
    path: 'inbox/a.md',
    flow_id: null,
    flow_kind: null,
    flow_version: null,
    base_version: null,
    scope: null,
    ...change,
  });

describe('[S003-1.2-envelope] the flow_proposal envelope', () => {
  it('has its nine keys in order', () => {
    const envelope = flowProposal(row());
    expect(Object.keys(envelope)).toEqual([
      'schema',
      'proposal_id',
      'flow_id',
      'base_version',
      'base_state_id',
      'scope',
      'auto_approvable',
      'status',
      'review_queue',
    ]);
    expect(envelope).toEqual({
      schema: 'knowtation.flow_proposal/v0',
      proposal_id: ID,
      flow_id: 'flow_a',
      base_version: '1.0.0',
      base_state_id: 'flowst1_0123456789abcdef',
      scope: 'project',
      auto_approvable: true,
      status: 'proposed',
      review_queue: 'flow-authoring',
    });
    expect(FlowProposal.parse(envelope)).toEqual(envelope);
  });

  it.each(['new', 'import'] as const)('has no base for %s: the sentinel stays inside', (flow_kind) => {
    const envelope = flowProposal(row({ flow_kind, base_version: null, base_state_id: 'flowst1_af63bd4c8601b7df' }));
    expect(envelope).toMatchObject({ base_version: null, base_state_id: null });
  });

  it('[S003-7-no-secrets] echoes nothing of the draft, its reasons or its keys', () => {
    const text = JSON.stringify(flowProposal(row({ intent: HOSTILE })));
    for (const stray of ['SECRET BODY', 'evil', 'my key', 'ticket', 'ann', 'bbbb']) expect(text).not.toContain(stray);
  });

  it('is told to people with what to do next', () => {
    expect(proposedLine(flowProposal(row()))).toBe(
      [
        'proposed: flow_a [project], based on 1.0.0',
        `proposal ${ID} waits in flow-authoring. Nothing has changed yet.`,
        `  see it:     flowright proposal diff ${ID}`,
        `  approve it: flowright proposal approve ${ID}`,
      ].join('\n'),
    );
    expect(proposedLine(flowProposal(row({ base_version: null })))).toContain('flow_a [project], new');
  });
});

describe('a proposal', () => {
  it('[FLR-proposal-lists] in a list has no body, no frontmatter and no hashes', () => {
    const summary = proposalSummary(row());
    expect(ProposalSummary.parse(summary)).toEqual(summary);
    expect(Object.keys(summary)).toEqual([
      'proposal_id',
      'vault_id',
      'status',
      'path',
      'source',
      'intent',
      'labels',
      'flow_meta',
      'evaluation_status',
      'review_queue',
      'review_severity',
      'auto_approvable',
      'proposed_by',
      'created_at',
      'updated_at',
    ]);
    expect(summary.flow_meta).toEqual({
      kind: 'edit',
      flow_id: 'flow_a',
      version: '1.1.0',
      base_version: '1.0.0',
      base_state_id: 'flowst1_0123456789abcdef',
      scope: 'project',
    });
    expect(proposalSummary(note()).flow_meta).toBeNull();
  });

  it('on its own is the summary and the rest, nothing of its key or its hashes', () => {
    const record = proposalRecord(row(), [], null);
    expect(ProposalRecord.parse(record)).toEqual(record);
    expect(record).toMatchObject({ ...proposalSummary(row()), body: row().body, frontmatter: { type: 'flow' } });
    const text = JSON.stringify(record);
    for (const stray of ['my key', 'bbbb', 'ffff', 'aaaa', 'proposal_key']) expect(text).not.toContain(stray);
  });

  it('[S003-3-untrusted-intent] shows people texts of others without obeying them', () => {
    const hostile = row({
      status: 'discarded',
      intent: HOSTILE,
      decided_by: 'bob',
      decided_at: '2026-01-02T00:00:00.000Z',
      decision_note: HOSTILE,
      flag_reasons_json: JSON.stringify([`phrase:${HOSTILE}`]),
      evaluation_status: 'failed',
      evaluation_json: JSON.stringify({
        grade: HOSTILE,
        checklist: [{ id: HOSTILE, label: '', passed: false }],
        comment: HOSTILE,
        by: 'bob',
        at: '',
      }),
      waiver_json: JSON.stringify({ by: 'bob', at: '', reason: HOSTILE }),
    });
    const comments = [{ author: 'eve', author_kind: 'agent', body: HOSTILE, created_at: '' }];
    for (const shown of [
      proposalCard(proposalRecord(hostile, comments, null)),
      proposalCard(proposalRecord({ ...hostile, ...note(), intent: HOSTILE, body: HOSTILE }, comments, null)),
      proposalTable({ proposals: [proposalSummary(hostile)], next_cursor: null }),
    ]) {
      expect(shown).toContain('evil');
      expect(shown.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\u202e]/u);
    }
  });

  it('shows what it would change, how it stands and what to do', () => {
    const card = (change: Partial<ProposalRow>) => proposalCard(proposalRecord(row(change), [], null));
    expect(card({})).toContain('proposed: edit flow_a 1.1.0 [project]');
    expect(card({})).toContain('by ann (agent)');
    expect(card({})).toContain(`flowright proposal diff ${ID} shows the change.`);
    expect(card({ flow_kind: 'retire', flow_version: null })).toContain('proposed: retire flow_a [project]');
    expect(card({ status: 'approved', decided_by: 'ann', self_approved: 1 })).toContain('approved by ann (the author)');
    expect(proposalCard(proposalRecord(note({ body: '# Plan' }), [], null))).toContain('# Plan');
    const stale = { current_version: '1.0.5', current_state_id: 'flowst1_ffffffffffffffff', advice: 'Read it again.' };
    expect(proposalCard(proposalRecord(row(), [], stale))).toContain(
      'stale: it is 1.0.5 flowst1_ffffffffffffffff by now. Read it again.',
    );
  });

  it('is a line of a table, which says how to go on', () => {
    expect(proposalTable({ proposals: [], next_cursor: null })).toBe('(no proposals)');
    const table = proposalTable({ proposals: [proposalSummary(row()), proposalSummary(note())], next_cursor: '7' });
    expect(table.split('\n')).toHaveLength(4);
    expect(table).toMatch(/^PROPOSAL\s+STATUS\s+EVALUATION\s+CHANGES\s+BY\s+INTENT\n/);
    expect(table).toMatch(/\n\(more: --cursor 7\)$/);
  });
});

describe('the log of an approval', () => {
  const approver = {
    at: '2026-02-03T04:05:06.000Z',
    principal: {
      user_id: 'bob',
      kind: 'user' as const,
      vault_id: 'default',
      role: 'admin' as const,
      visible_scopes: new Set(['personal' as const]),
      ambiguous: false,
      actor_hash: 'c'.repeat(64),
    },
  };

  it('lies under approvals, by day and proposal', () => {
    expect(approvalLogPath(row(), approver.at)).toBe(`approvals/2026-02-03-${ID}.md`);
  });

  it('[S003-7-no-secrets] tells of the decision with hashes for people and nothing of the content', () => {
    const log = approvalLogNote(row({ intent: 'x'.repeat(500) }), approver);
    expect(log.frontmatter).toEqual({
      kind: 'approval_log',
      proposal_id: ID,
      target_path: 'meta/flows/a.md',
      approved_at: approver.at,
      approved_by: 'c'.repeat(64),
      proposed_by: 'a'.repeat(64),
      intent: 'x'.repeat(400),
      source: 'flow',
    });
    const text = JSON.stringify(log);
    for (const stray of ['SECRET BODY', 'ann', 'bob', 'my key']) expect(text).not.toContain(stray);
    expect(log.body).toContain('- flow: flow_a 1.1.0');
  });
});
