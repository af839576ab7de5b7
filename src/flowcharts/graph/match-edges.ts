import { isGeneratedKey } from './decision-conditions.ts';
import type { GraphEdge } from './model.ts';

/** A connector as sent, its ends known. */
export interface SentEdge extends Omit<GraphEdge, 'id'> {
  id: number | null;
}

/**
 * Which stored connector each sent one is, so that ids survive a save. An id decides; else an equal connector that
 * nobody else claimed, the first one first. A connector of a decision that is sent without its key keeps the one it has.
 */
export function matchEdges(
  sent: readonly SentEdge[],
  stored: readonly GraphEdge[],
  isDecision: (nodeId: number) => boolean,
): SentEdge[] {
  const byId = new Map(stored.map((edge) => [edge.id, edge]));
  const claimed = new Set<number>();
  for (const { id } of sent) if (id !== null && byId.has(id)) claimed.add(id);
  const free = stored.filter(({ id }) => !claimed.has(id));
  const exact = queues(free, (edge) => likeness(edge, edge.condition_key));
  const open = queues(
    free.filter(({ condition_key }) => isGeneratedKey(condition_key)),
    (edge) => likeness(edge, null),
  );
  const find = (edge: SentEdge): GraphEdge | undefined => {
    const known = edge.id === null ? undefined : byId.get(edge.id);
    if (known) return known;
    const equal = next(exact.get(likeness(edge, edge.condition_key)), claimed);
    return equal ?? (edge.condition_key === null ? next(open.get(likeness(edge, null)), claimed) : undefined);
  };
  return sent.map((edge) => {
    const found = find(edge);
    if (!found) return { ...edge, id: null };
    claimed.add(found.id);
    const keeps = edge.condition_key === null && edge.edge_mode === 'solid' && isDecision(edge.source_node_id);
    return { ...edge, id: found.id, condition_key: keeps ? found.condition_key : edge.condition_key };
  });
}

/** Stored connectors by id; new ones after them, as they were sent. */
export function inOrder(edges: readonly SentEdge[]): SentEdge[] {
  const kept = edges.filter(({ id }) => id !== null).sort((left, right) => Number(left.id) - Number(right.id));
  return [...kept, ...edges.filter(({ id }) => id === null)];
}

function likeness(edge: Omit<GraphEdge, 'id'>, key: string | null): string {
  const { source_node_id, target_node_id, source_handle_id, target_handle_id, edge_mode } = edge;
  return JSON.stringify([source_node_id, target_node_id, edge_mode, key, source_handle_id, target_handle_id]);
}

interface Queue {
  edges: GraphEdge[];
  at: number;
}

function queues(edges: readonly GraphEdge[], keyOf: (edge: GraphEdge) => string): Map<string, Queue> {
  const found = new Map<string, Queue>();
  for (const edge of edges) {
    const key = keyOf(edge);
    const queue = found.get(key);
    if (queue) queue.edges.push(edge);
    else found.set(key, { edges: [edge], at: 0 });
  }
  return found;
}

function next(queue: Queue | undefined, claimed: ReadonlySet<number>): GraphEdge | undefined {
  while (queue && queue.at < queue.edges.length) {
    const edge = queue.edges[queue.at] as GraphEdge;
    queue.at += 1;
    if (!claimed.has(edge.id)) return edge;
  }
  return undefined;
}
