import * as z from 'zod';
import { isDeeperThan, MAX_FLOW_DEPTH, PatchOps } from '../flowise/index.ts';
import { isoNow } from '../kernel/clock.ts';
import { hideSecretsIn } from '../kernel/hide-secrets.ts';
import { hideSecretsInText } from '../kernel/secret-text.ts';
import { type AnyOperation, type Context, defineOperation } from '../operations/index.ts';
import { compileRequest } from './compile-request.ts';
import type { ChatflowNeeds } from './needs.ts';
import { ChatflowId, FlowDiffRecord, Issues, ServerName } from './record.ts';
import { compiledCard } from './render.ts';
import { SERVER_ERRORS } from './server-errors.ts';
import { shownIssues } from './sound.ts';
import { keepState, stateOf } from './states.ts';

export const MAX_FLOW_TEXT = 20 * 1_048_576;
/** A flow is text inside JSON, where every quote takes two characters. */
export const flowBodyLimit = (): number => 2 * MAX_FLOW_TEXT;

export const FlowDataText = z
  .string()
  .max(MAX_FLOW_TEXT)
  .describe('A whole flowData as JSON text, instead of operations');

/** Whatever recurses over operations may count on this depth. */
export const BoundedOps = PatchOps.refine(
  (ops) => !isDeeperThan(ops, MAX_FLOW_DEPTH),
  `must not be nested deeper than ${MAX_FLOW_DEPTH} levels`,
);

export const AllowIncomplete = z
  .boolean()
  .default(false)
  .describe('Let through what is merely not filled in yet, such as a credential or a required input');

export const Compiled = z
  .strictObject({
    ok: z.boolean().describe('It may be applied'),
    server: z.string(),
    chatflow_id: z.string().nullable().describe('Null for a new chatflow'),
    base_hash: z.string().nullable().describe('What it is based on: hand it to chatflow.apply'),
    payload_hash: z.string().describe('What it makes: hand it to chatflow.apply'),
    node_count: z.int(),
    edge_count: z.int(),
    diff: FlowDiffRecord,
    diff_summary: z.string(),
    errors: Issues,
    warnings: Issues,
    tools_to_create: z
      .array(z.strictObject({ name: z.string(), description: z.string(), schema: z.string(), func: z.string() }))
      .describe('Tools that are stored first, with their code'),
    missing_node_types: z.array(z.string()),
    anchor_metrics: z.strictObject({
      total_connections: z.int(),
      exact_name_matches: z.int(),
      fuzzy_fallbacks: z.int(),
      exact_match_rate: z.number(),
      fuzzy_details: z.array(
        z.strictObject({ node: z.string(), anchor: z.string(), resolved_to: z.string(), pass: z.string() }),
      ),
    }),
  })
  .meta({ id: 'PatchCompiled' });
export type Compiled = z.output<typeof Compiled>;

const compilePatch = defineOperation({
  name: 'patch.compile',
  summary: 'Try a change to a chatflow without writing it',
  description:
    'Compiles patch operations (or a whole flowData) on the chatflow as it is now, or on an empty one, checks the result and tells what would change. Nothing is written to Flowise. chatflow.apply writes exactly this, given its two hashes.',
  input: z.strictObject({
    server: ServerName,
    chatflow_id: ChatflowId.optional().describe('The chatflow to change; left out for a new one'),
    ops: BoundedOps.optional().describe('Patch operations, in order'),
    flow_data: FlowDataText.optional(),
    allow_incomplete: AllowIncomplete,
  }),
  output: Compiled,
  access: { can: 'read' },
  effect: 'read',
  reaches: 'elsewhere',
  http: { method: 'POST', path: '/api/v1/patches/compile', tag: 'Chatflows', bodyLimit: flowBodyLimit },
  mcp: { tool: 'patch_compile' },
  cli: {
    command: 'patch compile',
    byHand: true,
    render: (payload) => compiledCard(payload, false),
    renderInColour: (payload) => compiledCard(payload, true),
    isBadNews: ({ ok }) => !ok,
  },
  errors: [...SERVER_ERRORS, 'FLOWISE_NOT_FOUND', 'PATCH_INVALID', 'CREDENTIAL_AMBIGUOUS'],
  digest: (payload) =>
    payload.ok
      ? `Compiles to ${payload.node_count} nodes, ${payload.edge_count} edges. payload_hash=${payload.payload_hash} base_hash=${payload.base_hash ?? 'none'}\n${payload.diff_summary}`
      : `Does not compile: ${payload.errors.map(({ message }) => message).join('; ')}`,
  handle: async (context: Context<ChatflowNeeds>, input): Promise<Compiled> => {
    const { vault_id } = context.principal;
    const { client, current, compilation } = await compileRequest(context, vault_id, input);
    const base = current && stateOf(current.flowData);
    // Remembered, so that a change is recognised as based on it even after somebody moved nodes on the canvas.
    if (base) {
      const states = { vault_id, key: context.sealingKey() };
      await keepState(context.database.queries, states, base, isoNow(context.clock));
    }
    const { ok, payload_hash, flow_data, diff, diff_summary, errors, warnings } = compilation;
    return {
      ok,
      server: client.server,
      chatflow_id: current?.id ?? null,
      base_hash: base?.flow_hash ?? null,
      payload_hash,
      node_count: flow_data.nodes.length,
      edge_count: flow_data.edges.length,
      diff,
      diff_summary,
      errors: shownIssues(errors),
      warnings: shownIssues(warnings),
      tools_to_create: compilation.tools.map(({ tool: { name, description, schema, func } }) => ({
        name: hideSecretsInText(name),
        description: hideSecretsInText(description),
        schema: hideSecretsInText(schema),
        func: hideSecretsInText(func),
      })),
      missing_node_types: compilation.missing_node_types.map(hideSecretsInText),
      anchor_metrics: hideSecretsIn(compilation.anchor_metrics) as typeof compilation.anchor_metrics,
    };
  },
});

export const operations: readonly AnyOperation[] = [compilePatch];
