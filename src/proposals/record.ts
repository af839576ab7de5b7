import * as z from 'zod';
import type { ProposalCommentsTable, ProposalsTable } from '../database/index.ts';
import { plainText, SCOPES, type Scope } from '../operations/index.ts';
import { EVALUATION_STATUSES } from './evaluation.ts';

/**
 * The life of a proposal:
 *
 *   proposed ── approve ──▶ approved     what it asks for is done, in the same transaction
 *      │ ├───── discard, withdraw ──▶ discarded
 *      │ └───── another change of the same thing is approved ──▶ conflicted
 *      └─ evaluate: any number of times, changes evaluation_status only
 *
 *   conflicted ── discard, withdraw ──▶ discarded
 *
 * Approved and discarded are final. A conflicted one cannot be approved: its author reads what is there now and
 * proposes again.
 */
export const STATUSES = ['proposed', 'approved', 'discarded', 'conflicted'] as const;

export const ProposalId = z.uuid('must be a proposal id').describe('Id of a proposal');
export const Label = plainText(64).trim().min(1);
export const SEVERITIES = ['standard', 'elevated'] as const;

const FlowMeta = z
  .strictObject({
    kind: z.enum(['new', 'edit', 'import', 'retire']),
    flow_id: z.string(),
    version: z.string().nullable().describe('Version it would add; null when it retires the flow'),
    base_version: z.string().nullable(),
    base_state_id: z.string(),
    scope: z.enum(SCOPES),
  })
  .meta({ id: 'ProposalFlowMeta' });

const summaryShape = {
  proposal_id: z.string(),
  vault_id: z.string(),
  status: z.enum(STATUSES),
  path: z.string().describe('Note that would change; of a flow, its mirror'),
  source: z.string(),
  intent: z.string().describe('Why, in the words of the author; untrusted'),
  labels: z.array(z.string()),
  flow_meta: FlowMeta.nullable().describe('Null for a note'),
  evaluation_status: z.enum(EVALUATION_STATUSES),
  review_queue: z.string(),
  review_severity: z.enum(SEVERITIES),
  auto_approvable: z.boolean().describe('Derived by the server from the verification kinds; nothing acts on it'),
  proposed_by: z.string(),
  created_at: z.string(),
  updated_at: z.string(),
};

export const ProposalSummary = z.strictObject(summaryShape).meta({ id: 'ProposalSummary' });

const Comment = z
  .strictObject({ author: z.string(), author_kind: z.string(), body: z.string(), created_at: z.string() })
  .meta({ id: 'ProposalComment' });

export const RebaseHint = z
  .strictObject({
    current_version: z.string().nullable().describe('Version the flow has now; null for a note'),
    current_state_id: z.string().describe('Token of what is there now'),
    advice: z.string(),
  })
  .meta({ id: 'ProposalRebase' });

const recordShape = {
  ...summaryShape,
  body: z.string(),
  frontmatter: z.record(z.string(), z.unknown()),
  base_state_id: z.string(),
  external_ref: z.string(),
  auto_flag_reasons: z.array(z.string()),
  evaluation_grade: z.string(),
  evaluation_checklist: z.array(z.strictObject({ id: z.string(), label: z.string(), passed: z.boolean() })),
  evaluation_comment: z.string(),
  evaluated_by: z.string().nullable(),
  evaluated_at: z.string().nullable(),
  evaluation_waiver: z.strictObject({ by: z.string(), at: z.string(), reason: z.string() }).nullable(),
  proposed_as: z.enum(['user', 'agent', 'local']),
  decided_by: z.string().nullable(),
  decided_at: z.string().nullable(),
  decision_note: z.string(),
  self_approved: z
    .boolean()
    .describe('The author approved it: nobody else in the vault could, or it is personal or a note'),
  applied_state_id: z.string().nullable(),
  rebase: RebaseHint.nullable().describe('What it would have to be based on now; null when it still fits'),
  comments: z.array(Comment),
};

export const ProposalRecord = z
  .strictObject({ schema: z.literal('flowright.proposal/v1'), ...recordShape })
  .meta({ id: 'Proposal' });

export type ProposalRow = { [K in keyof ProposalsTable]: K extends 'proposal_key' ? number : ProposalsTable[K] };
export type ProposalSummaryView = z.output<typeof ProposalSummary>;
export type ProposalView = z.output<typeof ProposalRecord>;
export type Rebase = z.output<typeof RebaseHint>;

export interface Evaluation {
  grade: string;
  checklist: { id: string; label: string; passed: boolean }[];
  comment: string;
  by: string | null;
  at: string | null;
}
export const NOT_EVALUATED: Evaluation = { grade: '', checklist: [], comment: '', by: null, at: null };

export type SummaryRow = Omit<ProposalRow, 'body' | 'frontmatter_json'>;

/** A proposal in a list: no body, no frontmatter. */
export function proposalSummary(row: SummaryRow): ProposalSummaryView {
  return {
    proposal_id: row.proposal_id,
    vault_id: row.vault_id,
    status: row.status,
    path: row.path,
    source: row.source,
    intent: row.intent,
    labels: JSON.parse(row.labels_json) as string[],
    flow_meta:
      row.flow_id === null || row.flow_kind === null
        ? null
        : {
            kind: row.flow_kind,
            flow_id: row.flow_id,
            version: row.flow_version,
            base_version: row.base_version,
            base_state_id: row.base_state_id,
            scope: row.scope as Scope,
          },
    evaluation_status: row.evaluation_status,
    review_queue: row.review_queue,
    review_severity: row.review_severity,
    auto_approvable: row.auto_approvable === 1,
    proposed_by: row.proposed_by,
    created_at: row.created_at,
    updated_at: row.updated_at,
  };
}

export function proposalRecord(
  row: ProposalRow,
  comments: Omit<ProposalCommentsTable, 'comment_key' | 'proposal_key'>[],
  rebase: Rebase | null,
): ProposalView {
  const evaluation = JSON.parse(row.evaluation_json) as Evaluation;
  return {
    schema: 'flowright.proposal/v1',
    ...proposalSummary(row),
    body: row.body,
    frontmatter: JSON.parse(row.frontmatter_json) as Record<string, unknown>,
    base_state_id: row.base_state_id,
    external_ref: row.external_ref,
    auto_flag_reasons: JSON.parse(row.flag_reasons_json) as string[],
    evaluation_grade: evaluation.grade,
    evaluation_checklist: evaluation.checklist,
    evaluation_comment: evaluation.comment,
    evaluated_by: evaluation.by,
    evaluated_at: evaluation.at,
    evaluation_waiver: row.waiver_json === null ? null : JSON.parse(row.waiver_json),
    proposed_as: row.proposed_as,
    decided_by: row.decided_by,
    decided_at: row.decided_at,
    decision_note: row.decision_note,
    self_approved: row.self_approved === 1,
    applied_state_id: row.applied_state_id,
    rebase,
    comments: comments.map(({ author, author_kind, body, created_at }) => ({ author, author_kind, body, created_at })),
  };
}
