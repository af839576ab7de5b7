import type { Issue } from '../../kernel/errors.ts';
import type { GraphNode } from './model.ts';

/** Something about a graph that keeps it from running, or that its owner should know. */
export interface GraphIssue extends Issue {
  node_id?: number;
  edge_id?: number;
}

export interface Validation {
  valid: boolean;
  errors: GraphIssue[];
  warnings: GraphIssue[];
}

/** Nodes and edges that are only drafted have ids below 0; nobody knows those, so they are not told. */
export function nodeIssue(code: string, node: GraphNode, path: string, message: string): GraphIssue {
  const sentence = `${nameOf(node)} ${message}`;
  return node.id > 0 ? { code, message: sentence, path, node_id: node.id } : { code, message: sentence, path };
}

export function edgeIssue(code: string, edgeId: number, path: string, message: string): GraphIssue {
  const isKnown = edgeId > 0;
  const sentence = `${isKnown ? `Connector ${edgeId}` : 'A connector'} ${message}`;
  return isKnown ? { code, message: sentence, path, edge_id: edgeId } : { code, message: sentence, path };
}

export function nameOf({ id, node_type, title }: Pick<GraphNode, 'id' | 'node_type' | 'title'>): string {
  if (id > 0) return `Node ${id} (${node_type})`;
  return title === null ? `A ${node_type} node` : `The ${node_type} node ${JSON.stringify(title)}`;
}
