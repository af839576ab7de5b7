import type { NodeSchema } from '../flowise/index.ts';

export interface Anchor {
  name: string;
  /** The classes it takes or gives. */
  types: string[];
  optional: boolean;
  /** Takes more than one connection. */
  list: boolean;
}

export interface NodeAnchors {
  node_type: string;
  inputs: Anchor[];
  outputs: Anchor[];
}

/** How a node can be connected; made when it is asked for, so that it is never older than the node itself. */
export function anchorsOf(node: Pick<NodeSchema, 'node_type' | 'input_anchors' | 'output_anchors'>): NodeAnchors {
  return {
    node_type: node.node_type,
    inputs: node.input_anchors.map(({ name, type, optional, list }) => ({
      name,
      types: classesOf(type),
      optional: optional === true,
      list: list === true,
    })),
    outputs: node.output_anchors.map(({ name, baseClasses }) => ({
      name,
      types: [...new Set(baseClasses)],
      optional: true,
      list: true,
    })),
  };
}

function classesOf(type: string): string[] {
  return type.split('|').map((part) => part.trim());
}
