import type { ChatflowVersionsTable, Database, Queries, Trx } from '../database/index.ts';
import { takeTurns } from '../database/index.ts';
import { type Chatflow, diffFlows } from '../flowise/index.ts';
import { refusal } from '../kernel/errors.ts';
import { carriedFields, typeOf } from './carried-fields.ts';
import { changeLine } from './change-line.ts';
import type { ChatflowPlace } from './needs.ts';
import { type FlowState, keepState, NO_FLOW, readState, type StatePlace, stateOf } from './states.ts';

export type VersionRow = Omit<ChatflowVersionsTable, 'version_key'>;
export type VersionOrigin = ChatflowVersionsTable['origin'];

export interface Recording {
  place: ChatflowPlace;
  origin: VersionOrigin;
  author: string;
  now: string;
  message?: string;
  write_id?: string;
}

/** Nobody in particular: an edit that was found on the server. */
export const UNKNOWN_AUTHOR = '';

function ofChatflow(queries: Queries, { vault_id, server, chatflow_id }: ChatflowPlace) {
  return queries
    .selectFrom('chatflow_versions')
    .where('vault_id', '=', vault_id)
    .where('server', '=', server)
    .where('chatflow_id', '=', chatflow_id);
}

export function latestVersion(queries: Queries, place: ChatflowPlace): Promise<VersionRow | undefined> {
  return ofChatflow(queries, place).selectAll().orderBy('version', 'desc').limit(1).executeTakeFirst();
}

/**
 * Writes down what a chatflow is now. What is as the newest version says already is not written again, unless a write
 * of ours brought it about. Returns the version that tells of it.
 */
export async function recordVersion(
  trx: Trx,
  dialect: Database['dialect'],
  states: StatePlace,
  chatflow: Chatflow,
  recording: Recording,
): Promise<VersionRow> {
  const { place, origin, author, now, message = '', write_id = null } = recording;
  await takeTurns(trx, dialect, `chatflow:${place.vault_id}:${place.server}:${place.chatflow_id}`);
  const latest = await latestVersion(trx, place);
  const state = stateOf(chatflow.flowData);
  const fields_json = JSON.stringify(carriedFields(chatflow));
  const isKnown =
    latest?.flow_hash === state.flow_hash && latest.name === chatflow.name && latest.fields_json === fields_json;
  if (latest && isKnown && (write_id === null || latest.write_id === write_id)) return latest;
  await keepState(trx, states, state, now);
  const row: VersionRow = {
    ...place,
    version: (latest?.version ?? 0) + 1,
    origin: latest === undefined && origin === 'edit' ? 'seen' : origin,
    name: chatflow.name,
    type: typeOf(chatflow),
    flow_hash: state.flow_hash,
    semantic_hash: state.semantic_hash,
    fields_json,
    node_count: state.flow.nodes.length,
    edge_count: state.flow.edges.length,
    summary: await againstLatest(
      trx,
      states,
      latest,
      state,
      { name: chatflow.name, fields: fields_json },
      write_id !== null,
    ),
    label: null,
    message,
    author,
    write_id,
    created_at: now,
  };
  await trx.insertInto('chatflow_versions').values(row).execute();
  return row;
}

/** The chatflow is no longer on its server. */
export async function recordRemoval(trx: Trx, latest: VersionRow, now: string): Promise<VersionRow> {
  const row: VersionRow = {
    ...withoutKey(latest),
    version: latest.version + 1,
    origin: 'removed',
    flow_hash: null,
    semantic_hash: null,
    node_count: 0,
    edge_count: 0,
    summary: 'removed on the server',
    label: null,
    message: '',
    author: UNKNOWN_AUTHOR,
    write_id: null,
    created_at: now,
  };
  await trx.insertInto('chatflow_versions').values(row).execute();
  return row;
}

function withoutKey(row: VersionRow & { version_key?: number }): VersionRow {
  const { version_key: _, ...rest } = row;
  return rest;
}

async function againstLatest(
  trx: Trx,
  states: StatePlace,
  latest: VersionRow | undefined,
  state: FlowState,
  { name, fields }: { name: string; fields: string },
  isOurs: boolean,
): Promise<string> {
  const before = latest?.flow_hash ? await readState(trx, states, latest.flow_hash) : null;
  if (!before && !isOurs) return `first seen with ${state.flow.nodes.length} nodes`;
  const line = changeLine(diffFlows(before?.flow ?? NO_FLOW, state.flow));
  if (!before || !latest) return line;
  const also = [latest.name === name ? '' : 'renamed', latest.fields_json === fields ? '' : 'flags changed'];
  return [...also, line].filter((part) => part !== '').join('; ');
}

/** Newest first. */
export async function listVersions(
  queries: Queries,
  place: ChatflowPlace,
  page: { limit: number; offset: number },
): Promise<{ rows: VersionRow[]; total: number }> {
  const { total } = await ofChatflow(queries, place)
    .select((e) => e.fn.countAll<number>().as('total'))
    .executeTakeFirstOrThrow();
  const rows = await ofChatflow(queries, place)
    .selectAll()
    .orderBy('version', 'desc')
    .limit(page.limit)
    .offset(page.offset)
    .execute();
  return { rows, total: Number(total) };
}

/** The version of that label, if any has it. */
export function labelled(queries: Queries, place: ChatflowPlace, label: string): Promise<VersionRow | undefined> {
  return ofChatflow(queries, place).selectAll().where('label', '=', label).limit(1).executeTakeFirst();
}

/** By number or label. */
export async function findVersion(queries: Queries, place: ChatflowPlace, wanted: string): Promise<VersionRow> {
  const rows = ofChatflow(queries, place).selectAll().orderBy('version', 'desc').limit(1);
  const byNumber = /^\d{1,9}$/.test(wanted) ? rows.where('version', '=', Number(wanted)) : null;
  const row = (await byNumber?.executeTakeFirst()) ?? (await labelled(queries, place, wanted));
  if (row) return row;
  throw refusal(
    'NOT_FOUND',
    `Chatflow ${place.chatflow_id} has no version ${wanted} here. \`flowright chatflow history\` lists what there is.`,
  );
}
