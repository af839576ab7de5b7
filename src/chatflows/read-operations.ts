import * as z from 'zod';
import {
  type Chatflow,
  diffFlows,
  diffLines,
  hideSecrets,
  parseFlow,
  summariseFlow,
  validateFlow,
} from '../flowise/index.ts';
import { refusal } from '../kernel/errors.ts';
import { type Context, defineOperation, pageInput, pageOutput, plainText } from '../operations/index.ts';
import { canvasUrl, chatflowOn } from './chatflow-on.ts';
import { exportedFlow } from './export.ts';
import type { ChatflowNeeds } from './needs.ts';
import { FlowDataText } from './patch-operations.ts';
import {
  ChatflowId,
  ChatflowItem,
  ChatflowTypeName,
  chatflowItem,
  FlowDiffRecord,
  Issues,
  ServerName,
  VersionRecord,
  versionRecord,
} from './record.ts';
import { chatflowCard, chatflowTable, diffCard, exportCard, historyTable, judgementCard } from './render.ts';
import { SERVER_ERRORS } from './server-errors.ts';
import { shownIssues } from './sound.ts';
import { type FlowState, readState, stateOf } from './states.ts';
import { findVersion, listVersions } from './versions.ts';

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
  http: { method: 'POST', path: '/api/v1/chatflows/validate', tag },
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

const Side = plainText(64).min(1);

const diff = defineOperation({
  name: 'chatflow.diff',
  summary: 'Show how a chatflow changed',
  description: 'Compares two versions, or a version with what the server holds now: nodes, parameters, connections.',
  input: z.strictObject({
    server: ServerName,
    chatflow_id: ChatflowId,
    from: Side.optional().describe('Number or label of a version, or live; the newest version when left out'),
    to: Side.default('live').describe('The same; live when left out'),
  }),
  output: z
    .strictObject({
      server: z.string(),
      chatflow_id: z.string(),
      from: z.string(),
      to: z.string(),
      diff: FlowDiffRecord,
      diff_summary: z.string(),
    })
    .meta({ id: 'ChatflowDifference' }),
  access: { can: 'read' },
  effect: 'read',
  http: { method: 'GET', path: '/api/v1/chatflows/{chatflow_id}/diff', tag },
  mcp: { tool: 'chatflow_diff' },
  cli: {
    command: 'chatflow diff <chatflow_id>',
    examples: ['flowright chatflow diff ID', 'flowright chatflow diff ID --from 1 --to 3'],
    render: (payload) => diffCard(payload, false),
    renderInColour: (payload) => diffCard(payload, true),
  },
  errors: FLOWISE_ERRORS,
  digest: ({ diff_summary }) => diff_summary,
  handle: async (context: Context<ChatflowNeeds>, { server, chatflow_id, from, to }) => {
    const client = await context.flowise.client(context.principal.vault_id, server);
    const place = { vault_id: context.principal.vault_id, server: client.server, chatflow_id };
    const side = async (wanted: string): Promise<{ name: string; state: FlowState }> => {
      if (wanted === 'live') return { name: 'live', state: stateOf((await chatflowOn(client, chatflow_id)).flowData) };
      const row = await findVersion(context.database.queries, place, wanted);
      const states = { vault_id: place.vault_id, key: context.sealingKey() };
      const state = row.flow_hash === null ? null : await readState(context.database.queries, states, row.flow_hash);
      return { name: String(row.version), state: state ?? stateOf('{"nodes":[],"edges":[]}') };
    };
    const newest = await newestNumber(context, place);
    const [before, after] = [await side(from ?? newest), await side(to)];
    const difference = diffFlows(before.state.flow, after.state.flow);
    return {
      server: client.server,
      chatflow_id,
      from: before.name,
      to: after.name,
      diff: difference,
      diff_summary: diffLines(difference).join('\n'),
    };
  },
});

async function newestNumber(
  { database }: Context<ChatflowNeeds>,
  place: { vault_id: string; server: string; chatflow_id: string },
): Promise<string> {
  const { rows } = await listVersions(database.queries, place, { limit: 1, offset: 0 });
  const [newest] = rows;
  if (newest) return String(newest.version);
  throw refusal(
    'NOT_FOUND',
    `Chatflow ${place.chatflow_id} has no versions here yet. \`flowright chatflow sync\` records the first.`,
  );
}

const history = defineOperation({
  name: 'chatflow.history',
  summary: 'List the versions of a chatflow',
  description: 'Newest first: our writes, what was there before them, and edits found on the server by chatflow.sync.',
  input: z.strictObject({ server: ServerName, chatflow_id: ChatflowId, ...pageInput }),
  output: z
    .strictObject({ server: z.string(), chatflow_id: z.string(), ...pageOutput, items: z.array(VersionRecord) })
    .meta({ id: 'ChatflowHistory' }),
  access: { can: 'read' },
  effect: 'read',
  http: { method: 'GET', path: '/api/v1/chatflows/{chatflow_id}/history', tag },
  mcp: { tool: 'chatflow_history' },
  cli: { command: 'chatflow history <chatflow_id>', examples: ['flowright chatflow history ID'], render: historyTable },
  errors: ['FLOWISE_SERVER_UNKNOWN', 'SEALED_ELSEWHERE'],
  handle: async ({ flowise, database, principal }: Context<ChatflowNeeds>, { server, chatflow_id, limit, offset }) => {
    const { vault_id } = principal;
    const client = await flowise.client(vault_id, server);
    const place = { vault_id, server: client.server, chatflow_id };
    const { rows, total } = await listVersions(database.queries, place, { limit, offset });
    const items = rows.map(versionRecord);
    return { server: client.server, chatflow_id, count: items.length, total_count: total, limit, offset, items };
  },
});

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

export const readOperations = [list, get, validate, diff, history, exportFlows];
