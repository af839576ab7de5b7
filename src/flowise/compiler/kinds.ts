import { hideSecretsInText } from '../../kernel/secret-text.ts';
import type { FlowData, FlowNode } from '../flow/model.ts';

export const AGENTFLOW_CATEGORY = 'Agent Flows';

/** A note for people; Flowise runs past it. */
export function isNote(node: FlowNode): boolean {
  return node.type === 'stickyNote' || node.data.type === 'StickyNote';
}

/** A node of Agentflow v2, which connects nodes by other rules than chatflows do. */
export function isAgentflowNode(node: FlowNode): boolean {
  if (isNote(node)) return false;
  return node.type === 'agentFlow' || node.type === 'iteration' || node.data.category === AGENTFLOW_CATEGORY;
}

export function isAgentflow(flow: FlowData): boolean {
  return flow.nodes.some(isAgentflowNode);
}

/** A node as people know it. People type secrets anywhere, so a label is cut and searched too. */
export function mention(node: FlowNode): string {
  const label = typeof node.data.label === 'string' ? node.data.label : '';
  return label !== '' && label !== node.id ? `${node.id} (${hideSecretsInText(label).slice(0, 60)})` : node.id;
}
