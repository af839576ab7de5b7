import type { Issue } from '../../kernel/errors.ts';
import type { DraftEdge, DraftNode, GraphDraft } from './draft.ts';
import { MAX_EDGES, MAX_ISSUES, MAX_NODES } from './limits.ts';
import { normaliseEdge } from './normalise-edge.ts';
import { type NodeTypes, normaliseNode } from './normalise-node.ts';

export interface NormaliseOptions {
  types: NodeTypes;
  /** The start node that the flowchart has: one that is sent without an id is this one. */
  startNodeId?: number | null;
}

/**
 * A sent graph as it will be stored, or everything that is wrong with it: shapes, ids, types, configs, bindings, modes.
 * What a well-formed graph means is judged elsewhere and never refused.
 */
export function normaliseGraph(
  raw: { nodes?: unknown; edges?: unknown },
  options: NormaliseOptions,
): { draft: GraphDraft; issues: Issue[] } {
  const issues: Issue[] = [];
  const lists = {
    nodes: list(raw.nodes, 'nodes', MAX_NODES, issues),
    edges: list(raw.edges, 'edges', MAX_EDGES, issues),
  };
  const tokens = new Map<string, number>();
  const nodes: DraftNode[] = [];
  for (const [at, item] of lists.nodes.entries()) {
    if (issues.length >= MAX_ISSUES) break;
    const node = normaliseNode(item, `/nodes/${at}`, options.types, issues) ?? unreadable();
    nodes.push(node);
    nameNode(node, at, tokens, issues);
  }
  aliasStart(nodes, tokens, options.startNodeId ?? null);
  const edges: DraftEdge[] = [];
  const seen = new Map<string, number>();
  for (const [at, item] of lists.edges.entries()) {
    if (issues.length >= MAX_ISSUES) break;
    const edge = normaliseEdge(item, `/edges/${at}`, (token) => tokens.get(token), issues);
    if (!edge) continue;
    edges.push(edge);
    nameEdge(edge, at, seen, issues);
  }
  return { draft: { nodes, edges }, issues: issues.slice(0, MAX_ISSUES) };
}

function list(value: unknown, key: string, maximum: number, issues: Issue[]): unknown[] {
  if (!Array.isArray(value)) {
    issues.push({ code: 'graph_shape_invalid', message: 'must be a list', path: `/${key}` });
    return [];
  }
  if (value.length > maximum) {
    issues.push({ code: 'graph_too_large', message: `must have at most ${maximum} items`, path: `/${key}` });
    return [];
  }
  return value;
}

/** Keeps its place, so that edges to later nodes are still resolved and reported rightly. */
function unreadable(): DraftNode {
  const nothing = { ref_id: undefined, mcp_server_ids: undefined, attachment_ids: undefined };
  return { id: null, client_id: null, node_type: '', title: null, x: 0, y: 0, config: {}, ...nothing };
}

function nameNode(node: DraftNode, at: number, tokens: Map<string, number>, issues: Issue[]): void {
  for (const [key, token] of [
    ['id', node.id],
    ['client_id', node.client_id],
  ] as const) {
    if (token === null) continue;
    const other = tokens.get(String(token));
    if (other === undefined) tokens.set(String(token), at);
    else if (other !== at) {
      issues.push({
        code: 'node_id_duplicate',
        message: `is also that of /nodes/${other}`,
        path: `/nodes/${at}/${key}`,
      });
    }
  }
}

function nameEdge(edge: DraftEdge, at: number, seen: Map<string, number>, issues: Issue[]): void {
  for (const [key, token] of [
    ['id', edge.id],
    ['client_id', edge.client_id],
  ] as const) {
    if (token === null) continue;
    const name = `${key} ${token}`;
    const other = seen.get(name);
    if (other === undefined) seen.set(name, at);
    else
      issues.push({
        code: 'edge_id_duplicate',
        message: `is also that of /edges/${other}`,
        path: `/edges/${at}/${key}`,
      });
  }
}

/** A start node without an id is the one that is there, so edges may call it by that id. */
function aliasStart(nodes: readonly DraftNode[], tokens: Map<string, number>, startNodeId: number | null): void {
  if (startNodeId === null || tokens.has(String(startNodeId))) return;
  const at = nodes.findIndex(({ node_type }) => node_type === 'start');
  if (at >= 0) tokens.set(String(startNodeId), at);
}
