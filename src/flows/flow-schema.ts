import * as z from 'zod';
import { isSecretShaped } from '../kernel/secrets.ts';
import { plainText, SCOPES } from '../operations/index.ts';
import { FLOW_ID_RE, FLOW_STEP_ID_RE, MIRROR_PATH_RE, SEMVER_RE } from './flow-id.ts';
import * as limits from './limits.ts';

export const FLOW_SCHEMA = 'knowtation.flow/v0';
export const FLOW_STEP_SCHEMA = 'knowtation.flow_step/v0';

export const VERIFICATION_KINDS = [
  'human_review',
  'artifact_exists',
  'value_match',
  'test_pass',
  'agent_check',
] as const;
export const AUTOMATABLE_KINDS = ['manual', 'agent_assisted', 'automatable'] as const;

export const ScopeSchema = z.enum(SCOPES).describe('Tier of the flow: personal, project or org');
export const FlowIdSchema = z.string().regex(FLOW_ID_RE, 'must look like flow_name').describe('Stable id of a flow');
export const VersionSchema = z
  .string()
  .max(limits.MAX_VERSION)
  .regex(SEMVER_RE, 'must be MAJOR.MINOR.PATCH')
  .describe('MAJOR.MINOR.PATCH');

export const TagSchema = plainText(limits.MAX_TAG).min(1);

const filledText = (maximum: number) => z.string().max(maximum).regex(/\S/, 'must not be blank');
const refId = z
  .string()
  .min(1)
  .max(limits.MAX_REF_ID)
  .regex(/^[^\p{Cc}\u2028\u2029]*$/u, 'must be one line')
  .refine((id) => !isSecretShaped(id), 'looks like a credential: name a handle instead');
const name = z.string().min(1).max(limits.MAX_NAME);
const listOf = <T extends z.ZodType>(item: T, maximum = limits.MAX_LIST_ITEMS) => z.array(item).max(maximum);

/** A flow as the library stores it: the twelve keys, in wire order. */
export const FlowSchema = z
  .strictObject({
    schema: z.literal(FLOW_SCHEMA),
    flow_id: FlowIdSchema,
    title: filledText(limits.MAX_TITLE).describe('Short name for people'),
    version: VersionSchema,
    scope: ScopeSchema,
    summary: z.string().max(limits.MAX_SUMMARY).describe('What the flow is for'),
    tags: z.array(TagSchema).max(limits.MAX_TAGS).default([]),
    steps: z
      .array(z.string().regex(FLOW_STEP_ID_RE, 'must look like flow_name#1'))
      .min(1)
      .max(limits.MAX_STEPS_PER_FLOW)
      .describe('Step ids in order'),
    inputs: listOf(z.strictObject({ name, type: name, required: z.boolean() })).default([]),
    vault_mirror_path: z
      .string()
      .regex(MIRROR_PATH_RE, 'must be a note under meta/flows/')
      .nullable()
      .default(null)
      .describe('Note that mirrors the flow'),
    updated: z.iso
      .datetime({
        error: ({ code }) => (code === 'invalid_type' ? undefined : 'must be a UTC time such as 2026-01-31T12:00:00Z'),
      })
      .describe('Last change, UTC'),
    truncated: z.boolean().describe('True when content was left out of this answer'),
  })
  .meta({ id: 'Flow' });

/** A step: what to do, when, when not, and what proves that it was done. All text is untrusted data. */
export const FlowStepSchema = z
  .strictObject({
    schema: z.literal(FLOW_STEP_SCHEMA),
    step_id: z.string().regex(FLOW_STEP_ID_RE, 'must look like flow_name#1'),
    flow_id: FlowIdSchema,
    ordinal: z.int().min(1),
    owned_job: filledText(limits.MAX_TEXT),
    instruction: filledText(limits.MAX_TEXT),
    trigger: filledText(limits.MAX_TEXT),
    when_not_to_run: filledText(limits.MAX_TEXT),
    requires: listOf(z.strictObject({ kind: z.enum(['vault_scope', 'tool', 'file', 'artifact']), id: refId })).default(
      [],
    ),
    boundaries: listOf(z.string().max(limits.MAX_TEXT)),
    skill_refs: listOf(
      z.strictObject({ kind: z.enum(['mcp_prompt', 'skill_pack', 'cli', 'external_tool']), id: refId }),
    ).default([]),
    inputs: listOf(z.strictObject({ name, from: z.string().min(1).max(limits.MAX_REF_ID) })).default([]),
    outputs: listOf(z.strictObject({ name, type: name })).default([]),
    output_shape: filledText(limits.MAX_TEXT),
    verification: z.strictObject({
      kind: z.enum(VERIFICATION_KINDS),
      evidence_required: z.boolean(),
      description: filledText(limits.MAX_TEXT),
    }),
    automatable: z.enum(AUTOMATABLE_KINDS),
  })
  .meta({ id: 'FlowStep' });

export type Flow = z.output<typeof FlowSchema>;
export type FlowStep = z.output<typeof FlowStepSchema>;

/** A flow and its steps, as starter files and imports carry them. */
export interface FlowBundle {
  flow: Flow;
  steps: FlowStep[];
}

/** A flow in a list: counts and words, never step bodies. */
export const FlowSummarySchema = z
  .strictObject({
    schema: z.literal(FLOW_SCHEMA),
    flow_id: z.string(),
    title: z.string(),
    version: z.string(),
    scope: ScopeSchema,
    summary: z.string(),
    tags: z.array(z.string()).max(limits.MAX_TAGS),
    step_count: z.int().min(0),
    updated: z.string(),
    truncated: z.boolean(),
  })
  .meta({ id: 'FlowSummary' });

export const FlowListResponse = z
  .strictObject({
    schema: z.literal('knowtation.flow_list/v0'),
    vault_id: z.string(),
    effective_scope: ScopeSchema,
    flows: z.array(FlowSummarySchema).max(limits.MAX_FLOW_SUMMARIES),
    truncated: z.boolean(),
  })
  .meta({ id: 'FlowListResponse' });

export const FlowGetResponse = z
  .strictObject({
    schema: z.literal('knowtation.flow_get/v0'),
    vault_id: z.string(),
    flow: FlowSchema,
    steps: z.array(FlowStepSchema).max(limits.MAX_STEPS_PER_FLOW),
  })
  .meta({ id: 'FlowGetResponse' });

export const FlowSearchResponse = z
  .strictObject({
    schema: z.literal('flowright.flow_search/v1'),
    vault_id: z.string(),
    effective_scope: ScopeSchema,
    query: z.string(),
    flows: z.array(FlowSummarySchema).max(limits.MAX_FLOW_SUMMARIES),
    truncated: z.boolean(),
  })
  .meta({ id: 'FlowSearchResponse' });

export type FlowSummary = z.output<typeof FlowSummarySchema>;
export type FlowListResult = z.output<typeof FlowListResponse>;
export type FlowDefinitionResult = z.output<typeof FlowGetResponse>;
export type FlowSearchResult = z.output<typeof FlowSearchResponse>;
