import type { FlowData, FlowNode } from '../../../src/flowise/flow/model.ts';

export interface ValidationEntry {
  id: string;
  label: string;
  name: string;
  issues: string[];
}

/** GET /validation, faults included: a chatflow's credential counts as missing even where it is bound. */
export function validate(flowData: string): ValidationEntry[] {
  const { nodes, edges } = JSON.parse(flowData) as FlowData;
  const entries: ValidationEntry[] = [];
  for (const node of nodes) {
    if (node.data.name === 'stickyNote' || node.data.name === 'stickyNoteAgentflow') continue;
    const issues: string[] = [];
    if (!edges.some(({ source, target }) => source === node.id || target === node.id)) {
      issues.push('This node is not connected to anything');
    }
    for (const param of node.data.inputParams ?? []) {
      if (param.optional || param.show !== undefined || param.hide !== undefined) continue;
      const value = node.data.inputs?.[param.name];
      if (value === undefined || value === null || value === '') issues.push(`${param.label} is required`);
    }
    if (issues.length > 0) entries.push({ id: node.id, label: node.data.label, name: node.data.name, issues });
  }
  for (const edge of edges) {
    if (nodes.some(({ id }) => id === edge.source) && nodes.some(({ id }) => id === edge.target)) continue;
    entries.push({
      id: edge.id,
      label: `Edge ${edge.id}`,
      name: 'edge',
      issues: ['Disconnected edge - missing source or target'],
    });
  }
  return entries;
}

const ENDING_CATEGORIES = ['Chains', 'Agents', 'Engine', 'Multi Agents', 'Sequential Agents'];

/** The nodes a flow answers from, or the sentence why there is none. */
export function endingNodes({ nodes, edges }: FlowData): FlowNode[] | string {
  const last = nodes.filter(
    ({ id }) =>
      nodes.length === 1 || (!edges.some(({ source }) => source === id) && edges.some(({ target }) => target === id)),
  );
  const fit = last.filter(
    ({ data }) => data.outputs?.output === 'EndingNode' || ENDING_CATEGORIES.includes(String(data.category)),
  );
  if (fit.length > 0) return fit;
  return last.length > 0 ? 'Ending node must be either a Chain or Agent or Engine' : 'Ending nodes not found';
}

/** Everything that leads to a node, itself included, sources first. */
export function upstream(flow: FlowData, from: FlowNode): FlowNode[] {
  const order: FlowNode[] = [];
  const seen = new Set<string>();
  const visit = (node: FlowNode) => {
    if (seen.has(node.id)) return;
    seen.add(node.id);
    for (const { source, target } of flow.edges) {
      if (target !== node.id) continue;
      const next = flow.nodes.find(({ id }) => id === source);
      if (next) visit(next);
    }
    order.push(node);
  };
  visit(from);
  return order;
}
