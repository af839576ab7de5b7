import { diffFlows, diffLines, flowHash, parseFlow, payloadHash, unstampFlow } from '../flowise/index.ts';
import { refusal } from '../kernel/errors.ts';
import { bodyLines, wholeSummary } from './body-lines.ts';
import type { CarriedFields } from './carried-fields.ts';
import { conflict } from './conflict.ts';
import type { ChatflowNeeds } from './needs.ts';
import { unsound } from './sound.ts';
import { readState, stateOf } from './states.ts';
import { findVersion } from './versions.ts';
import type { PlannedWrite } from './written.ts';

export interface RestoreRequest {
  server?: string | undefined;
  chatflow_id: string;
  version: string;
  base_hash?: string | undefined;
  message: string;
  idempotency_key?: string | undefined;
}

type Needs = Pick<ChatflowNeeds, 'database' | 'flowise' | 'sealingKey'>;

/** The very text of that version, back to where it was; of a removed chatflow, as a new one. */
export async function planRestore(needs: Needs, vaultId: string, request: RestoreRequest): Promise<PlannedWrite> {
  const client = await needs.flowise.client(vaultId, request.server);
  const place = { vault_id: vaultId, server: client.server, chatflow_id: request.chatflow_id };
  const row = await findVersion(needs.database.queries, place, request.version);
  const states = { vault_id: vaultId, key: needs.sealingKey() };
  const state = row.flow_hash === null ? null : await readState(needs.database.queries, states, row.flow_hash);
  if (!state) {
    throw refusal(
      'NOT_FOUND',
      `Version ${row.version} holds no flow: the chatflow was gone then. Choose an earlier one.`,
    );
  }
  // A write carries a stamp, and only a flow can: what Flowise stored of other texts is kept and not put back.
  const { issues } = parseFlow(state.text);
  if (issues) throw unsound(issues, `The text of version ${row.version} cannot be put back`);
  const before = await client.getChatflow(request.chatflow_id);
  const base_hash = before && flowHash(before.flowData);
  if (request.base_hash !== undefined && request.base_hash !== base_hash) {
    throw conflict(request.chatflow_id, request.base_hash, base_hash);
  }
  const flow_data_str = unstampFlow(state.text);
  const payload_hash = payloadHash(flow_data_str, []);
  const fields = JSON.parse(row.fields_json) as CarriedFields;
  const diff = before ? diffFlows(stateOf(before.flowData).flow, state.flow) : null;
  const body = { name: row.name, ...fields, ...(before ? {} : { type: row.type as never }) };
  return {
    client,
    plan: {
      origin: 'restore',
      flow_data_str,
      payload_hash,
      base_hash,
      chatflow_id: before?.id ?? null,
      body,
      tools: [],
      message:
        request.message === ''
          ? before
            ? `version ${row.version} put back`
            : `version ${row.version} of ${request.chatflow_id} put back`
          : request.message,
      idempotency_key: request.idempotency_key ?? null,
    },
    name: before?.name ?? row.name,
    approved_hash: payload_hash,
    rebased: false,
    diff_summary: wholeSummary(bodyLines(before, body), diff ? diffLines(diff).join('\n') : ''),
    warnings: [],
    notes: before
      ? []
      : [`Chatflow ${request.chatflow_id} is no longer on the server: it comes back as a new one with a new id.`],
  };
}
