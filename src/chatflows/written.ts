import * as z from 'zod';
import type { FlowiseClient } from '../flowise/index.ts';
import { isoNow } from '../kernel/clock.ts';
import { newId } from '../kernel/ids.ts';
import { hideSecretsInText } from '../kernel/secret-text.ts';
import { type Context, traceOf, traceOutput } from '../operations/index.ts';
import { canvasUrl } from './chatflow-on.ts';
import { recordIntent, type WritePlan, type WriteRow } from './intents.ts';
import type { ChatflowNeeds } from './needs.ts';
import { Issues } from './record.ts';
import { shownIssues } from './sound.ts';
import { sendWrite } from './write.ts';

export const WrittenRecord = z
  .strictObject({
    ok: z.literal(true),
    dry_run: z.boolean().describe('Nothing was written: this is what would be'),
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

/** A write that is decided. */
export interface PlannedWrite {
  client: FlowiseClient;
  plan: WritePlan;
  name: string;
  approved_hash: string;
  rebased: boolean;
  diff_summary: string;
  warnings: z.output<typeof Issues>;
  notes: string[];
}

/** What an operation came to before it began: a plan, or the same write that was made before and has arrived. */
export type DecidedWrite =
  | { request_hash: string; planned: PlannedWrite }
  | { earlier: WriteRow }
  | { only_planned: PlannedWrite };

/** In the transaction of the operation: what we are about to do. Nothing is sent yet. */
export async function intendWrite(context: Context<ChatflowNeeds>, decided: DecidedWrite): Promise<WrittenRecord> {
  if ('earlier' in decided) return earlierRecord(context, decided.earlier);
  if ('only_planned' in decided) return { ...plannedRecord(context, decided.only_planned, ''), dry_run: true };
  const { request_hash, planned } = decided;
  const { plan, client } = planned;
  const write_id = newId('write');
  const { vault_id, user_id: author } = context.principal;
  const maker = { vault_id, server: client.server, author, key: context.sealingKey(), now: isoNow(context.clock) };
  await recordIntent(context.trx, context.database.dialect, { write_id, request_hash, plan }, maker);
  return plannedRecord(context, planned, write_id);
}

function plannedRecord(context: Context<ChatflowNeeds>, planned: PlannedWrite, write_id: string): WrittenRecord {
  const { plan, client } = planned;
  return {
    ok: true,
    dry_run: false,
    server: client.server,
    chatflow_id: plan.chatflow_id ?? '',
    name: planned.name,
    created: plan.chatflow_id === null,
    ...UNSENT,
    payload_hash: planned.approved_hash,
    rebased: planned.rebased,
    write_id,
    summary: '',
    diff_summary: planned.diff_summary,
    warnings: shownIssues(planned.warnings),
    tools_created: [],
    notes: planned.notes.map(hideSecretsInText),
    canvas_url: '',
    ...traceOf(context),
  };
}

/** Known once it is sent. */
const UNSENT = { version: 0, flow_hash: '' };

function earlierRecord(context: Context<ChatflowNeeds>, row: WriteRow): WrittenRecord {
  return {
    ok: true,
    dry_run: false,
    server: row.server,
    chatflow_id: row.chatflow_id ?? '',
    name: '',
    created: row.kind === 'create',
    ...UNSENT,
    payload_hash: row.payload_hash,
    rebased: false,
    write_id: row.write_id,
    summary: '',
    diff_summary: '',
    warnings: [],
    tools_created: [],
    notes: ['This very write had arrived before; it was not sent again.'],
    canvas_url: '',
    ...traceOf(context),
  };
}

/** Once that is committed: send, read back, write down. */
export async function performWrite(context: Context<ChatflowNeeds>, intended: WrittenRecord): Promise<WrittenRecord> {
  if (intended.dry_run) return intended;
  const client = await context.flowise.client(context.principal.vault_id, intended.server);
  const { chatflow, version, tools_created } = await sendWrite(context, client, intended.write_id);
  return {
    ...intended,
    chatflow_id: chatflow.id,
    name: hideSecretsInText(chatflow.name),
    version: Number(version.version),
    flow_hash: version.flow_hash ?? '',
    summary: version.summary,
    tools_created: tools_created.map(hideSecretsInText),
    canvas_url: canvasUrl(client, chatflow),
  };
}
