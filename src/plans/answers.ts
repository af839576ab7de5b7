import * as z from 'zod';
import { ArtifactRecord } from '../artifacts/index.ts';
import { MAX_PAGE, pageOutput, traceOutput } from '../operations/index.ts';
import { PlanRecord, PlanStageRecord, PlanSummaryRecord, PlanTaskRecord } from './plan-view.ts';

const ok = z.literal(true);

const page = {
  ...pageOutput,
  items: z.array(PlanSummaryRecord).max(MAX_PAGE),
};

export const PlanListResponse = z.strictObject({ ok, ...page, ...traceOutput }).meta({ id: 'PlanListResponse' });

export const PlanSearchResponse = z
  .strictObject({ ok, query: z.string().describe('What was looked for'), ...page, ...traceOutput })
  .meta({ id: 'PlanSearchResponse' });

export const PlanResponse = z
  .strictObject({ ok, plan_id: z.int(), item: PlanRecord, ...traceOutput })
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
    ...traceOutput,
  })
  .meta({ id: 'PlanDetailResponse' });

export const PlanDeletedResponse = z
  .strictObject({ ok, deleted: z.literal(true), plan_id: z.int(), ...traceOutput })
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
    ...traceOutput,
  })
  .meta({ id: 'PlanPatchResponse' });

export const PlanStageResponse = z
  .strictObject({ ok, plan_id: z.int(), stage_id: z.int(), item: PlanStageRecord, ...traceOutput })
  .meta({ id: 'PlanStageResponse' });

export const PlanStageDeletedResponse = z
  .strictObject({ ok, deleted: z.literal(true), plan_id: z.int(), stage_id: z.int(), ...traceOutput })
  .meta({ id: 'PlanStageDeletedResponse' });

export const PlanTaskResponse = z
  .strictObject({ ok, plan_id: z.int(), stage_id: z.int(), task_id: z.int(), item: PlanTaskRecord, ...traceOutput })
  .meta({ id: 'PlanTaskResponse' });

export const PlanTaskDeletedResponse = z
  .strictObject({ ok, deleted: z.literal(true), plan_id: z.int(), stage_id: z.int(), task_id: z.int(), ...traceOutput })
  .meta({ id: 'PlanTaskDeletedResponse' });
