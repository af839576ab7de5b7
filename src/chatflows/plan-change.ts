import { type Compilation, type FlowiseClient, semanticHash } from '../flowise/index.ts';
import { refusal } from '../kernel/errors.ts';
import type { Principal } from '../operations/index.ts';
import { type ChangeRequest, type CompiledRequest, compileRequest } from './compile-request.ts';
import { conflict } from './conflict.ts';
import type { WritePlan } from './intents.ts';
import type { ChatflowNeeds } from './needs.ts';
import { unsound } from './sound.ts';
import { readState, type StatePlace, stateOf } from './states.ts';

/** A change that was looked at and approved: bound to what it was based on and to what it makes. */
export interface ApprovedChange extends ChangeRequest {
  base_hash?: string | undefined;
  payload_hash: string;
}

export interface PlannedChange {
  client: FlowiseClient;
  request: CompiledRequest;
  compilation: Compilation;
  /** Nodes were moved on the canvas since; the change was made again on that. */
  rebased: boolean;
  base_hash: string | null;
}

/** Agents write only where an admin said so. */
export function assertMayWrite(principal: Principal, isAllowedToAgents: boolean): void {
  if (principal.kind !== 'agent' || isAllowedToAgents) return;
  throw refusal(
    'approval_required',
    'An agent may not write to Flowise on its own: a person applies what was compiled. An admin may set flowise_agent_writes.',
  );
}

/**
 * The change as it will be written: exactly what was approved, on exactly what it was based on; or, if things were
 * only moved on the canvas since, the same change on that. Anything else is refused with both hashes.
 */
export async function planChange(
  needs: Pick<ChatflowNeeds, 'database' | 'flowise' | 'knowledge' | 'sealingKey'>,
  vaultId: string,
  change: ApprovedChange,
): Promise<PlannedChange> {
  const request = await compileRequest(needs, vaultId, change);
  const { client, current, base } = request;
  const now = stateOf(base);
  const isFresh = change.base_hash === undefined ? current === null : change.base_hash === now.flow_hash;
  if (isFresh) {
    assertPayload(request.compilation, change.payload_hash);
    return { client, request, compilation: request.compilation, rebased: false, base_hash: current && now.flow_hash };
  }
  if (change.base_hash === undefined) {
    throw refusal('chatflow_conflict', 'An existing chatflow is changed only with the base_hash of a compile.', {
      base_hash: null,
      current_hash: now.flow_hash,
    });
  }
  const states: StatePlace = { vault_id: vaultId, key: needs.sealingKey() };
  const seen = await readState(needs.database.queries, states, change.base_hash);
  if (seen === null || current === null || seen.semantic_hash !== now.semantic_hash) {
    throw conflict(change.chatflow_id ?? '', change.base_hash, now.flow_hash);
  }
  const approved = request.compileOn(seen.text);
  assertPayload(approved, change.payload_hash);
  const rebased = request.compilation;
  if (semanticHash(rebased.flow_data) !== semanticHash(approved.flow_data)) {
    throw refusal('payload_mismatch', 'On the moved chatflow the change means something else. Compile again.');
  }
  return { client, request, compilation: rebased, rebased: true, base_hash: now.flow_hash };
}

/** What is compiled now must be what was compiled then, and sound. */
function assertPayload(compilation: Compilation, payloadHash: string): void {
  if (!compilation.ok) throw unsound(compilation.errors, 'The patch was refused');
  if (compilation.payload_hash === payloadHash) return;
  throw refusal('payload_mismatch', 'This compiles to something else than what was approved. Nothing was written.', {
    payload_hash: payloadHash,
    compiled_hash: compilation.payload_hash,
  });
}

export function writePlan(
  { compilation, base_hash, request }: PlannedChange,
  options: Pick<WritePlan, 'body' | 'message' | 'idempotency_key'>,
): WritePlan {
  return {
    origin: 'write',
    flow_data_str: compilation.flow_data_str,
    payload_hash: compilation.payload_hash,
    base_hash,
    chatflow_id: request.current?.id ?? null,
    tools: compilation.tools,
    ...options,
  };
}
