import type { Chatflow, FlowiseClient } from '../flowise/index.ts';
import { refusal } from '../kernel/errors.ts';

/** The chatflow on its server, or a refusal that says where to look. */
export async function chatflowOn(client: FlowiseClient, id: string): Promise<Chatflow> {
  const found = await client.getChatflow(id);
  if (found) return found;
  throw refusal(
    'FLOWISE_NOT_FOUND',
    `${client.server} has no chatflow ${id}. \`flowright chatflow list\` shows what it has; one that was removed there can be brought back with \`flowright chatflow restore\`, if \`chatflow history\` knows it.`,
    { server: client.server, chatflow_id: id },
  );
}

/** Where a person looks at it. */
export function canvasUrl(client: Pick<FlowiseClient, 'url'>, chatflow: Pick<Chatflow, 'id' | 'type'>): string {
  const canvas =
    chatflow.type === 'AGENTFLOW' ? 'v2/agentcanvas' : chatflow.type === 'MULTIAGENT' ? 'agentcanvas' : 'canvas';
  return `${client.url}/${canvas}/${encodeURIComponent(chatflow.id)}`;
}
