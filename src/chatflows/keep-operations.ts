import * as z from 'zod';
import { type Trx, takeTurns } from '../database/index.ts';
import { type Chatflow, serverNamed } from '../flowise/index.ts';
import { isoNow } from '../kernel/clock.ts';
import { refusal } from '../kernel/errors.ts';
import { hideSecretsInText } from '../kernel/secret-text.ts';
import { type Context, defineOperation, plainText, traceOf, traceOutput } from '../operations/index.ts';
import type { ChatflowNeeds, ChatflowPlace } from './needs.ts';
import { assertMayWrite } from './plan-change.ts';
import { ChatflowId, ServerName, VersionRecord, versionRecord } from './record.ts';
import { syncedCard, versionCard } from './render.ts';
import { SERVER_ERRORS } from './server-errors.ts';
import { settleWrites } from './settle.ts';
import { recordSighting } from './sync.ts';
import { findVersion, labelled, type VersionRow } from './versions.ts';

const tag = 'Chatflows';

export const Synced = z
  .strictObject({
    ok: z.literal(true),
    server: z.string(),
    looked_at: z.int().describe('Chatflows on the server'),
    recorded: z.array(
      z.strictObject({
        chatflow_id: z.string(),
        name: z.string(),
        version: z.int(),
        origin: z.string(),
        summary: z.string(),
      }),
    ),
    writes: z
      .array(
        z.strictObject({
          write_id: z.string(),
          chatflow_id: z.string().nullable(),
          outcome: z.enum(['written', 'absent', 'superseded', 'open']),
        }),
      )
      .describe('Writes of ours whose outcome was not known'),
    ...traceOutput,
  })
  .meta({ id: 'ChatflowsSynced' });

const sync = defineOperation({
  name: 'chatflow.sync',
  summary: 'Record what changed on a Flowise server',
  description:
    'Every edit made in Flowise itself becomes a version, and every chatflow that is gone is noted. Also settles writes that were cut off, by looking whether they arrived.',
  input: z.strictObject({
    server: ServerName,
    chatflow_id: ChatflowId.optional().describe('Only this one; all when left out'),
  }),
  output: Synced,
  access: { can: 'write' },
  effect: 'write',
  reaches: 'elsewhere',
  http: { method: 'POST', path: '/api/v1/chatflows/sync', tag },
  mcp: { tool: 'chatflow_sync' },
  cli: {
    command: 'chatflow sync',
    examples: ['flowright chatflow sync', 'flowright chatflow sync --server production'],
    render: syncedCard,
  },
  errors: SERVER_ERRORS,
  audit: (_input, { server, recorded, writes }) => ({ server, recorded: recorded.length, writes: writes.length }),
  prepare: async (context: Context<ChatflowNeeds>, { server, chatflow_id }) => {
    const { vault_id } = context.principal;
    const client = await context.flowise.client(vault_id, server);
    const writes = await settleWrites(context, client, vault_id);
    const looked_at = isoNow(context.clock);
    const one = chatflow_id === undefined ? null : await client.getChatflow(chatflow_id);
    const chatflows: Chatflow[] = chatflow_id === undefined ? await client.listChatflows() : one ? [one] : [];
    return { server: client.server, writes, chatflows, only: chatflow_id, looked_at };
  },
  handle: async (context, { server, writes, chatflows, only, looked_at }) => {
    const { vault_id } = context.principal;
    const { trx, database } = context;
    await takeTurns(trx, database.dialect, `chatflow-sync:${vault_id}:${server}`);
    const sighting = { vault_id, server, chatflows, only, looked_at, now: isoNow(context.clock) };
    const rows = await recordSighting(trx, database.dialect, context.sealingKey(), sighting);
    return {
      ok: true as const,
      server,
      looked_at: chatflows.length,
      recorded: rows.map(({ chatflow_id, name, version, origin, summary, message }) => ({
        chatflow_id,
        name: hideSecretsInText(name),
        version: Number(version),
        origin,
        summary: message === '' ? summary : `${summary} (${message})`,
      })),
      writes,
      ...traceOf(context),
    };
  },
});

const label = defineOperation({
  name: 'chatflow.label',
  summary: 'Name a version of a chatflow',
  description: 'A labelled version is kept for ever and can be restored by its label. An empty label takes it away.',
  input: z.strictObject({
    server: ServerName,
    chatflow_id: ChatflowId,
    version: plainText(64).min(1).describe('Number of the version'),
    label: plainText(64)
      .regex(/^(?!\d+$)(?!live$)/, 'must not be a number or the word live')
      .describe('Its name, such as before-launch'),
  }),
  output: z
    .strictObject({ ok: z.literal(true), chatflow_id: z.string(), version: VersionRecord, ...traceOutput })
    .meta({ id: 'ChatflowLabelled' }),
  access: { can: 'write' },
  effect: 'write',
  http: { method: 'POST', path: '/api/v1/chatflows/{chatflow_id}/label', tag },
  mcp: { tool: 'chatflow_label' },
  cli: {
    command: 'chatflow label <chatflow_id>',
    examples: ['flowright chatflow label ID --version 3 --label before-launch'],
    render: ({ version }) => versionCard(version),
  },
  errors: ['FLOWISE_SERVER_UNKNOWN', 'SEALED_ELSEWHERE', 'approval_required', 'CONFLICT'],
  audit: ({ chatflow_id }, { version }) => ({ chatflow_id, version: version.version, label: version.label }),
  prepare: async (context: Context<ChatflowNeeds>, input) => {
    // A label decides what a later restore by that name brings back.
    assertMayWrite(context.principal, context.config.flowise_agent_writes);
    const { name } = await serverNamed(context.flowise, context.principal.vault_id, input.server);
    return { ...input, server: name };
  },
  handle: async (context, { server, chatflow_id, version, label: wanted }) => {
    const place = { vault_id: context.principal.vault_id, server, chatflow_id };
    const row = await findVersion(context.trx, place, version);
    const given = wanted === '' ? null : wanted;
    if (given !== null) await assertUnlabelled(context.trx, place, given, row);
    await context.trx
      .updateTable('chatflow_versions')
      .set({ label: given })
      .where('vault_id', '=', place.vault_id)
      .where('server', '=', server)
      .where('chatflow_id', '=', chatflow_id)
      .where('version', '=', row.version)
      .execute();
    return {
      ok: true as const,
      chatflow_id,
      version: versionRecord({ ...row, label: given }),
      ...traceOf(context),
    };
  },
});

async function assertUnlabelled(trx: Trx, place: ChatflowPlace, label: string, row: VersionRow): Promise<void> {
  const holder = await labelled(trx, place, label);
  if (!holder || holder.version === row.version) return;
  throw refusal(
    'CONFLICT',
    `Version ${holder.version} is labelled ${label}. Take that away first, with an empty label, or choose another name.`,
    { version: Number(holder.version) },
  );
}

export const keepOperations = [sync, label];
