import { type Chatflow, type FlowiseClient, finalise, flowHash } from '../flowise/index.ts';
import { isoNow } from '../kernel/clock.ts';
import { asFlowrightError, type FlowrightError, refusal } from '../kernel/errors.ts';
import { chatflowOn } from './chatflow-on.ts';
import {
  giveUp,
  intentNamed,
  planOf,
  settleIntent,
  type WriteMaker,
  type WritePlan,
  type WriteRow,
} from './intents.ts';
import { lookForWrite } from './look.ts';
import type { ChatflowNeeds } from './needs.ts';
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
  const tools = await withAbsence(needs, writeId, async () => {
    assertApproved(plan, row.payload_hash);
    const stored = await storeTools(client, plan);
    const before = await assertUnchanged(client, plan);
    if (before) await keepBefore(needs, before, maker);
    return stored;
  });
  const flowData = finalise(plan.flow_data_str, { writeId, toolIds: tools.ids });
  const chatflow = await send(needs, client, writeId, plan, flowData);
  const version = await settleAsWritten(needs, chatflow, writeId, plan, maker);
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

/** The text that is about to be sent is the very one whose hash was approved. */
function assertApproved(plan: WritePlan, approvedHash: string): void {
  if (flowHash(plan.flow_data_str) === approvedHash) return;
  throw refusal('payload_mismatch', 'What was to be written is not what was approved. Nothing was written.');
}

/** Before anything was sent a failure leaves nothing behind: the intent is settled as absent. */
async function withAbsence<T>(needs: Needs, writeId: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    await settleAsAbsent(needs, writeId, asFlowrightError(error));
    throw error;
  }
}

/** The last look before writing, and what it saw; between it and the write Flowise offers no lock. */
async function assertUnchanged(client: FlowiseClient, plan: WritePlan): Promise<Chatflow | null> {
  if (plan.chatflow_id === null || plan.base_hash === null) return null;
  const current = await client.getChatflow(plan.chatflow_id);
  const current_hash = current ? flowHash(current.flowData) : null;
  if (current_hash === plan.base_hash) return current;
  throw refusal(
    'chatflow_conflict',
    current
      ? `Chatflow ${plan.chatflow_id} was changed on the server meanwhile. Nothing was written.`
      : `Chatflow ${plan.chatflow_id} was removed on the server meanwhile. Nothing was written.`,
    { base_hash: plan.base_hash, current_hash },
  );
}

/**
 * What is about to be replaced becomes a version, unless it is one. Only now: had somebody else written since the write
 * was decided, what was seen then would enter the history after what came later.
 */
async function keepBefore(
  needs: Needs,
  before: Chatflow,
  { vault_id, server, key }: Omit<WriteMaker, 'now'>,
): Promise<void> {
  const place = { vault_id, server, chatflow_id: before.id };
  const seen = { place, origin: 'edit' as const, author: UNKNOWN_AUTHOR, now: isoNow(needs.clock) };
  await needs.database.transaction((trx) =>
    recordVersion(trx, needs.database.dialect, { vault_id, key }, before, seen),
  );
}

/** A tool of the same name, arguments and code is used again: a repeated attempt stores no second one. */
async function storeTools(
  client: FlowiseClient,
  { tools }: WritePlan,
): Promise<{ ids: Record<string, string>; created: string[] }> {
  const ids: Record<string, string> = {};
  const created: string[] = [];
  if (tools.length === 0) return { ids, created };
  const stored = await client.listTools();
  for (const { tool_ref, tool } of tools) {
    const same = stored.find(
      ({ name, schema, func }) => name === tool.name && schema === tool.schema && func === tool.func,
    );
    const { id } = same ?? (await client.createTool(tool));
    if (!same) created.push(tool.name);
    ids[tool_ref] = id;
  }
  return { ids, created };
}

async function send(
  needs: Needs,
  client: FlowiseClient,
  writeId: string,
  plan: WritePlan,
  flowData: string,
): Promise<Chatflow> {
  try {
    const answer =
      plan.chatflow_id === null
        ? await client.createChatflow({ name: '', type: 'CHATFLOW', ...plan.body, flowData })
        : await client.updateChatflow(plan.chatflow_id, { ...plan.body, flowData });
    return (await client.getChatflow(answer.id)) ?? answer;
  } catch (thrown) {
    return afterFailure(needs, client, writeId, plan, asFlowrightError(thrown));
  }
}

/** A refusal means that nothing happened. Anything else may have arrived all the same: we look. */
async function afterFailure(
  needs: Needs,
  client: FlowiseClient,
  writeId: string,
  plan: WritePlan,
  error: FlowrightError,
): Promise<Chatflow> {
  const found = await lookForWrite(client, { write_id: writeId, chatflow_id: plan.chatflow_id }).catch(() => 'unknown');
  if (found === 'unknown') {
    await needs.database.transaction((trx) => giveUp(trx, writeId));
    throw refusal(
      'FLOWISE_WRITE_UNSETTLED',
      `Whether the write ${writeId} arrived is not known: ${error.message} \`flowright chatflow sync\` looks again.`,
      { write_id: writeId, cause: error.code },
    );
  }
  if (found !== null && typeof found === 'object') return found;
  await settleAsAbsent(needs, writeId, error);
  throw error;
}

async function settleAsAbsent(needs: Needs, writeId: string, error: FlowrightError): Promise<void> {
  const now = isoNow(needs.clock);
  await needs.database.transaction(async (trx) => {
    await settleIntent(trx, writeId, { status: 'absent', error: error.code, now });
  });
}

/** The version and the settled intent exist together. */
export function settleAsWritten(
  needs: Needs,
  chatflow: Chatflow,
  writeId: string,
  plan: Pick<WritePlan, 'origin' | 'message'>,
  maker: Omit<WriteMaker, 'now'>,
): Promise<VersionRow> {
  const now = isoNow(needs.clock);
  const { vault_id, server, author, key } = maker;
  return needs.database.transaction(async (trx) => {
    await settleIntent(trx, writeId, { status: 'written', chatflow_id: chatflow.id, now });
    const place = { vault_id, server, chatflow_id: chatflow.id };
    return recordVersion(trx, needs.database.dialect, { vault_id, key }, chatflow, {
      place,
      origin: plan.origin,
      author,
      now,
      message: plan.message,
      write_id: writeId,
    });
  });
}
