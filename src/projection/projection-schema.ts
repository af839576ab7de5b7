import * as z from 'zod';
import { MAX_RENDERED_BYTES } from './document.ts';
import { HARNESSES } from './harness.ts';

export const HarnessSchema = z
  .enum(HARNESSES)
  .describe('Format to render to; agent_bundle is a known word that is not rendered yet');

const FlowProjection = z
  .strictObject({
    schema: z.literal('knowtation.flow_projection/v0'),
    flow_id: z.string(),
    flow_version: z.string().describe('Version the text was rendered from'),
    harness: HarnessSchema,
    rendered: z.string().max(MAX_RENDERED_BYTES).describe('The text, as the harness wants it'),
    generated_from_canonical: z.literal(true),
    editable: z.literal(false).describe('A change of the text is drift and never changes the flow'),
    fidelity: z.strictObject({
      dropped_fields: z.array(z.string()).describe('Fields that have no place in this format, sorted'),
      notes: z.string().optional().describe('What else the text does not hold'),
    }),
  })
  .meta({ id: 'FlowProjection' });

const Staleness = z
  .strictObject({
    stale: z.boolean().describe('True when there is a newer version'),
    projection_version: z.string(),
    latest_version: z.string(),
  })
  .meta({ id: 'FlowProjectionStaleness' });

const Generator = z
  .strictObject({
    generator_version: z.string(),
    content_hash: z.string().describe('SHA-256 of the rendered text'),
    generated_at: z.string().describe('When it was rendered, UTC; not part of the text or its hash'),
  })
  .meta({ id: 'FlowProjectionGenerator' });

export const FlowProjectResponse = z
  .strictObject({
    schema: z.literal('knowtation.flow_project/v0'),
    vault_id: z.string(),
    projection: FlowProjection,
    staleness: Staleness,
    generator: Generator,
  })
  .meta({ id: 'FlowProjectResponse' });

export type FlowProjectResult = z.output<typeof FlowProjectResponse>;
