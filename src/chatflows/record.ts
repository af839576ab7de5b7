import * as z from 'zod';
import { CHATFLOW_TYPES, type Chatflow } from '../flowise/index.ts';
import { hideSecretsInText } from '../kernel/secret-text.ts';
import { plainText } from '../operations/index.ts';
import { typeOf } from './carried-fields.ts';
import { stateOf } from './states.ts';
import type { VersionRow } from './versions.ts';

export const ServerName = plainText(64).optional().describe('Name of the Flowise server; the usual one when left out');
export const ChatflowId = plainText(128).min(1).describe('Id of the chatflow on its server');
export const Hash = z
  .string()
  .regex(/^[0-9a-f]{64}$/, 'must be 64 hex digits')
  .describe('SHA-256 of a flowData text');
export const ChatflowTypeName = z.enum(CHATFLOW_TYPES);

const issue = z.strictObject({ code: z.string(), message: z.string(), path: z.string() });
export const Issues = z.array(issue);

export const ChatflowItem = z
  .strictObject({
    chatflow_id: z.string(),
    name: z.string(),
    type: z.string(),
    deployed: z.boolean(),
    is_public: z.boolean(),
    category: z.string().nullable(),
    updated_at: z.string().nullable().describe('When Flowise last stored it'),
    node_count: z.int(),
    edge_count: z.int(),
    flow_hash: z.string().describe('SHA-256 of its flowData: what a change is based on'),
    semantic_hash: z.string().describe('The same for two flows that differ only in where things are drawn'),
  })
  .meta({ id: 'Chatflow' });
export type ChatflowItem = z.output<typeof ChatflowItem>;

export function chatflowItem(chatflow: Chatflow): ChatflowItem {
  const { flow, flow_hash, semantic_hash } = stateOf(chatflow.flowData);
  return {
    chatflow_id: chatflow.id,
    name: hideSecretsInText(chatflow.name),
    type: typeOf(chatflow),
    deployed: chatflow.deployed === true,
    is_public: chatflow.isPublic === true,
    category: chatflow.category ? hideSecretsInText(chatflow.category) : null,
    updated_at: chatflow.updatedDate ?? null,
    node_count: flow.nodes.length,
    edge_count: flow.edges.length,
    flow_hash,
    semantic_hash,
  };
}

export const VersionRecord = z
  .strictObject({
    version: z.int(),
    origin: z
      .enum(['seen', 'write', 'edit', 'restore', 'promote', 'removed'])
      .describe('write, restore, promote: by us; edit: in Flowise; seen: first look; removed: gone from the server'),
    name: z.string(),
    type: z.string(),
    flow_hash: z.string().nullable(),
    node_count: z.int(),
    edge_count: z.int(),
    summary: z.string().describe('What changed against the version before'),
    label: z.string().nullable(),
    message: z.string(),
    author: z.string().describe('Who of this hub wrote it; empty for an edit in Flowise'),
    created_at: z.string(),
  })
  .meta({ id: 'ChatflowVersion' });
export type VersionRecord = z.output<typeof VersionRecord>;

export function versionRecord(row: VersionRow): VersionRecord {
  const {
    version,
    origin,
    name,
    type,
    flow_hash,
    node_count,
    edge_count,
    summary,
    label,
    message,
    author,
    created_at,
  } = row;
  return {
    version: Number(version),
    origin,
    name: hideSecretsInText(name),
    type,
    flow_hash,
    node_count: Number(node_count),
    edge_count: Number(edge_count),
    summary,
    label,
    message: hideSecretsInText(message),
    author,
    created_at,
  };
}

const mention = { node_id: z.string(), node_name: z.string(), label: z.string() };
const connection = z.strictObject({
  source: z.string(),
  source_anchor: z.string(),
  target: z.string(),
  target_anchor: z.string(),
});

export const FlowDiffRecord = z
  .strictObject({
    semantic_equal: z.boolean().describe('Nothing differs but where things are drawn'),
    identical: z.boolean(),
    nodes_added: z.array(
      z.strictObject({
        ...mention,
        params: z
          .array(z.strictObject({ name: z.string(), after: z.unknown() }))
          .optional()
          .describe('What is set and not the default'),
        credential: z.string().nullable().optional().describe('Id of the bound credential; null when none is'),
      }),
    ),
    nodes_removed: z.array(z.strictObject(mention)),
    nodes_changed: z.array(
      z.strictObject({
        ...mention,
        label_before: z.string().optional(),
        params: z.array(z.strictObject({ name: z.string(), before: z.unknown(), after: z.unknown() })),
        credential: z.strictObject({ before: z.string().nullable(), after: z.string().nullable() }).optional(),
        output: z
          .strictObject({ before: z.string().nullable(), after: z.string().nullable() })
          .optional()
          .describe('Of a node that offers a choice of outputs: the one that is used'),
        fields: z.array(z.string()),
      }),
    ),
    connections_added: z.array(connection),
    connections_removed: z.array(connection),
    nodes_moved: z.array(z.string()),
    viewport_changed: z.boolean(),
    fields_changed: z.array(z.string()),
  })
  .meta({ id: 'ChatflowDiff' });
export type FlowDiffRecord = z.output<typeof FlowDiffRecord>;
