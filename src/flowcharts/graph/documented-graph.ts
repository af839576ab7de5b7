import * as z from 'zod';
import { MAX_CLIENT_ID, MAX_CONDITION_KEY, MAX_CONTROL_POINTS, MAX_HANDLE, MAX_LABEL, MAX_TITLE } from './limits.ts';

/** What a graph is, as the doors tell it. normalise-graph.ts is what holds it to that. */
export const SentNode = z.strictObject({
  id: z.int().optional().describe('Of a node that is there'),
  client_id: z.string().max(MAX_CLIENT_ID).optional().describe('Your name for it within this save'),
  node_type: z.string().describe('start, end, task, flowchart, memory, plan, milestone or decision'),
  title: z.string().max(MAX_TITLE).nullable().optional(),
  ref_id: z.int().nullable().optional().describe('The plan, milestone, memory or flowchart that it works on'),
  x: z.number().optional(),
  y: z.number().optional(),
  config: z.record(z.string(), z.unknown()).optional().describe('flowchart_node_types lists the keys of each type'),
  mcp_server_ids: z.array(z.int()).optional(),
  attachment_ids: z.array(z.int()).optional(),
});

const end = z.union([z.int(), z.string()]).describe('Id or client_id of a node');

export const SentEdge = z.strictObject({
  id: z.int().optional().describe('Of a connector that is there'),
  client_id: z.string().max(MAX_CLIENT_ID).optional().describe('Your name for it within this save'),
  source_node_id: end.optional(),
  source: end.optional().describe('The same as source_node_id'),
  target_node_id: end.optional(),
  target: end.optional().describe('The same as target_node_id'),
  source_handle_id: z.string().max(MAX_HANDLE).nullable().optional(),
  target_handle_id: z.string().max(MAX_HANDLE).nullable().optional(),
  edge_mode: z
    .enum(['solid', 'dotted', 'dashed'])
    .describe('solid: triggers, context and attachments; dotted: context only; dashed: attachments only'),
  condition_key: z
    .string()
    .max(MAX_CONDITION_KEY)
    .nullable()
    .optional()
    .describe('Of a solid connector that leaves a decision; made when left out'),
  label: z.string().max(MAX_LABEL).nullable().optional(),
  control_points: z
    .array(z.strictObject({ x: z.number(), y: z.number() }))
    .max(MAX_CONTROL_POINTS)
    .optional(),
  control_point_style: z.enum(['hard', 'curved']).optional(),
});
