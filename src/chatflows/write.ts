import { type Chatflow, type FlowiseClient, finalise, flowHash, guardWrite } from '../flowise/index.ts';
import { isoNow } from '../kernel/clock.ts';
import { asFlowrightError, ERRORS, type FlowrightError, refusal } from '../kernel/errors.ts';
import { chatflowOn } from './chatflow-on.ts';
import { conflict } from './conflict.ts';
import {
  giveUp,
  intentNamed,
  markSent,
  planOf,
  settleIntent,
  type WriteMaker,
  type WritePlan,
  type WriteRow,
} from './intents.ts';
import { lookForWrite } from './look.ts';
import type { ChatflowNeeds } from './needs.ts';
import { StoredTools } from './stored-tools.ts';
import { recordVersion, UNKNOWN_AUTHOR, type VersionRow } from './versions.ts';

/** What a write came to. */
export interface Written {
  chatflow: Chatflow;
  version: VersionRow;
  /** Names of tools that were stored first. */
  tools_created: string[];
}

type Needs = Pick<ChatflowNeeds, 'database' | 'clock' | 'sealingKey'>;

/**
 * Keeps what is there, sends what was intended, reads it back and writes down the version. Whatever goes wrong on the
 * way is settled by looking at the server, never by sending again.
 */
export async function sendWrite(needs: Needs, client: FlowiseClient, writeId: string): Promise<Written> {
  const key = needs.sealingKey();
  const row = await intentNamed(needs.database.queries, writeId);
  if (row.status === 'written') return arrivedBefore(needs, client, row);
  const plan = planOf(row, key);
  const { vault_id, server, author } = row;
  const maker = { vault_id, server, author, key };
  const tools = new StoredTools(client);
  try {
    guardWrite(plan.flow_data_str, plan.tools, row.payload_hash);
    if (plan.tools.length > 0) await assertUnchanged(client, plan);
    await tools.store(plan.tools);
    // Storing tools takes its time: the last look comes after it.
    const before = await assertUnchanged(client, plan);
    await keepAndGo(needs, writeId, before, maker);
  } catch (error) {
    await leaveNothing(needs, writeId, tools, asFlowrightError(error));
    throw error;
  }
  const flowData = finalise(plan.flow_data_str, { writeId, toolIds: tools.ids });
  const chatflow = await send(needs, client, { writeId, plan, flowData, tools });
  const version = await settleAsWritten(needs, chatflow, row, maker);
  return { chatflow, version, tools_created: tools.created };
}

async function arrivedBefore(needs: Needs, client: FlowiseClient, row: WriteRow): Promise<Written> {
  const chatflow = await chatflowOn(client, row.chatflow_id ?? '');
  const version = await needs.database.queries
    .selectFrom('chatflow_versions')
    .selectAll()
    .where('vault_id', '=', row.vault_id)
    .where('write_id', '=', row.write_id)
    .executeTakeFirstOrThrow();
  return { chatflow, version, tools_created: [] };
}

/** Before anything was sent, and after a refusal, a failure leaves nothing behind: neither tools nor an open intent. */
async function leaveNothing(needs: Needs, writeId: string, tools: StoredTools, error: FlowrightError): Promise<void> {
  await tools.remove();
  const now = isoNow(needs.clock);
  await needs.database.transaction(async (trx) => {
    await settleIntent(trx, writeId, { status: 'absent', error: error.code, now });
  });
}

/** The last look before writing, and what it saw; between it and the write Flowise offers no lock. */
async function assertUnchanged(client: FlowiseClient, plan: WritePlan): Promise<Chatflow | null> {
  if (plan.chatflow_id === null || plan.base_hash === null) return null;
  const current = await client.getChatflow(plan.chatflow_id);
  const current_hash = current ? flowHash(current.flowData) : null;
  if (current_hash === plan.base_hash) return current;
  throw conflict(plan.chatflow_id, plan.base_hash, current_hash);
}

/**
 * What is about to be replaced becomes a version, unless it is one, and the write goes out. Only now: had somebody else
 * written since the write was decided, what was seen then would enter the history after what came later.
 */
async function keepAndGo(
  needs: Needs,
  writeId: string,
  before: Chatflow | null,
  { vault_id, server, key }: Omit<WriteMaker, 'now'>,
): Promise<void> {
  const now = isoNow(needs.clock);
  await needs.database.transaction(async (trx) => {
    if (before) {
      const place = { vault_id, server, chatflow_id: before.id };
      const seen = { place, origin: 'edit' as const, author: UNKNOWN_AUTHOR, now };
      await recordVersion(trx, needs.database.dialect, { vault_id, key }, before, seen);
    }
    await markSent(trx, writeId, now);
  });
}

interface Sending {
  writeId: string;
  plan: WritePlan;
  flowData: string;
  tools: StoredTools;
}

async function send(needs: Needs, client: FlowiseClient, sending: Sending): Promise<Chatflow> {
  const { plan, flowData } = sending;
  try {
    const answer =
      plan.chatflow_id === null
        ? await client.createChatflow({ name: '', type: 'CHATFLOW', ...plan.body, flowData })
        : await client.updateChatflow(plan.chatflow_id, { ...plan.body, flowData });
    return (await client.getChatflow(answer.id)) ?? answer;
  } catch (thrown) {
    return afterFailure(needs, client, sending, asFlowrightError(thrown));
  }
}

/** We look whether it arrived. That it did not is certain only once the server has said its last word on it. */
async function afterFailure(
  needs: Needs,
  client: FlowiseClient,
  { writeId, plan, tools }: Sending,
  error: FlowrightError,
): Promise<Chatflow> {
  const place = { write_id: writeId, chatflow_id: plan.chatflow_id };
  const found = await lookForWrite(client, place).catch(() => 'unknown' as const);
  if (found !== null && found !== 'unknown') return found;
  if (found === null && isLastWord(error)) {
    await leaveNothing(needs, writeId, tools, error);
    throw error;
  }
  await needs.database.transaction((trx) => giveUp(trx, writeId));
  throw refusal(
    'FLOWISE_WRITE_UNSETTLED',
    `The write ${writeId} was sent, and whether it arrives is not known yet: ${withoutAdvice(error)} Do not repeat it: \`flowright chatflow sync\` looks for it.`,
    { write_id: writeId, cause: error.code },
  );
}

/** What to do about a failed question is no advice for a write. */
function withoutAdvice({ code, message }: FlowrightError): string {
  return message.replace(ERRORS[code].next, '').trim();
}

/** The request never left, or Flowise itself answered that it failed. A gateway may say so while Flowise goes on. */
function isLastWord({ details }: FlowrightError): boolean {
  const { may_have_arrived, status } = details as { may_have_arrived?: boolean; status?: number };
  if (may_have_arrived === false) return true;
  return status !== undefined && status >= 400 && status !== 408 && status !== 502 && status !== 504;
}

/** The version and the settled intent exist together. */
export function settleAsWritten(
  needs: Needs,
  chatflow: Chatflow,
  { write_id, origin, message }: Pick<WriteRow, 'write_id' | 'origin' | 'message'>,
  { vault_id, server, author, key }: Omit<WriteMaker, 'now'>,
): Promise<VersionRow> {
  const now = isoNow(needs.clock);
  return needs.database.transaction(async (trx) => {
    await settleIntent(trx, write_id, { status: 'written', chatflow_id: chatflow.id, now });
    const place = { vault_id, server, chatflow_id: chatflow.id };
    const recording = { place, origin, author, now, message, write_id };
    return recordVersion(trx, needs.database.dialect, { vault_id, key }, chatflow, recording);
  });
}
