import * as z from 'zod';
import type { Chatflow, FlowiseClient } from '../flowise/index.ts';
import { isoNow } from '../kernel/clock.ts';
import { newId } from '../kernel/ids.ts';
import { type Context, traceOf, traceOutput } from '../operations/index.ts';
import { canvasUrl } from './chatflow-on.ts';
import { recordIntent, type WritePlan, type WriteRow } from './intents.ts';
import type { ChatflowNeeds } from './needs.ts';
import { Issues } from './record.ts';
import { recordVersion, UNKNOWN_AUTHOR } from './versions.ts';
import { sendWrite } from './write.ts';

export const WrittenRecord = z
  .strictObject({
    ok: z.literal(true),
    server: z.string(),
    chatflow_id: z.string(),
    name: z.string(),
    created: z.boolean().describe('A new chatflow was made'),
    version: z.int().describe('Its version in the history'),
    flow_hash: z.string().describe('What the server holds now: base of the next change'),
    payload_hash: z.string(),
    rebased: z.boolean().describe('Nodes had been moved on the canvas since; the change was made on that'),
    write_id: z.string(),
    summary: z.string().describe('What changed'),
    diff_summary: z.string(),
    warnings: Issues,
    tools_created: z.array(z.string()),
    notes: z.array(z.string()).describe('What else there is to know'),
    canvas_url: z.string().describe('Where to look at it'),
    ...traceOutput,
  })
  .meta({ id: 'ChatflowWritten' });
export type WrittenRecord = z.output<typeof WrittenRecord>;

/** A write that is decided, or one that was made before and has arrived. */
export interface DecidedWrite {
  client: FlowiseClient;
  plan: WritePlan;
  /** What the server holds; null for a new chatflow. Kept as a version before it is replaced. */
  before: Chatflow | null;
  earlier: WriteRow | null;
  name: string;
  approved_hash: string;
  rebased: boolean;
  diff_summary: string;
  warnings: z.output<typeof Issues>;
  notes: string[];
}

/** In the transaction of the operation: what was there before, and what we are about to do. Nothing is sent yet. */
export async function intendWrite(context: Context<ChatflowNeeds>, decided: DecidedWrite): Promise<WrittenRecord> {
  const { plan, client, earlier, notes } = decided;
  const writeId = earlier?.write_id ?? newId('write');
  if (!earlier) await keepIntended(context, writeId, decided);
  return {
    ok: true,
    server: client.server,
    chatflow_id: earlier?.chatflow_id ?? plan.chatflow_id ?? '',
    name: decided.name,
    created: plan.chatflow_id === null,
    version: 0,
    flow_hash: '',
    payload_hash: decided.approved_hash,
    rebased: decided.rebased,
    write_id: writeId,
    summary: '',
    diff_summary: decided.diff_summary,
    warnings: decided.warnings,
    tools_created: [],
    notes: earlier ? [...notes, 'This very write had arrived before; it was not sent again.'] : notes,
    canvas_url: '',
    ...traceOf(context),
  };
}

async function keepIntended(
  context: Context<ChatflowNeeds>,
  writeId: string,
  { plan, client, before }: DecidedWrite,
): Promise<void> {
  const { vault_id, user_id: author } = context.principal;
  const { server } = client;
  const [key, now] = [context.sealingKey(), isoNow(context.clock)];
  if (before) {
    const place = { vault_id, server, chatflow_id: before.id };
    const seen = { place, origin: 'edit' as const, author: UNKNOWN_AUTHOR, now };
    await recordVersion(context.trx, context.database.dialect, { vault_id, key }, before, seen);
  }
  await recordIntent(context.trx, writeId, plan, { vault_id, server, author, key, now });
}

/** Once that is committed: send, read back, write down. */
export async function performWrite(context: Context<ChatflowNeeds>, intended: WrittenRecord): Promise<WrittenRecord> {
  const client = await context.flowise.client(context.principal.vault_id, intended.server);
  const { chatflow, version, tools_created } = await sendWrite(context, client, intended.write_id);
  return {
    ...intended,
    chatflow_id: chatflow.id,
    name: chatflow.name,
    version: Number(version.version),
    flow_hash: version.flow_hash ?? '',
    summary: version.summary,
    tools_created,
    canvas_url: canvasUrl(client, chatflow),
  };
}
