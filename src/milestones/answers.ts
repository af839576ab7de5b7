import * as z from 'zod';
import { ArtifactRecord } from '../artifacts/index.ts';
import { MAX_PAGE, pageOutput, traceOutput } from '../operations/index.ts';
import { MILESTONE_HEALTHS, MILESTONE_PRIORITIES, MILESTONE_STATUSES } from './milestone.ts';

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
  ...pageOutput,
  items: z.array(MilestoneRecord).max(MAX_PAGE),
};

export const MilestoneListResponse = z
  .strictObject({ ok, ...page, ...traceOutput })
  .meta({ id: 'MilestoneListResponse' });

export const MilestoneSearchResponse = z
  .strictObject({ ok, query: z.string().describe('What was looked for'), ...page, ...traceOutput })
  .meta({ id: 'MilestoneSearchResponse' });

export const MilestoneResponse = z
  .strictObject({ ok, milestone_id: z.int(), item: MilestoneRecord, ...traceOutput })
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
    ...traceOutput,
  })
  .meta({ id: 'MilestoneDetailResponse' });

export const MilestoneDeletedResponse = z
  .strictObject({ ok, deleted: z.literal(true), milestone_id: z.int(), ...traceOutput })
  .meta({ id: 'MilestoneDeletedResponse' });
