import * as z from 'zod';
import { freeText, plainText } from '../../operations/index.ts';
import { FlowchartSettings } from './wire.ts';

/** A flowchart as one file: what `flowchart export` writes and `flowchart import` takes, in any vault of any hub. */
export const FLOWCHART_FILE_SCHEMA = 'flowright.flowchart/v1';

const MAX_STAGES = 200;
const MAX_TASKS = 2_000;
const MAX_TEXT = 65_536;

const row = {
  name: plainText(255).regex(/\S/, 'must not be blank'),
  description: freeText(20_000).nullable().default(null),
  completed: z.boolean().default(false),
};

export const PlanContent = z.strictObject({
  ...row,
  stages: z
    .array(z.strictObject({ ...row, tasks: z.array(z.strictObject(row)).max(MAX_TASKS).default([]) }))
    .max(MAX_STAGES)
    .default([]),
});
export type PlanContent = z.output<typeof PlanContent>;

export const MemoryContent = z.strictObject({
  title: plainText(255).nullable().default(null),
  description: freeText(MAX_TEXT)
    .refine((text) => Buffer.byteLength(text) <= MAX_TEXT, `must have at most ${MAX_TEXT} bytes`)
    .default(''),
});
export type MemoryContent = z.output<typeof MemoryContent>;

/** Milestones are read by the milestones' own rules. */
export const MilestoneContent = z.record(z.string(), z.unknown());

export const FileRefs = z.strictObject({
  plans: z.record(z.string(), PlanContent).default({}).describe('By the names that nodes refer to them by'),
  milestones: z.record(z.string(), MilestoneContent).default({}),
  memories: z.record(z.string(), MemoryContent).default({}),
  flowcharts: z
    .record(z.string(), z.strictObject({ name: z.string() }))
    .default({})
    .describe('Flowcharts that it runs; found by name where it is imported'),
});
export type FileRefs = z.output<typeof FileRefs>;

const FileAttachment = z.strictObject({ file_name: z.string(), sha256: z.string() });
export type FileAttachment = z.output<typeof FileAttachment>;

export const FileNode = z.strictObject({
  client_id: z.string().describe('Its name within the file'),
  node_type: z.string(),
  title: z.string().nullable(),
  x: z.number(),
  y: z.number(),
  config: z.record(z.string(), z.unknown()),
  ref: z.string().optional().describe('Name of what it works on, in refs'),
  mcp_server_ids: z.array(z.int()).optional(),
  attachments: z.array(FileAttachment).optional().describe('Bound where a file with this content is there'),
});
export type FileNode = z.output<typeof FileNode>;

export const FileEdge = z.strictObject({
  client_id: z.string().optional(),
  source: z.string().describe('client_id of a node'),
  target: z.string().describe('client_id of a node'),
  edge_mode: z.string(),
  condition_key: z.string().optional(),
  label: z.string().optional(),
  source_handle_id: z.string().optional(),
  target_handle_id: z.string().optional(),
  control_points: z.array(z.strictObject({ x: z.number(), y: z.number() })).optional(),
  control_point_style: z.string().optional(),
});
export type FileEdge = z.output<typeof FileEdge>;

export const FlowchartFile = z
  .strictObject({
    schema: z.literal(FLOWCHART_FILE_SCHEMA),
    flowchart: FlowchartSettings,
    nodes: z.array(FileNode),
    edges: z.array(FileEdge),
    refs: FileRefs,
  })
  .meta({ id: 'FlowchartFile' });
export type FlowchartFile = z.output<typeof FlowchartFile>;

/** The part of `refs` that each type of node looks into. */
export const REF_LISTS: Readonly<Record<string, keyof FileRefs>> = {
  plan: 'plans',
  milestone: 'milestones',
  memory: 'memories',
  flowchart: 'flowcharts',
};
