import { hostname } from 'node:os';
import { type ChatflowWritesTable, type Database, type Queries, type Trx, takeTurns } from '../database/index.ts';
import type { ChatflowType, NewChatflow, NewTool } from '../flowise/index.ts';
import { isAlive, thisProcess } from '../home/index.ts';
import { refusal } from '../kernel/errors.ts';
import { hideSecretsInText } from '../kernel/secret-text.ts';
import { openText, sealText } from './sealed-text.ts';

export type WriteRow = ChatflowWritesTable;

/** What is to be sent, decided and checked; sealed while it waits, because a flow can hold secrets. */
export interface WritePlan {
  origin: 'write' | 'restore' | 'promote';
  /** The approved text, before tools have ids and the write its stamp. */
  flow_data_str: string;
  payload_hash: string;
  /** Of an update: what the server held when it was decided. */
  base_hash: string | null;
  /** Of an update. */
  chatflow_id: string | null;
  /** What is sent beside the flow; a creation has at least a name and a type. */
  body: Partial<Omit<NewChatflow, 'flowData'>> & { type?: ChatflowType };
  tools: { tool_ref: string; tool: NewTool }[];
  message: string;
  /** A repeated request with the same key is the same write. */
  idempotency_key: string | null;
}

export interface WriteMaker {
  vault_id: string;
  server: string;
  author: string;
  key: Uint8Array;
  now: string;
}

const purposeOf = (vaultId: string, writeId: string): string => `chatflow-write:${vaultId}:${writeId}`;

/** A write that gets its id, its plan and the hash of the request that asked for it. */
export interface Intent {
  write_id: string;
  request_hash: string;
  plan: WritePlan;
}

/** Committed before anything is sent. One write at a time a chatflow. */
export async function recordIntent(
  trx: Trx,
  dialect: Database['dialect'],
  { write_id: writeId, request_hash, plan }: Intent,
  { vault_id, server, author, key, now }: WriteMaker,
): Promise<void> {
  if (plan.chatflow_id !== null) {
    await takeTurns(trx, dialect, `chatflow-write:${vault_id}:${server}:${plan.chatflow_id}`);
    await refuseSecond(trx, vault_id, server, plan.chatflow_id);
  }
  if (plan.idempotency_key !== null) await freeKey(trx, vault_id, plan.idempotency_key);
  await trx
    .insertInto('chatflow_writes')
    .values({
      write_id: writeId,
      vault_id,
      server,
      chatflow_id: plan.chatflow_id,
      kind: plan.chatflow_id === null ? 'create' : 'update',
      status: 'intended',
      base_hash: plan.base_hash,
      payload_hash: plan.payload_hash,
      request_hash,
      plan_sealed: sealText(key, purposeOf(vault_id, writeId), JSON.stringify(plan)),
      origin: plan.origin,
      message: hideSecretsInText(plan.message),
      sent_at: null,
      error: null,
      author,
      process_json: JSON.stringify({ host: hostname(), ...thisProcess() }),
      idempotency_key: plan.idempotency_key,
      created_at: now,
      settled_at: null,
    })
    .execute();
}

/** What did not happen may be asked for again under the same key. */
async function freeKey(trx: Trx, vaultId: string, key: string): Promise<void> {
  await trx
    .updateTable('chatflow_writes')
    .set({ idempotency_key: null })
    .where('vault_id', '=', vaultId)
    .where('idempotency_key', '=', key)
    .where('status', 'in', ['absent', 'superseded'])
    .execute();
}

async function refuseSecond(trx: Trx, vaultId: string, server: string, chatflowId: string): Promise<void> {
  const open = await openIntents(trx, { vault_id: vaultId, server });
  const other = open.find(({ chatflow_id }) => chatflow_id === chatflowId);
  if (!other) return;
  throw refusal(
    'chatflow_conflict',
    `Another write to chatflow ${chatflowId} is under way (${other.write_id}). Try again when it is done.`,
    { write_id: other.write_id },
  );
}

export function openIntents(
  queries: Queries,
  { vault_id, server }: { vault_id: string; server: string },
): Promise<WriteRow[]> {
  return queries
    .selectFrom('chatflow_writes')
    .selectAll()
    .where('vault_id', '=', vault_id)
    .where('server', '=', server)
    .where('status', '=', 'intended')
    .orderBy('created_at')
    .execute();
}

/** Writes that were taken to be lost, by their ids. */
export async function settledIntents(
  queries: Queries,
  { vault_id, server }: { vault_id: string; server: string },
  writeIds: readonly string[],
): Promise<Map<string, WriteRow>> {
  const rows = await queries
    .selectFrom('chatflow_writes')
    .selectAll()
    .where('vault_id', '=', vault_id)
    .where('server', '=', server)
    .where('status', 'in', ['absent', 'superseded'])
    .execute();
  const wanted = new Set(writeIds);
  return new Map(rows.filter(({ write_id }) => wanted.has(write_id)).map((row) => [row.write_id, row]));
}

/** It was taken to be lost, and is there. */
export async function arrivedLate(trx: Trx, writeId: string, chatflowId: string): Promise<void> {
  await trx
    .updateTable('chatflow_writes')
    .set({ status: 'written', chatflow_id: chatflowId })
    .where('write_id', '=', writeId)
    .execute();
}

export function intentNamed(queries: Queries, writeId: string): Promise<WriteRow> {
  return queries.selectFrom('chatflow_writes').selectAll().where('write_id', '=', writeId).executeTakeFirstOrThrow();
}

export function intentWithKey(queries: Queries, vaultId: string, key: string): Promise<WriteRow | undefined> {
  return queries
    .selectFrom('chatflow_writes')
    .selectAll()
    .where('vault_id', '=', vaultId)
    .where('idempotency_key', '=', key)
    .executeTakeFirst();
}

export function planOf(row: WriteRow, key: Uint8Array): WritePlan {
  return JSON.parse(openText(key, purposeOf(row.vault_id, row.write_id), row.plan_sealed)) as WritePlan;
}

export type Settled = Exclude<WriteRow['status'], 'intended'>;

/** False when somebody else settled it first. The plan, which may hold secrets, goes. */
export async function settleIntent(
  trx: Trx,
  writeId: string,
  outcome: { status: Settled; chatflow_id?: string; error?: string; now: string },
): Promise<boolean> {
  const { status, chatflow_id, error = null, now } = outcome;
  const { numUpdatedRows } = await trx
    .updateTable('chatflow_writes')
    .set({
      status,
      error,
      settled_at: now,
      plan_sealed: '',
      ...(chatflow_id ? { chatflow_id } : {}),
    })
    .where('write_id', '=', writeId)
    .where('status', '=', 'intended')
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

/** From here on it may arrive, also after its sender is gone. */
export async function markSent(trx: Trx, writeId: string, now: string): Promise<void> {
  await trx.updateTable('chatflow_writes').set({ sent_at: now }).where('write_id', '=', writeId).execute();
}

/** Its sender gave up on it, but lives: what became of it is for others to find out, in time. */
export async function giveUp(trx: Trx, writeId: string): Promise<void> {
  await trx
    .updateTable('chatflow_writes')
    .set({ process_json: JSON.stringify({ host: '' }) })
    .where('write_id', '=', writeId)
    .where('status', '=', 'intended')
    .execute();
}

/** So many timeouts after it went out, and at most so long, a request of which nobody knows can still take effect. */
const LATE_TIMEOUTS = 4;
const LATEST_SECONDS = 60;
/** So many timeouts no write takes, with all its requests and their repetitions. */
const LONGEST_TIMEOUTS = 20;

/** Seconds for which a write must still be taken to be under way; 0 when it has arrived by now or never will. */
export function secondsOpen(row: WriteRow, now: Date, timeoutSeconds: number): number {
  const sender = JSON.parse(row.process_json) as { host: string; pid: number; started: string };
  const since = (then: string): number => (now.getTime() - Date.parse(then)) / 1_000;
  const isHere = sender.host === hostname();
  if (isHere && isAlive(sender)) return Math.max(0, LONGEST_TIMEOUTS * timeoutSeconds - since(row.created_at));
  const late = Math.min(LATE_TIMEOUTS * timeoutSeconds, LATEST_SECONDS);
  if (row.sent_at !== null) return Math.max(0, late - since(row.sent_at));
  // Of a sender that is dead nothing more goes out; whether one on another machine is, only time tells.
  return isHere ? 0 : Math.max(0, LONGEST_TIMEOUTS * timeoutSeconds - since(row.created_at));
}
