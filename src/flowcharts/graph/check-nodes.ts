import type { NodeType } from '../nodes/node-type.ts';
import type { GraphIndex } from './graph-index.ts';
import type { GraphNode } from './model.ts';
import { type NodeTypes, normaliseConfig } from './normalise-node.ts';
import { isAutoRef, needsRef } from './ref-rules.ts';
import { SYSTEM_MCP } from './system-mcp.ts';
import { type GraphIssue, nodeIssue } from './validation.ts';

/** What keeps single nodes from running: type, reference, config, bindings. */
export function checkNodes({ graph }: GraphIndex, types: NodeTypes, areRefsToCome: boolean): GraphIssue[] {
  return graph.nodes.flatMap((node, at) => {
    const path = `/nodes/${at}`;
    const type = types.get(node.node_type);
    if (!type) return [nodeIssue('unknown_node_type', node, `${path}/node_type`, 'is of a type that does not exist')];
    return [
      ...checkRef(node, type, path, areRefsToCome),
      ...checkConfig(node, type, path),
      ...checkBindings(node, type, path),
    ];
  });
}

function checkRef(node: GraphNode, type: NodeType, path: string, areRefsToCome: boolean): GraphIssue[] {
  if (node.ref_id !== null) {
    if (type.binds.ref !== 'none') return [];
    return [nodeIssue('unexpected_ref_id', node, `${path}/ref_id`, 'refers to nothing: remove its ref_id')];
  }
  if (!needsRef(node, type) || (areRefsToCome && isAutoRef(node, type))) return [];
  const what = type.binds.ref === 'required' ? 'choose one' : 'save the graph again to have one made';
  return [nodeIssue('missing_ref_id', node, `${path}/ref_id`, `has nothing to work on: ${what}`)];
}

function checkConfig(node: GraphNode, type: NodeType, path: string): GraphIssue[] {
  const config = normaliseConfig(type, node.config).issues.map((issue) =>
    nodeIssue(
      issue.code,
      node,
      `${path}/config${issue.path}`,
      `has a config that cannot be used: ${issue.path} ${issue.message}`,
    ),
  );
  const own = (type.check?.(node) ?? []).map((issue) =>
    nodeIssue(issue.code, node, `${path}${issue.path}`, issue.message),
  );
  return [...config, ...own];
}

function checkBindings(node: GraphNode, { binds, name }: NodeType, path: string): GraphIssue[] {
  const found: GraphIssue[] = [];
  const unsupported = (key: string, what: string) =>
    found.push(nodeIssue('binding_unsupported', node, `${path}/${key}`, `takes no ${what}: remove ${key}`));
  if (!binds.mcp && name !== 'memory' && node.mcp_server_ids.length > 0) unsupported('mcp_server_ids', 'MCP server');
  if (!binds.attachments && node.attachment_ids.length > 0) unsupported('attachment_ids', 'attachments');
  if (name === 'memory' && !node.mcp_server_ids.includes(SYSTEM_MCP.id)) {
    const message = `is not bound to ${SYSTEM_MCP.server_key}: save the graph again`;
    found.push(nodeIssue('system_mcp_missing', node, `${path}/mcp_server_ids`, message));
  }
  return found;
}
