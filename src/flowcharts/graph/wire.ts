import * as z from 'zod';
import { freeText, plainText } from '../../operations/index.ts';
import { DEFAULT_PARALLEL_NODES, MAX_DESCRIPTION, MAX_NAME } from './limits.ts';

const MAX_LIMIT = 1_000_000;

export const FlowchartId = z.int().min(1).describe('Id of the flowchart');
export const GraphVersion = z.int().min(1).describe('A version of the graph');

const limit = (what: string) => z.int().min(1).max(MAX_LIMIT).nullable().describe(what);

/** What people decide about a flowchart, beside its graph. */
export const flowchartFields = {
  name: plainText(MAX_NAME).regex(/\S/, 'must not be blank').describe('Name for people'),
  description: freeText(MAX_DESCRIPTION).nullable().describe('What it is for'),
  max_node_executions: limit('Nodes that one run may execute; no limit of its own when null'),
  max_runtime_minutes: limit('Minutes that one run may work; no limit when null'),
  max_parallel_nodes: z.int().min(1).max(1_000).describe('Nodes of one run that work at the same time'),
};

export const FlowchartSettings = z.strictObject({
  name: flowchartFields.name,
  description: flowchartFields.description.optional(),
  max_node_executions: flowchartFields.max_node_executions.optional(),
  max_runtime_minutes: flowchartFields.max_runtime_minutes.optional(),
  max_parallel_nodes: flowchartFields.max_parallel_nodes.default(DEFAULT_PARALLEL_NODES),
});
export type FlowchartSettings = z.output<typeof FlowchartSettings>;

export const Flowchart = z
  .strictObject({
    id: z.int(),
    name: z.string(),
    description: z.string().nullable(),
    max_node_executions: z.int().nullable(),
    max_runtime_minutes: z.int().nullable(),
    max_parallel_nodes: z.int(),
    graph_version: z.int().describe('Newest version of its graph'),
    created_at: z.string(),
    updated_at: z.string(),
  })
  .meta({ id: 'Flowchart' });
export type Flowchart = z.output<typeof Flowchart>;

export const FlowchartSummary = Flowchart.extend({
  node_count: z.int(),
  edge_count: z.int(),
  run_count: z.int(),
}).meta({ id: 'FlowchartSummary' });
export type FlowchartSummary = z.output<typeof FlowchartSummary>;

const Point = z.strictObject({ x: z.number(), y: z.number() });
const stamp = z.string().nullable().describe('Null where only an older version has it');

export const WireNode = z
  .strictObject({
    id: z.int(),
    flowchart_id: z.int(),
    node_type: z.string(),
    title: z.string().nullable(),
    ref_id: z.int().nullable().describe('The plan, milestone, memory or flowchart that it works on'),
    x: z.number(),
    y: z.number(),
    config: z.record(z.string(), z.unknown()),
    mcp_server_ids: z.array(z.int()),
    attachment_ids: z.array(z.int()),
    compatibility: z
      .strictObject({
        ref: z.enum(['none', 'required', 'auto', 'optional']),
        mcp: z.boolean(),
        attachments: z.boolean(),
        model: z.boolean(),
        scripts: z.boolean(),
        skills: z.boolean(),
      })
      .describe('What may be bound to a node of this type'),
    created_at: stamp,
    updated_at: stamp,
  })
  .meta({ id: 'FlowchartNode' });
export type WireNode = z.output<typeof WireNode>;

export const WireEdge = z
  .strictObject({
    id: z.int(),
    flowchart_id: z.int(),
    source_node_id: z.int(),
    target_node_id: z.int(),
    source_handle_id: z.string().nullable(),
    target_handle_id: z.string().nullable(),
    edge_mode: z.string().describe('solid: triggers, context, attachments; dotted: context; dashed: attachments'),
    condition_key: z.string().nullable(),
    label: z.string().nullable(),
    control_points: z.array(Point),
    control_point_style: z.enum(['hard', 'curved']),
    created_at: stamp,
    updated_at: stamp,
  })
  .meta({ id: 'FlowchartEdge' });
export type WireEdge = z.output<typeof WireEdge>;

const GraphIssueSchema = z
  .strictObject({
    code: z.string(),
    message: z.string(),
    path: z.string().describe('JSON pointer into the graph'),
    node_id: z.int().optional(),
    edge_id: z.int().optional(),
  })
  .meta({ id: 'FlowchartGraphIssue' });

const verdict = {
  valid: z.boolean().describe('Can a run walk it?'),
  errors: z.array(GraphIssueSchema),
  warnings: z.array(GraphIssueSchema),
};
export const ValidationSchema = z.strictObject(verdict).meta({ id: 'FlowchartValidation' });

export const ValidateResponse = z
  .strictObject({
    flowchart_id: z.int(),
    version: z.int().nullable().describe('The version that was judged; null for a draft'),
    ...verdict,
  })
  .meta({ id: 'FlowchartValidateResponse' });
export type ValidateResponse = z.output<typeof ValidateResponse>;

export const GraphResponse = z
  .strictObject({
    flowchart_id: z.int(),
    version: z.int(),
    nodes: z.array(WireNode),
    edges: z.array(WireEdge),
    validation: ValidationSchema,
  })
  .meta({ id: 'FlowchartGraphResponse' });
export type GraphResponse = z.output<typeof GraphResponse>;

const ids = z.record(z.string(), z.int());
export const SaveResponse = GraphResponse.extend({
  id_map: z
    .strictObject({ nodes: ids, edges: ids })
    .describe('From the client ids that were sent to the ids of nodes and edges'),
}).meta({ id: 'FlowchartSaveResponse' });
export type SaveResponse = z.output<typeof SaveResponse>;

export const RunSummary = z
  .strictObject({
    id: z.int(),
    status: z.string(),
    graph_version: z.int(),
    error_code: z.string().nullable(),
    created_at: z.string(),
    started_at: z.string().nullable(),
    finished_at: z.string().nullable(),
  })
  .meta({ id: 'FlowchartRunBrief' });

export const GetResponse = z
  .strictObject({
    flowchart: Flowchart,
    graph: z.strictObject({ version: z.int(), nodes: z.array(WireNode), edges: z.array(WireEdge) }),
    validation: ValidationSchema,
    runs: z.array(RunSummary).describe('The latest ones, newest first'),
  })
  .meta({ id: 'FlowchartGetResponse' });
export type GetResponse = z.output<typeof GetResponse>;
