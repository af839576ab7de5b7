import * as z from 'zod';
import type { Database } from '../database/index.ts';
import { type Clock, isoNow } from '../kernel/clock.ts';
import { badRequest, refusal } from '../kernel/errors.ts';
import { type Context, defineOperation, freeText, plainText } from '../operations/index.ts';
import type { Policy } from '../policy/index.ts';
import { type Files, placeOf } from '../vault/index.ts';
import { approveProposal, openProposal } from './approve.ts';
import { announce } from './create.ts';
import { judge, OutcomeSchema } from './evaluation.ts';
import { assertFourEyes } from './four-eyes.ts';
import { ExternalRef } from './input.ts';
import { changeProposal, commentsOf, MAX_COMMENTS } from './proposal-store.ts';
import { type Evaluation, ProposalId, ProposalRecord, type ProposalRow, proposalRecord } from './record.ts';
import { proposalCard } from './render.ts';
import type { ProposalTargets } from './target.ts';

interface Needs {
  database: Database;
  clock: Clock;
  policy: Policy;
  files: Files;
  targets: ProposalTargets;
}

const tag = 'Proposals';
const rename = { id: 'proposal_id' };
const note = (maximum: number) => freeText(maximum).trim();

async function recordOf(context: Context<Needs>, row: ProposalRow) {
  return proposalRecord(row, await commentsOf(context.trx, row.proposal_key), null);
}

async function change(context: Context<Needs>, row: ProposalRow, set: Partial<ProposalRow>, event: string) {
  const updated = { ...set, updated_at: isoNow(context.clock) };
  if (!(await changeProposal(context.trx, row, ['proposed', 'conflicted'], updated))) {
    throw refusal('CONFLICT', 'Somebody else decided it at the same moment. Read it again.');
  }
  const done = { ...row, ...updated };
  await announce(context.trx, context.clock, done, event);
  return recordOf(context, done);
}

const evaluate = defineOperation({
  name: 'proposal.evaluate',
  summary: 'Judge a proposal against the rubric',
  description: 'Records pass, fail or needs_changes. A pass needs every item of the rubric; the others need a comment.',
  input: z.strictObject({
    proposal_id: ProposalId,
    outcome: OutcomeSchema.describe('pass, fail or needs_changes'),
    checklist: z
      .array(z.union([z.string().max(64), z.strictObject({ id: z.string().max(64), passed: z.boolean() })]))
      .max(100)
      .default([])
      .describe('Items of the rubric that passed; `policy show --json` lists them'),
    grade: plainText(32).default('').describe('A mark of your own'),
    comment: note(8_000).default('').describe('What you found'),
  }),
  output: ProposalRecord,
  access: { can: 'evaluate' },
  effect: 'write',
  http: { method: 'POST', path: '/api/v1/proposals/{id}/evaluation', rename, tag },
  cli: {
    command: 'proposal evaluate <proposal_id>',
    examples: [
      'flowright proposal evaluate ID --outcome pass --checklist accurate,no_secrets,matches_intent,pii,tone',
      'flowright proposal evaluate ID --outcome needs-changes --comment "Name the reviewer in step 2."',
    ],
    render: proposalCard,
  },
  errors: ['FOUR_EYES_REQUIRED', 'CONFLICT', 'POLICY_FILE_DAMAGED'],
  audit: (_input, { proposal_id, evaluation_status }) => ({ proposal_id, evaluation_status }),
  handle: async (context: Context<Needs>, input) => {
    const row = await openProposal(context.trx, context.database, context.principal, input.proposal_id);
    if (row.status !== 'proposed') {
      throw refusal(
        'CONFLICT',
        'It lost to another change; there is nothing left to judge. Its author can propose again.',
      );
    }
    await assertFourEyes(context.trx, row, context.principal, ['admin', 'evaluator']);
    const passed = input.checklist.flatMap((item) => (typeof item === 'string' ? item : item.passed ? item.id : []));
    const verdict = judge(context.policy.rubric(), { ...input, passed: new Set(passed) });
    if (!verdict.ok) throw badRequest(verdict.issues, 'proposal.evaluate');
    const evaluation: Evaluation = {
      grade: input.grade,
      checklist: verdict.checklist,
      comment: input.comment,
      by: context.principal.user_id,
      at: isoNow(context.clock),
    };
    const set = { evaluation_status: verdict.status, evaluation_json: JSON.stringify(evaluation) };
    return change(context, row, set, 'proposal.evaluated');
  },
});

const ApprovedResponse = ProposalRecord.extend({
  approval_log_written: z.boolean(),
  approval_log_path: z.string(),
  approval_log_error: z.string().nullable(),
  mirror_path: z.string().nullable().describe('Note that was written; null when nothing was'),
  mirror_written: z.boolean().describe('False when the disk refused; it is tried again later'),
  conflicted: z.array(z.string()).describe('Proposals that lost to this one'),
}).meta({ id: 'ProposalApproved' });

const approve = defineOperation({
  name: 'proposal.approve',
  summary: 'Approve a proposal: what it asks for happens now',
  input: z.strictObject({
    proposal_id: ProposalId,
    base_state_id: z.string().max(64).optional().describe('Must be the one the proposal is based on'),
    waiver_reason: note(2_000).min(3).optional().describe('Why an admin goes on without a passed evaluation'),
    external_ref: ExternalRef.optional(),
  }),
  output: ApprovedResponse,
  access: { can: 'evaluate' },
  effect: 'write',
  http: { method: 'POST', path: '/api/v1/proposals/{id}/approve', rename, tag },
  cli: {
    command: 'proposal approve <proposal_id>',
    examples: [
      'flowright proposal approve ID',
      'flowright proposal approve ID --waiver-reason "Typo only, looked at it together"',
    ],
    render: (payload) => {
      const lost = payload.conflicted.map((id) => `lost to it: ${id} (its author can propose again)`);
      const files =
        payload.mirror_written && payload.approval_log_written ? [] : ['files: written as soon as the disk allows'];
      return [proposalCard(payload), ...lost, ...files].join('\n');
    },
  },
  errors: [
    'EVALUATION_REQUIRED',
    'FOUR_EYES_REQUIRED',
    'FLOW_LINEAGE_CONFLICT',
    'FLOW_DRAFT_INVALID',
    'FLOW_AUTHORING_DISABLED',
    'FLOW_AUTHORING_POLICY_FORBIDDEN',
    'CONFLICT',
    'NOTE_UNREADABLE',
  ],
  audit: (input, { proposal_id, flow_meta, path, evaluation_waiver, self_approved }) => ({
    proposal_id,
    ...(flow_meta ? { flow_id: flow_meta.flow_id, version: flow_meta.version, kind: flow_meta.kind } : { path }),
    ...(evaluation_waiver ? { waiver_reason_length: evaluation_waiver.reason.length } : {}),
    ...(self_approved ? { self_approved } : {}),
    external_ref_set: input.external_ref !== undefined,
  }),
  handle: async (context: Context<Needs>, { proposal_id, ...given }) => {
    const done = await approveProposal(context.trx, context, context.principal, proposal_id, given);
    return {
      ...(await recordOf(context, done.proposal)),
      approval_log_written: false,
      approval_log_path: done.approval_log_path,
      approval_log_error: null,
      mirror_path: done.mirror_path,
      mirror_written: done.mirror_path === null,
      conflicted: done.conflicted,
    };
  },
  finish: async ({ files, principal }, payload) => {
    const { failed } = await files.settle(placeOf(principal.vault_id));
    const faultOf = (path: string | null) => failed.find((fault) => fault.path === path)?.reason ?? null;
    const logFault = faultOf(payload.approval_log_path);
    return {
      ...payload,
      approval_log_written: logFault === null,
      approval_log_error: logFault,
      mirror_written: faultOf(payload.mirror_path) === null,
    };
  },
});

const discard = defineOperation({
  name: 'proposal.discard',
  summary: 'Turn a proposal down',
  input: z.strictObject({ proposal_id: ProposalId, reason: note(2_000).default('').describe('Why') }),
  output: ProposalRecord,
  access: { can: 'approve' },
  effect: 'write',
  http: { method: 'POST', path: '/api/v1/proposals/{id}/discard', rename, tag },
  cli: {
    command: 'proposal discard <proposal_id>',
    examples: ['flowright proposal discard ID --reason "We do it another way now"'],
    render: proposalCard,
  },
  errors: ['CONFLICT'],
  audit: ({ proposal_id }) => ({ proposal_id }),
  handle: async (context: Context<Needs>, { proposal_id, reason }) => {
    const row = await openProposal(context.trx, context.database, context.principal, proposal_id);
    return change(context, row, closing(context, reason), 'proposal.discarded');
  },
});

const withdraw = defineOperation({
  name: 'proposal.withdraw',
  summary: 'Take back a proposal of your own',
  input: z.strictObject({ proposal_id: ProposalId }),
  output: ProposalRecord,
  access: { can: 'read' },
  effect: 'write',
  http: { method: 'POST', path: '/api/v1/proposals/{id}/withdraw', rename, tag },
  mcp: { tool: 'proposal_withdraw' },
  cli: { command: 'proposal withdraw <proposal_id>', render: proposalCard },
  errors: ['CONFLICT'],
  audit: ({ proposal_id }) => ({ proposal_id }),
  handle: async (context: Context<Needs>, { proposal_id }) => {
    const row = await openProposal(context.trx, context.database, context.principal, proposal_id);
    if (row.proposed_by !== context.principal.user_id) {
      throw refusal('FORBIDDEN', 'Only its author withdraws a proposal. An admin can discard it.');
    }
    return change(context, row, closing(context, 'withdrawn by its author'), 'proposal.discarded');
  },
});

function closing({ principal, clock }: Context<Needs>, reason: string): Partial<ProposalRow> {
  return { status: 'discarded', decided_by: principal.user_id, decided_at: isoNow(clock), decision_note: reason };
}

const comment = defineOperation({
  name: 'proposal.comment',
  summary: 'Say something about a proposal',
  input: z.strictObject({
    proposal_id: ProposalId,
    body: note(4_000).min(1).describe('What you have to say'),
  }),
  output: ProposalRecord,
  access: { can: 'read' },
  effect: 'write',
  http: { method: 'POST', path: '/api/v1/proposals/{id}/comments', rename, status: 201, tag },
  mcp: { tool: 'proposal_comment' },
  cli: {
    command: 'proposal comment <proposal_id> <body>',
    examples: ['flowright proposal comment ID "Who reviews step 2?"'],
    render: proposalCard,
  },
  errors: ['CONFLICT'],
  audit: ({ proposal_id }) => ({ proposal_id }),
  handle: async (context: Context<Needs>, { proposal_id, body }) => {
    const { trx, principal, clock } = context;
    const row = await openProposal(trx, context.database, principal, proposal_id);
    const held = await commentsOf(trx, row.proposal_key);
    if (held.length >= MAX_COMMENTS) throw refusal('CONFLICT', `A proposal holds ${MAX_COMMENTS} comments at most.`);
    await trx
      .insertInto('proposal_comments')
      .values({
        proposal_key: row.proposal_key,
        author: principal.user_id,
        author_kind: principal.kind,
        body,
        created_at: isoNow(clock),
      })
      .execute();
    return change(context, row, {}, 'proposal.commented');
  },
});

export const decideOperations = [evaluate, approve, discard, withdraw, comment];
