import * as z from 'zod';
import { type Chatflow, hideSecrets, parseFlow, summariseFlow, validateFlow } from '../flowise/index.ts';
import { refusal } from '../kernel/errors.ts';
import { type Context, defineOperation, pageInput, pageOutput } from '../operations/index.ts';
import { canvasUrl, chatflowOn } from './chatflow-on.ts';
import { exportedFlow } from './export.ts';
import type { ChatflowNeeds } from './needs.ts';
import { FlowDataText, flowBodyLimit } from './patch-operations.ts';
import { ChatflowId, ChatflowItem, ChatflowTypeName, chatflowItem, Issues, ServerName } from './record.ts';
import { chatflowCard, chatflowTable, exportCard, judgementCard } from './render.ts';
import { SERVER_ERRORS } from './server-errors.ts';
import { shownIssues } from './sound.ts';
import { stateOf } from './states.ts';

const tag = 'Chatflows';
const FLOWISE_ERRORS = [...SERVER_ERRORS, 'FLOWISE_NOT_FOUND'];
const MAX_LISTED = 10;

const list = defineOperation({
  name: 'chatflow.list',
  summary: 'List the chatflows of a Flowise server',
  input: z.strictObject({
    server: ServerName,
    type: ChatflowTypeName.optional().describe('Only of this kind'),
    ...pageInput,
  }),
  output: z
    .strictObject({ server: z.string(), ...pageOutput, items: z.array(ChatflowItem) })
    .meta({ id: 'ChatflowList' }),
  access: { can: 'read' },
  effect: 'read',
  reaches: 'elsewhere',
  http: { method: 'GET', path: '/api/v1/chatflows', tag },
  mcp: { tool: 'chatflow_list' },
  cli: { command: 'chatflow list', examples: ['flowright chatflow list --type CHATFLOW'], render: chatflowTable },
  errors: FLOWISE_ERRORS,
  digest: ({ items, total_count }) =>
    [
      `${total_count} chatflow(s).`,
      ...items.slice(0, MAX_LISTED).map(({ name, chatflow_id }) => `${name} (${chatflow_id})`),
    ].join('\n'),
  handle: async ({ flowise, principal }: Context<ChatflowNeeds>, { server, type, limit, offset }) => {
    const client = await flowise.client(principal.vault_id, server);
    const all = await client.listChatflows(type ? { type } : {});
    const items = all.slice(offset, offset + limit).map(chatflowItem);
    return { server: client.server, count: items.length, total_count: all.length, limit, offset, items };
  },
});

const nodeSummary = z.strictObject({
  node_id: z.string(),
  node_name: z.string(),
  label: z.string(),
  category: z.string(),
  credential_bound: z.boolean().nullable().describe('Null for a node that takes none'),
  params: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])),
});

const get = defineOperation({
  name: 'chatflow.get',
  summary: 'Show a chatflow: nodes, parameters, connections',
  description:
    'Tells what the chatflow is now on its server. Secrets that were typed into nodes are shown as [secret].',
  input: z.strictObject({
    server: ServerName,
    chatflow_id: ChatflowId,
    include_flow: z.boolean().default(false).describe('Also the whole flowData, secrets hidden'),
  }),
  output: z
    .strictObject({
      server: z.string(),
      ...ChatflowItem.shape,
      canvas_url: z.string(),
      nodes: z.array(nodeSummary),
      connections: z.array(z.string()),
      flow: z.record(z.string(), z.unknown()).optional(),
    })
    .meta({ id: 'ChatflowDetail' }),
  access: { can: 'read' },
  effect: 'read',
  reaches: 'elsewhere',
  http: {
    method: 'GET',
    path: '/api/v1/chatflows/{chatflow_id}',
    tag,
    etag: (payload: { flow_hash: string }) => payload.flow_hash,
  },
  mcp: { tool: 'chatflow_get' },
  cli: { command: 'chatflow get <chatflow_id>', examples: ['flowright chatflow get ID'], render: chatflowCard },
  errors: FLOWISE_ERRORS,
  digest: ({ name, chatflow_id, nodes, connections }) =>
    [
      `Chatflow '${name}' (id=${chatflow_id}).`,
      ...nodes.map((node) => `${node.node_id}: ${node.label}`),
      ...connections,
    ].join('\n'),
  handle: async ({ flowise, principal }: Context<ChatflowNeeds>, { server, chatflow_id, include_flow }) => {
    const client = await flowise.client(principal.vault_id, server);
    const chatflow = await chatflowOn(client, chatflow_id);
    const { flow } = stateOf(chatflow.flowData);
    const { nodes, connections } = summariseFlow(flow);
    return {
      server: client.server,
      ...chatflowItem(chatflow),
      canvas_url: canvasUrl(client, chatflow),
      nodes,
      connections,
      ...(include_flow ? { flow: hideSecrets(flow) as Record<string, unknown> } : {}),
    };
  },
});

const validate = defineOperation({
  name: 'chatflow.validate',
  summary: 'Say whether a chatflow can work',
  description:
    'Checks handles, connections, required inputs, credentials and the ending node, which Flowise itself accepts unchecked. Judges the chatflow on its server, or a flowData of yours.',
  input: z.strictObject({
    server: ServerName,
    chatflow_id: ChatflowId.optional().describe('The chatflow to judge'),
    flow_data: FlowDataText.optional(),
  }),
  output: z
    .strictObject({
      valid: z.boolean(),
      node_count: z.int(),
      edge_count: z.int(),
      errors: Issues,
      warnings: Issues,
    })
    .meta({ id: 'ChatflowJudgement' }),
  access: { can: 'read' },
  effect: 'read',
  reaches: 'elsewhere',
  http: { method: 'POST', path: '/api/v1/chatflows/validate', tag, bodyLimit: flowBodyLimit },
  mcp: { tool: 'chatflow_validate' },
  cli: {
    command: 'chatflow validate',
    byHand: true,
    render: judgementCard,
    isBadNews: ({ valid }) => !valid,
  },
  errors: FLOWISE_ERRORS,
  handle: async (context: Context<ChatflowNeeds>, { server, chatflow_id, flow_data }) => {
    const { flowise, knowledge, principal } = context;
    const client = await flowise.client(principal.vault_id, server);
    const text = flow_data ?? (chatflow_id && (await chatflowOn(client, chatflow_id)).flowData);
    if (text === undefined || text === '') {
      throw refusal('BAD_REQUEST', 'Name a chatflow_id, or give a flow_data.', {
        errors: [{ code: 'one_of', message: 'needs either chatflow_id or flow_data', path: '/chatflow_id' }],
      });
    }
    const { nodes } = await knowledge.session(principal.vault_id, client.server);
    const tools = text.includes('"customTool"') ? { tools: (await client.listTools()).map(({ id }) => id) } : {};
    return judge(text, { schemas: nodes, ...tools });
  },
});

function judge(text: string, options: Parameters<typeof validateFlow>[1]) {
  const parsed = parseFlow(text);
  if (!parsed.flow) {
    const errors = parsed.issues.map((issue) => ({
      ...issue,
      message: `The flow cannot be read: it ${issue.message}.`,
    }));
    return { valid: false, node_count: 0, edge_count: 0, errors, warnings: [] };
  }
  const { valid, errors, warnings, node_count, edge_count } = validateFlow(parsed.flow, options);
  return { valid, node_count, edge_count, errors: shownIssues(errors), warnings: shownIssues(warnings) };
}

const exportFlows = defineOperation({
  name: 'chatflow.export',
  summary: 'Write chatflows as files for git',
  description:
    'One readable JSON file a chatflow, keys in order, secrets shown as [secret], so that a diff of two exports is a diff of the flows.',
  input: z.strictObject({
    server: ServerName,
    chatflow_id: ChatflowId.optional().describe('Only this one; all when left out'),
    ...pageInput,
  }),
  output: z
    .strictObject({
      server: z.string(),
      ...pageOutput,
      files: z.array(z.strictObject({ file_name: z.string(), chatflow_id: z.string(), content: z.string() })),
    })
    .meta({ id: 'ChatflowExport' }),
  access: { can: 'read' },
  effect: 'read',
  reaches: 'elsewhere',
  http: { method: 'GET', path: '/api/v1/chatflows/export', tag },
  mcp: { tool: 'chatflow_export' },
  cli: { command: 'chatflow export', byHand: true, render: exportCard },
  errors: FLOWISE_ERRORS,
  handle: async ({ flowise, principal }: Context<ChatflowNeeds>, { server, chatflow_id, limit, offset }) => {
    const client = await flowise.client(principal.vault_id, server);
    const all: Chatflow[] =
      chatflow_id === undefined ? await client.listChatflows() : [await chatflowOn(client, chatflow_id)];
    const files = all.slice(offset, offset + limit).map(exportedFlow);
    return { server: client.server, count: files.length, total_count: all.length, limit, offset, files };
  },
});

export const readOperations = [list, get, validate, exportFlows];
