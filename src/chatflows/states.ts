import type { Queries } from '../database/index.ts';
import { type FlowData, flowHash, parseFlow, semanticHash } from '../flowise/index.ts';
import { isOpenable, openText, sealText } from './sealed-text.ts';

/** What a flowData text is: the text, its meaning where it can be read, and the hashes of both. */
export interface FlowState {
  text: string;
  flow: FlowData;
  flow_hash: string;
  semantic_hash: string;
}

export const NO_FLOW: FlowData = { nodes: [], edges: [] };

/** A text that is no flow, which Flowise also stores, counts as an empty one: it can be kept all the same. */
export function stateOf(text: string): FlowState {
  const parsed = parseFlow(text);
  const flow = parsed.flow ?? NO_FLOW;
  const flow_hash = flowHash(text);
  return { text, flow, flow_hash, semantic_hash: parsed.flow ? semanticHash(flow) : flow_hash };
}

export interface StatePlace {
  vault_id: string;
  key: Uint8Array;
}

const purposeOf = (vaultId: string, hash: string): string => `chatflow-state:${vaultId}:${hash}`;

/** Keeps a text once, however often it occurs. One that a lost key had sealed is sealed anew. */
export async function keepState(
  queries: Queries,
  { vault_id, key }: StatePlace,
  state: FlowState,
  now: string,
): Promise<void> {
  const { flow_hash, semantic_hash, text } = state;
  const known = await queries
    .selectFrom('chatflow_states')
    .select('content_sealed')
    .where('vault_id', '=', vault_id)
    .where('flow_hash', '=', flow_hash)
    .executeTakeFirst();
  const purpose = purposeOf(vault_id, flow_hash);
  if (known && isOpenable(key, purpose, known.content_sealed)) return;
  const content_sealed = sealText(key, purpose, text);
  await queries
    .insertInto('chatflow_states')
    .values({ vault_id, flow_hash, semantic_hash, content_sealed, created_at: now })
    .onConflict((conflict) => conflict.columns(['vault_id', 'flow_hash']).doUpdateSet({ content_sealed }))
    .execute();
}

/** Null when no such text was ever seen here. */
export async function readState(
  queries: Queries,
  { vault_id, key }: StatePlace,
  hash: string,
): Promise<FlowState | null> {
  const row = await queries
    .selectFrom('chatflow_states')
    .select('content_sealed')
    .where('vault_id', '=', vault_id)
    .where('flow_hash', '=', hash)
    .executeTakeFirst();
  return row ? stateOf(openText(key, purposeOf(vault_id, hash), row.content_sealed)) : null;
}
