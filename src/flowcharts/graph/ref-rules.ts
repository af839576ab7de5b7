import type { NodeType } from '../nodes/node-type.ts';
import type { GraphNode } from './model.ts';

type Referring = Pick<GraphNode, 'node_type' | 'config'>;

/** May a save make what the node works on? A memory that only retrieves looks through all of them. */
export function isAutoRef(node: Referring, type: NodeType | undefined): boolean {
  if (!type) return false;
  if (node.node_type === 'memory') return node.config.action === 'add';
  return type.binds.ref === 'auto';
}

/** Can it not run without one? */
export function needsRef(node: Referring, type: NodeType): boolean {
  if (node.node_type === 'memory') return false;
  return type.binds.ref === 'required' || type.binds.ref === 'auto';
}
