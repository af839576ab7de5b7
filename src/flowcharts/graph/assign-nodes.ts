import type { GraphDraft } from './draft.ts';

export interface KnownNode {
  id: number;
  node_type: string;
  removed: boolean;
}

/**
 * Which node of the flowchart each drafted one is; null for a new one. A start node is the start node that is there,
 * whatever it was called, and a node that was removed comes back under its id.
 */
export function assignNodes(draft: GraphDraft, known: readonly KnownNode[]): (number | null)[] {
  const ids = new Set(known.map(({ id }) => id));
  const assigned = draft.nodes.map(({ id }) => (id !== null && ids.has(id) ? id : null));
  const start = known.find(({ node_type, removed }) => node_type === 'start' && !removed);
  if (start && !assigned.includes(start.id)) {
    const at = draft.nodes.findIndex(({ node_type }, place) => node_type === 'start' && assigned[place] === null);
    if (at >= 0) assigned[at] = start.id;
  }
  return assigned;
}
