import * as z from 'zod';
import { type ChatflowType, type FlowData, isAgentflow } from '../flowise/index.ts';
import { badRequest } from '../kernel/errors.ts';
import { type Context, defineOperation, plainText } from '../operations/index.ts';
import { bodyLines, wholeSummary } from './body-lines.ts';
import { earlierWrite, requestHash } from './earlier-write.ts';
import type { ChatflowNeeds } from './needs.ts';
import { AllowIncomplete, BoundedOps, FlowDataText, flowBodyLimit } from './patch-operations.ts';
import { assertMayWrite, planChange, writePlan } from './plan-change.ts';
import { planPromotion } from './promote.ts';
import { ChatflowId, ChatflowTypeName, Hash, ServerName } from './record.ts';
import { writtenCard } from './render.ts';
import { planRestore } from './restore.ts';
import { SERVER_ERRORS } from './server-errors.ts';
import { type DecidedWrite, intendWrite, type PlannedWrite, performWrite, WrittenRecord } from './written.ts';

const tag = 'Chatflows';
const Message = plainText(500).default('').describe('Why, for the history');
const IdempotencyKey = plainText(128)
  .min(1)
  .optional()
  .describe('A repeated request with the same key is the same write and is not made twice');
const DryRun = z.boolean().default(false).describe('Tell what would change and write nothing');
const FLOWISE_ERRORS = [
  ...SERVER_ERRORS,
  'approval_required',
  'chatflow_conflict',
  'CONFLICT',
  'FLOWISE_NOT_FOUND',
  'FLOWISE_WRITE_UNSETTLED',
];

const audit = (_input: unknown, { server, chatflow_id, write_id }: z.output<typeof WrittenRecord>) => ({
  server,
  chatflow_id,
  ...(write_id === '' ? { dry_run: true } : { write_id, stage: 'intended' }),
});

/** The same write may have been begun before: then it is finished, not repeated. */
async function decide(
  context: Context<ChatflowNeeds>,
  request: {
    operation: string;
    server: string | undefined;
    input: { idempotency_key?: string | undefined; dry_run?: boolean | undefined };
  },
  plan: () => Promise<PlannedWrite>,
): Promise<DecidedWrite> {
  if (request.input.dry_run) return { only_planned: await plan() };
  assertMayWrite(context.principal, context.config.flowise_agent_writes);
  const { vault_id } = context.principal;
  const client = await context.flowise.client(vault_id, request.server);
  const request_hash = requestHash(request.operation, { ...request.input });
  const idempotency_key = request.input.idempotency_key ?? null;
  const earlier = await earlierWrite(context, client, { vault_id, request_hash, idempotency_key });
  return earlier ? { earlier } : { request_hash, planned: await plan() };
}

/** A graph of agentflow nodes opens on another canvas than a chatflow. */
function kindOf(flow: FlowData): ChatflowType {
  return isAgentflow(flow) ? 'AGENTFLOW' : 'CHATFLOW';
}

function assertKind(flow: FlowData, type: ChatflowType | undefined): void {
  if (type === undefined || type === 'MULTIAGENT' || type === 'ASSISTANT' || type === kindOf(flow)) return;
  const message = `is ${type}, but the nodes are those of ${kindOf(flow)}; leave it out`;
  throw badRequest([{ code: 'wrong_kind', message, path: '/type' }]);
}

const apply = defineOperation({
  name: 'chatflow.apply',
  summary: 'Write a compiled change to Flowise',
  description:
    'Writes exactly what patch.compile showed: give the same ops (or flow_data) with its base_hash and payload_hash. Refused with both hashes when the chatflow was changed since; nodes that were only moved are no conflict. What was there before is kept and can be restored.',
  input: z.strictObject({
    server: ServerName,
    chatflow_id: ChatflowId.optional().describe('The chatflow to change; left out to make a new one'),
    name: plainText(200).min(1).optional().describe('Name of a new chatflow, or a new name'),
    type: ChatflowTypeName.optional().describe('Kind of a new chatflow; told by its nodes when left out'),
    ops: BoundedOps.optional().describe('Patch operations, as they were compiled'),
    flow_data: FlowDataText.optional(),
    allow_incomplete: AllowIncomplete,
    base_hash: Hash.optional().describe('base_hash of the compile; needed for a chatflow that exists'),
    payload_hash: Hash.describe('payload_hash of the compile'),
    message: Message,
    idempotency_key: IdempotencyKey,
  }),
  output: WrittenRecord,
  access: { can: 'write' },
  effect: 'write',
  reaches: 'elsewhere',
  http: { method: 'POST', path: '/api/v1/chatflows/apply', tag, bodyLimit: flowBodyLimit },
  mcp: { tool: 'chatflow_apply' },
  cli: { command: 'chatflow apply', byHand: true, render: writtenCard },
  errors: [...FLOWISE_ERRORS, 'payload_mismatch', 'PATCH_INVALID', 'CREDENTIAL_AMBIGUOUS'],
  audit,
  prepare: async (context: Context<ChatflowNeeds>, input) => {
    const { name, type, message, idempotency_key = null, ...change } = input;
    if (change.chatflow_id === undefined && name === undefined) {
      throw badRequest([{ code: 'required', message: 'a new chatflow needs a name', path: '/name' }]);
    }
    return decide(context, { operation: 'chatflow.apply', server: input.server, input }, async () => {
      const planned = await planChange(context, context.principal.vault_id, change);
      const { compilation, rebased, request, client } = planned;
      if (request.current === null) assertKind(compilation.flow_data, type);
      const body = request.current
        ? { ...(name === undefined ? {} : { name }) }
        : { name: name ?? '', type: type ?? kindOf(compilation.flow_data) };
      return {
        client,
        plan: writePlan(planned, { body, message, idempotency_key }),
        name: name ?? request.current?.name ?? '',
        approved_hash: input.payload_hash,
        rebased,
        diff_summary: wholeSummary(bodyLines(request.current, body), compilation.diff_summary),
        warnings: compilation.warnings,
        notes: rebased ? ['Nodes had been moved on the canvas; they stay where they are now.'] : [],
      };
    });
  },
  handle: intendWrite,
  finish: performWrite,
});

const restore = defineOperation({
  name: 'chatflow.restore',
  summary: 'Put a chatflow back to an earlier version',
  description:
    'Writes the flow, name and flags of a version back to Flowise; what is there now becomes a version first. A chatflow that was removed comes back with a new id.',
  input: z.strictObject({
    server: ServerName,
    chatflow_id: ChatflowId,
    version: plainText(64).min(1).describe('Number or label of the version'),
    base_hash: Hash.optional().describe('Refuse when the server holds something else than this'),
    dry_run: DryRun,
    message: Message,
    idempotency_key: IdempotencyKey,
  }),
  output: WrittenRecord,
  access: { can: 'write' },
  effect: 'write',
  reaches: 'elsewhere',
  http: { method: 'POST', path: '/api/v1/chatflows/{chatflow_id}/restore', tag },
  mcp: { tool: 'chatflow_restore' },
  cli: {
    command: 'chatflow restore <chatflow_id>',
    askFirst: true,
    examples: [
      'flowright chatflow restore ID --version 3 --dry-run',
      'flowright chatflow restore ID --version before-launch',
    ],
    render: writtenCard,
  },
  errors: FLOWISE_ERRORS,
  audit,
  prepare: (context: Context<ChatflowNeeds>, input) =>
    decide(context, { operation: 'chatflow.restore', server: input.server, input }, () =>
      planRestore(context, context.principal.vault_id, input),
    ),
  handle: intendWrite,
  finish: performWrite,
});

const promote = defineOperation({
  name: 'chatflow.promote',
  summary: 'Bring a chatflow from one Flowise server to another',
  description:
    'Copies the chatflow as it is now to another server of this vault. Credentials are matched by type and name, or by the map you give; tools are matched by name, or stored there. Where several fit, it asks.',
  input: z.strictObject({
    server: ServerName.describe('Where it comes from; the usual server when left out'),
    chatflow_id: ChatflowId,
    to_server: plainText(64).min(1).describe('Where it goes'),
    target_id: ChatflowId.optional().describe('The chatflow there to replace; left out to make a new one'),
    name: plainText(200).min(1).optional().describe('Its name there; the same when left out'),
    credentials: z
      .record(z.string().max(200), z.string().max(200))
      .default({})
      .describe('Credential here (id or name) → credential there (id or name)'),
    base_hash: Hash.optional().describe('Of target_id: refuse when it holds something else than this'),
    dry_run: DryRun,
    message: Message,
    idempotency_key: IdempotencyKey,
  }),
  output: WrittenRecord,
  access: { can: 'write' },
  effect: 'write',
  reaches: 'elsewhere',
  http: { method: 'POST', path: '/api/v1/chatflows/{chatflow_id}/promote', tag },
  mcp: { tool: 'chatflow_promote' },
  cli: {
    command: 'chatflow promote <chatflow_id>',
    askFirst: true,
    examples: [
      'flowright chatflow promote ID --server staging --to-server production --dry-run',
      `flowright chatflow promote ID --to-server production --credentials '{"staging key": "production key"}'`,
    ],
    render: writtenCard,
  },
  errors: [...FLOWISE_ERRORS, 'PATCH_INVALID', 'CREDENTIAL_AMBIGUOUS'],
  audit,
  prepare: (context: Context<ChatflowNeeds>, input) =>
    decide(context, { operation: 'chatflow.promote', server: input.to_server, input }, () =>
      planPromotion(context, context.principal.vault_id, input),
    ),
  handle: intendWrite,
  finish: performWrite,
});

export const writeOperations = [apply, restore, promote];
