import * as z from 'zod';
import type { NodeSchema } from '../flowise/index.ts';
import { refusal } from '../kernel/errors.ts';
import { SERVER_NAME } from '../kernel/flowise-settings.ts';
import { inertLine } from '../kernel/terminal.ts';
import { type Context, defineOperation, digestList, pageInput, plainText, traceOf } from '../operations/index.ts';
import { type KnownNodes, nodesKnown } from './known-here.ts';
import { KnowledgeNodeResponse, KnowledgeNodesResponse, nodeItem, nodeRecord, nodeSlice } from './node-record.ts';
import { nodeCard, nodeTable } from './node-render.ts';
import type { Knowledge } from './port.ts';
import type { RefreshDeps } from './refresh.ts';

type Needs = RefreshDeps & { knowledge: Knowledge };

const tag = 'Knowledge';
const Server = z
  .string()
  .regex(SERVER_NAME, 'must be the name of a server')
  .optional()
  .describe('Flowise server; the one that is meant when left out');

const nodes = defineOperation({
  name: 'knowledge.nodes',
  summary: 'List the node types that can be used in chatflows',
  description:
    'Names, labels and categories of the node types that are known of a Flowise server; asks nobody. knowledge.node shows one of them whole.',
  input: z.strictObject({
    server: Server,
    search: plainText(100)
      .min(1)
      .optional()
      .describe('Only those with this word in name, label, category or description'),
    category: plainText(100).min(1).optional().describe('Only those of this category, such as "Chat Models"'),
    ...pageInput,
  }),
  output: KnowledgeNodesResponse,
  access: { can: 'read' },
  effect: 'read',
  http: { method: 'GET', path: '/api/v1/knowledge/nodes', tag },
  mcp: { tool: 'knowledge_nodes' },
  cli: {
    command: 'knowledge nodes',
    examples: ['flowright knowledge nodes --search memory', 'flowright knowledge nodes --category "Chat Models"'],
    render: nodeTable,
  },
  errors: ['FLOWISE_SERVER_UNKNOWN'],
  digest: ({ items, total_count }) =>
    digestList('node type', items, {
      name: ({ label, category }) => `${label}, ${category}`,
      id: ({ node_type }) => node_type,
      total: total_count,
    }),
  handle: async (context: Context<Needs>, { server, search, category, limit, offset }) => {
    const known = await nodesKnown(context, context.principal.vault_id, server);
    const found = known.all().filter((node) => isIn(node, category) && fits(node, search));
    const sorted = found.sort((one, other) => (one.node_type < other.node_type ? -1 : 1));
    const items = sorted.slice(offset, offset + limit).map(nodeItem);
    const page = { count: items.length, total_count: found.length, limit, offset };
    return { ok: true as const, server: known.server, ...page, items, ...traceOf(context) };
  },
});

function isIn(node: NodeSchema, category: string | undefined): boolean {
  return category === undefined || node.category.toLowerCase() === category.toLowerCase();
}

function fits({ node_type, label, category, description = '', tags }: NodeSchema, search: string | undefined): boolean {
  if (search === undefined) return true;
  const words = [node_type, label, category, description, ...(Array.isArray(tags) ? tags : [])].join('\n');
  return words.toLowerCase().includes(search.toLowerCase());
}

const node = defineOperation({
  name: 'knowledge.node',
  summary: 'Show a node type: its inputs, outputs and parameters',
  description:
    'What an operation may say about a node of this type: parameters with type, default, options and whether they are required; the names of its inputs and outputs for connect; the credential it takes. A type that is not known here is asked for once, and kept.',
  input: z.strictObject({
    node_type: plainText(128).min(1).describe('Name of the node type, such as chatOpenAI'),
    server: Server,
  }),
  output: KnowledgeNodeResponse,
  access: { can: 'read' },
  effect: 'read',
  reaches: 'elsewhere',
  http: { method: 'GET', path: '/api/v1/knowledge/nodes/{node_type}', tag },
  mcp: { tool: 'knowledge_node' },
  cli: {
    command: 'knowledge node <node_type>',
    examples: ['flowright knowledge node chatOpenAI', 'flowright knowledge node toolAgent --server staging --json'],
    render: nodeCard,
  },
  errors: ['FLOWISE_SERVER_UNKNOWN', 'NOT_FOUND'],
  digest: (payload) => nodeSlice(payload.node),
  handle: async (context: Context<Needs>, { node_type, server }) => {
    const known = await nodesKnown(context, context.principal.vault_id, server);
    const found = await known.find(node_type);
    if (!found) throw unknownNode(node_type, known);
    return { ok: true as const, server: known.server, node: nodeRecord(found), ...traceOf(context) };
  },
});

function unknownNode(nodeType: string, known: KnownNodes) {
  const suggestions = known.suggest(nodeType);
  const meant = suggestions.length > 0 ? ` Did you mean ${suggestions.map(inertLine).join(', ')}?` : '';
  const [warning] = known.warnings();
  const unasked = warning ? ` The server could not be asked (${warning.code}).` : '';
  return refusal(
    'NOT_FOUND',
    `There is no node type ${inertLine(nodeType)}.${meant}${unasked} \`flowright knowledge nodes --search WORD\` lists them.`,
    { suggestions },
  );
}

export const nodeOperations = [nodes, node];
