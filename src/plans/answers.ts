import * as z from 'zod';
import { ArtifactRecord } from '../artifacts/index.ts';
import { PlanRecord, PlanStageRecord, PlanSummaryRecord, PlanTaskRecord } from './plan-view.ts';

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

const ok = z.literal(true);

const page = {
  count: z.int().describe('How many are in this page'),
  total_count: z.int().describe('How many there are in all'),
  limit: z.int(),
  offset: z.int(),
  items: z.array(PlanSummaryRecord).max(MAX_PAGE),
};

export const PlanListResponse = z.strictObject({ ok, ...page, ...trace }).meta({ id: 'PlanListResponse' });

export const PlanSearchResponse = z
  .strictObject({ ok, query: z.string().describe('What was looked for'), ...page, ...trace })
  .meta({ id: 'PlanSearchResponse' });

export const PlanResponse = z
  .strictObject({ ok, plan_id: z.int(), item: PlanRecord, ...trace })
  .meta({ id: 'PlanResponse' });

export const PlanDetailResponse = z
  .strictObject({
    ok,
    plan_id: z.int(),
    item: PlanRecord,
    artifact_history: z
      .array(ArtifactRecord)
      .optional()
      .describe('What node runs left behind about it, newest first; absent when not asked for'),
    ...trace,
  })
  .meta({ id: 'PlanDetailResponse' });

export const PlanDeletedResponse = z
  .strictObject({ ok, deleted: z.literal(true), plan_id: z.int(), ...trace })
  .meta({ id: 'PlanDeletedResponse' });

const Counts = z
  .strictObject({ created: z.int(), updated: z.int(), replaced: z.int(), skipped_missing: z.int() })
  .describe('Rows that are new, changed or gone, and entries whose target was not there');

const TouchedRows = z
  .strictObject({
    stage_ids: z.array(z.int()),
    task_ids: z.array(z.int()),
    stages: z.array(z.strictObject({ id: z.int(), name: z.string(), stage_key: z.string() })),
    tasks: z.array(
      z.strictObject({
        id: z.int(),
        plan_stage_id: z.int(),
        name: z.string(),
        stage_key: z.string(),
        task_key: z.string(),
      }),
    ),
  })
  .describe('The rows that are new or changed, and the stages of such tasks');

const Warning = z.strictObject({
  code: z.enum(['missing_target', 'existing_target', 'invalid_payload', 'missing_patch_source']),
  message: z.string(),
  details: z.record(z.string(), z.unknown()).optional(),
});

export const PlanPatchResponse = z
  .strictObject({
    ok,
    plan_id: z.int(),
    store_mode: z.enum(['append', 'replace', 'update']),
    operation_counts: Counts,
    touched: TouchedRows,
    warnings: z.array(Warning).describe('What was asked for and not done'),
    action_results: z.array(z.string()).describe('What was done, a line each'),
    item: PlanRecord,
    ...trace,
  })
  .meta({ id: 'PlanPatchResponse' });

export const PlanStageResponse = z
  .strictObject({ ok, plan_id: z.int(), stage_id: z.int(), item: PlanStageRecord, ...trace })
  .meta({ id: 'PlanStageResponse' });

export const PlanStageDeletedResponse = z
  .strictObject({ ok, deleted: z.literal(true), plan_id: z.int(), stage_id: z.int(), ...trace })
  .meta({ id: 'PlanStageDeletedResponse' });

export const PlanTaskResponse = z
  .strictObject({ ok, plan_id: z.int(), stage_id: z.int(), task_id: z.int(), item: PlanTaskRecord, ...trace })
  .meta({ id: 'PlanTaskResponse' });

export const PlanTaskDeletedResponse = z
  .strictObject({ ok, deleted: z.literal(true), plan_id: z.int(), stage_id: z.int(), task_id: z.int(), ...trace })
  .meta({ id: 'PlanTaskDeletedResponse' });
