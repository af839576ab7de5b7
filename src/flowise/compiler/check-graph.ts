import type { FlowNode } from '../flow/model.ts';
import type { Findings, FlowView } from './flow-view.ts';
import { anchorsOf, isRecord, targetInput } from './handles.ts';
import { isAgentflowNode, isNote, mention } from './kinds.ts';

/** What Flowise lets a chatflow end in. */
const ENDING_CATEGORIES = new Set(['Chains', 'Agents', 'Engine', 'Multi Agents', 'Sequential Agents']);

export function checkGraph(view: FlowView, findings: Findings): void {
  const nodes = view.flow.nodes.filter((node) => !isNote(node));
  if (view.agentflow) {
    checkAgentflow(view, nodes, findings);
    return;
  }
  checkEnding(view, nodes, findings);
  checkCircles(view, nodes, findings);
  view.flow.nodes.forEach((node, index) => {
    if (isNote(node)) return;
    checkAlone(view, node, nodes.length, `/nodes/${index}`, findings);
    checkDocuments(view, node, `/nodes/${index}`, findings);
  });
}

function checkAgentflow(view: FlowView, nodes: readonly FlowNode[], findings: Findings): void {
  const other = nodes.find((node) => !isAgentflowNode(node));
  if (other) {
    const message = `${mention(other)} is a node of chatflows; it cannot stand in an agentflow.`;
    findings.error('mixed_flow', { path: '/nodes', subject: other.id }, message);
  }
  if (!nodes.some((node) => node.data.name === 'startAgentflow')) {
    findings.incomplete(
      'start_missing',
      { path: '/nodes', subject: '' },
      'The agentflow has no Start node to begin at.',
    );
  }
  view.flow.nodes.forEach((node, index) => {
    const parent = node.parentNode;
    if (typeof parent !== 'string' || view.byId.has(parent)) return;
    const message = `${mention(node)} stands inside ${parent}, which is not there.`;
    findings.error('parent_missing', { path: `/nodes/${index}/parentNode`, subject: node.id }, message);
  });
}

/** The server starts from the nodes that receive and give nothing on; one of them has to be able to answer. */
function checkEnding(view: FlowView, nodes: readonly FlowNode[], findings: Findings): void {
  const where = { path: '/nodes', subject: '' };
  if (nodes.length === 0) {
    findings.warning('flow_empty', where, 'The flow has no nodes yet; add some.');
    return;
  }
  const only = nodes.length === 1;
  const ends = nodes.filter((node) => only || (!view.from.has(node.id) && view.to.has(node.id)));
  if (ends.some(isEnding)) return;
  const found = ends[0];
  const what = found ? `It ends in ${mention(found)}` : 'Nothing is connected';
  const message = `${what}; a chatflow has to end in a chain, an agent or an engine.`;
  findings.incomplete('ending_missing', where, message);
}

function isEnding({ data }: FlowNode): boolean {
  const output: unknown = isRecord(data.outputs) ? data.outputs.output : undefined;
  return output === 'EndingNode' || ENDING_CATEGORIES.has(String(data.category));
}

/** Takes away what waits for nothing until nothing is left; what stays is in a circle, or behind one. */
function checkCircles(view: FlowView, nodes: readonly FlowNode[], findings: Findings): void {
  const waiting = new Map(nodes.map(({ id }) => [id, 0]));
  for (const { source, target } of view.flow.edges) {
    if (waiting.has(source) && waiting.has(target)) waiting.set(target, (waiting.get(target) ?? 0) + 1);
  }
  const ready = [...waiting].flatMap(([id, count]) => (count === 0 ? [id] : []));
  for (let id = ready.pop(); id !== undefined; id = ready.pop()) {
    waiting.delete(id);
    for (const { target } of view.from.get(id) ?? []) {
      const left = (waiting.get(target) ?? 0) - 1;
      if (waiting.has(target)) waiting.set(target, left);
      if (left === 0) ready.push(target);
    }
  }
  const [stuck] = waiting.keys();
  if (stuck === undefined) return;
  const message = `${stuck} depends on itself through its connections; disconnect one of them.`;
  findings.error('circle', { path: '/edges', subject: '' }, message);
}

function checkAlone(view: FlowView, node: FlowNode, count: number, path: string, findings: Findings): void {
  if (count < 2 || view.from.has(node.id) || view.to.has(node.id)) return;
  const message = `${mention(node)} is connected to nothing; connect it or remove it.`;
  findings.warning('node_unconnected', { path, subject: node.id }, message);
}

/** An index that lives elsewhere may be full already; one in memory is empty without documents. */
function checkDocuments(view: FlowView, node: FlowNode, path: string, findings: Findings): void {
  if (node.data.category !== 'Vector Stores') return;
  const anchor = anchorsOf(node).find(({ name }) => name === 'document');
  if (!anchor) return;
  if ((view.to.get(node.id) ?? []).some((edge) => targetInput(node, edge)?.input === anchor)) return;
  const where = { path, subject: node.id };
  if (node.data.name === 'memoryVectorStore') {
    const message = `${mention(node)} holds nothing without documents; connect a document loader.`;
    findings.incomplete('documents_missing', where, message);
  } else {
    const message = `${mention(node)} has no documents to store; it only finds what is in the index already.`;
    findings.warning('documents_missing', where, message);
  }
}
