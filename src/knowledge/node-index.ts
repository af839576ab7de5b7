import type { NodeSchema } from '../flowise/index.ts';

/** Node types by name, and by name without regard to case, since models like to capitalise them. */
export interface NodeIndex {
  exact: ReadonlyMap<string, NodeSchema>;
  /** More than one where names only differ in case. */
  folded: ReadonlyMap<string, readonly string[]>;
  names: readonly string[];
}

export function indexNodes(nodes: Iterable<NodeSchema>): NodeIndex {
  const exact = new Map<string, NodeSchema>();
  const folded = new Map<string, string[]>();
  for (const node of nodes) {
    if (!exact.has(node.node_type)) {
      const name = node.node_type.toLowerCase();
      const same = folded.get(name);
      if (same) same.push(node.node_type);
      else folded.set(name, [node.node_type]);
    }
    exact.set(node.node_type, node);
  }
  return { exact, folded, names: Object.freeze([...exact.keys()]) };
}

/** The exact one, else the only one that differs in case. */
export function lookUp(index: NodeIndex, nodeType: string): NodeSchema | null {
  const found = index.exact.get(nodeType);
  if (found) return found;
  const same = index.folded.get(nodeType.toLowerCase()) ?? [];
  return same.length === 1 ? (index.exact.get(same[0] as string) ?? null) : null;
}

/** Enough to be handed out; anything else in a snapshot is left aside. */
export function isNodeSchema(item: unknown): item is NodeSchema {
  if (item === null || typeof item !== 'object') return false;
  const { node_type, input_anchors, input_params, output_anchors } = item as Partial<NodeSchema>;
  return (
    typeof node_type === 'string' &&
    Array.isArray(input_anchors) &&
    Array.isArray(input_params) &&
    Array.isArray(output_anchors)
  );
}
