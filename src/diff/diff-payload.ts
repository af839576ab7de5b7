import * as z from 'zod';
import { ClassSchema, FlowChangeSchema } from './change.ts';

export const FlowDiffResponse = z
  .strictObject({
    schema: z.literal('flowright.flow_diff/v1'),
    vault_id: z.string(),
    flow_id: z.string(),
    from: z.string().nullable().describe('The older version; null when there is none'),
    to: z.string().nullable().describe('The newer version; null when the flow would be retired'),
    proposal_id: z.string().nullable().describe('The proposal whose draft is the newer version'),
    changes: z.array(FlowChangeSchema),
    implied: ClassSchema.describe('The greatest impact of any change; advice, not a rule'),
    declared: z.enum(['patch', 'minor', 'major']).nullable().describe('What the version number itself says'),
    advice: z.string().nullable().describe('A sentence when the number says less than the changes imply'),
  })
  .meta({ id: 'FlowDiffResponse' });

export type FlowDiffResult = z.output<typeof FlowDiffResponse>;
