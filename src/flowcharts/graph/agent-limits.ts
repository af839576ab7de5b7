import { refusal } from '../../kernel/errors.ts';
import type { DraftNode } from './draft.ts';
import type { GraphNode } from './model.ts';
import type { StoredGraph } from './stored-graph.ts';
import { nameOf } from './validation.ts';

/**
 * An agent may not let agents answer where a person is asked: it could then ask and answer itself. What a person once
 * allowed on a node stays allowed on it.
 */
export function assertNotLoosened(
  nodes: readonly DraftNode[],
  assigned: readonly (number | null)[],
  stored: StoredGraph,
): void {
  for (const [at, node] of nodes.entries()) {
    if (!letsAgentsAnswer(node)) continue;
    const id = assigned[at] ?? null;
    const before = id === null ? undefined : stored.nodes.get(id);
    if (before && !before.removed && letsAgentsAnswer(before.node)) continue;
    const name = node.client_id === null ? '' : ` (client_id ${JSON.stringify(node.client_id)})`;
    throw refusal(
      'FORBIDDEN',
      `${nameOf({ id: id ?? 0, node_type: node.node_type, title: node.title })}${name} would let agents answer in the place of people, which only a person may allow. Set allow_agents to false, or have a person save it.`,
      { path: `/nodes/${at}/config/allow_agents`, ...(id === null ? {} : { node_id: id }) },
    );
  }
}

function letsAgentsAnswer({ node_type, config }: Pick<GraphNode, 'node_type' | 'config'>): boolean {
  return node_type === 'task' && config.executor === 'human' && config.allow_agents === true;
}
