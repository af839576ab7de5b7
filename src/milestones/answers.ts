import * as z from 'zod';
import { ArtifactRecord } from '../artifacts/index.ts';
import { MILESTONE_HEALTHS, MILESTONE_PRIORITIES, MILESTONE_STATUSES } from './milestone.ts';

const trace = {
  request_id: z.string().describe('Id of the request that was answered'),
  correlation_id: z.string().optional().describe('Id that the caller gave to a chain of requests'),
};

export function traceOf(context: { request_id: string; correlation_id: string | undefined }) {
  const { request_id, correlation_id } = context;
  return { request_id, ...(correlation_id === undefined ? {} : { correlation_id }) };
}

export const MAX_PAGE = 200;
export const DEFAULT_PAGE = 50;
const MAX_OFFSET = 1_000_000_000;

export const pageInput = {
  limit: z.int().min(1).max(MAX_PAGE).default(DEFAULT_PAGE).describe('How many at most'),
  offset: z.int().min(0).max(MAX_OFFSET).default(0).describe('How many to leave out at the beginning'),
};

const text = z.string().nullable();

export const MilestoneRecord = z
  .strictObject({
    id: z.int(),
    name: z.string(),
    description: text,
    status: z.enum(MILESTONE_STATUSES),
    priority: z.enum(MILESTONE_PRIORITIES),
    owner: text,
    completed: z.boolean().describe('True together with the status done and 100 percent'),
    start_date: text.describe('A day, or a time in UTC'),
    due_date: text.describe('A day, or a time in UTC; never before start_date'),
    progress_percent: z.int().min(0).max(100),
    health: z.enum(MILESTONE_HEALTHS),
    success_criteria: text,
    dependencies: text,
    links: text,
    latest_update: text.describe('What was last said about it'),
    created_at: z.string().describe('ISO-8601, UTC'),
    updated_at: z.string().describe('ISO-8601, UTC'),
  })
  .meta({ id: 'Milestone' });

const ok = z.literal(true);

const page = {
  count: z.int().describe('How many are in this page'),
  total_count: z.int().describe('How many there are in all'),
  limit: z.int(),
  offset: z.int(),
  items: z.array(MilestoneRecord).max(MAX_PAGE),
};

export const MilestoneListResponse = z.strictObject({ ok, ...page, ...trace }).meta({ id: 'MilestoneListResponse' });

export const MilestoneSearchResponse = z
  .strictObject({ ok, query: z.string().describe('What was looked for'), ...page, ...trace })
  .meta({ id: 'MilestoneSearchResponse' });

export const MilestoneResponse = z
  .strictObject({ ok, milestone_id: z.int(), item: MilestoneRecord, ...trace })
  .meta({ id: 'MilestoneResponse' });

export const MilestoneDetailResponse = z
  .strictObject({
    ok,
    milestone_id: z.int(),
    item: MilestoneRecord,
    artifact_history: z
      .array(ArtifactRecord)
      .optional()
      .describe('What node runs left behind about it, newest first; absent when not asked for'),
    ...trace,
  })
  .meta({ id: 'MilestoneDetailResponse' });

export const MilestoneDeletedResponse = z
  .strictObject({ ok, deleted: z.literal(true), milestone_id: z.int(), ...trace })
  .meta({ id: 'MilestoneDeletedResponse' });
