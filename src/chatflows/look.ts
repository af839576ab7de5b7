import { type Chatflow, type FlowiseClient, stampOf } from '../flowise/index.ts';

/** The chatflow that carries the stamp of a write, or null. */
export async function lookForWrite(
  client: FlowiseClient,
  { write_id, chatflow_id }: { write_id: string; chatflow_id: string | null },
): Promise<Chatflow | null> {
  const candidates = chatflow_id === null ? await client.listChatflows() : [await client.getChatflow(chatflow_id)];
  return candidates.find((chatflow) => chatflow !== null && stampOf(chatflow.flowData) === write_id) ?? null;
}
