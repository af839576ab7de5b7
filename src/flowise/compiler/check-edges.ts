import type { FlowEdge, FlowInput, FlowNode } from '../flow/model.ts';
import { type Findings, type FlowView, step } from './flow-view.ts';
import {
  anchorsOf,
  handleTypes,
  inputValue,
  instanceOf,
  isRecord,
  sourceOutput,
  targetInput,
  typesFit,
} from './handles.ts';
import { isAgentflowNode, isNote, mention } from './kinds.ts';
import { instancesIn } from './mentions.ts';

/** Both an edge and a reference make a connection: without the one nothing runs, without the other nothing arrives. */
export function checkEdges(view: FlowView, findings: Findings): void {
  const seen = new Set<string>();
  view.flow.edges.forEach((edge, index) => {
    checkEdge(view, edge, `/edges/${index}`, seen, findings);
  });
  view.flow.nodes.forEach((node, index) => {
    if (!isNote(node) && !isAgentflowNode(node)) checkReferences(view, node, `/nodes/${index}`, findings);
  });
}

function checkEdge(view: FlowView, edge: FlowEdge, path: string, seen: Set<string>, findings: Findings): void {
  const subject = `${edge.source} ${edge.sourceHandle} ${edge.target} ${edge.targetHandle}`;
  const source = view.byId.get(edge.source);
  const target = view.byId.get(edge.target);
  for (const [end, id, node] of [['source', edge.source, source] as const, ['target', edge.target, target] as const]) {
    if (node) continue;
    const where = { path: `${path}/${end}`, subject };
    findings.error('edge_dangling', where, `A connection names the node ${id}, which is not there; remove it.`);
  }
  if (seen.has(subject)) {
    findings.error('edge_duplicate', { path, subject }, `${edge.source} is connected twice to the same input.`);
  }
  seen.add(subject);
  if (!source || !target || isAgentflowNode(source) || isAgentflowNode(target)) return;
  checkHandles(edge, { source, target }, { path, subject }, findings);
}

function checkHandles(
  edge: FlowEdge,
  { source, target }: { source: FlowNode; target: FlowNode },
  { path, subject }: { path: string; subject: string },
  findings: Findings,
): void {
  const output = sourceOutput(source, edge);
  const end = targetInput(target, edge);
  const what = `The connection from ${mention(source)} to ${mention(target)}`;
  if (!output) {
    const message = `${what} starts at an output that is not there; connect it anew.`;
    findings.error('handle_unknown', { path: `${path}/sourceHandle`, subject }, message);
  }
  if (!end || end.input.id !== edge.targetHandle) {
    const message = `${what} ends at an input that is not there; connect it anew.`;
    findings.error('handle_unknown', { path: `${path}/targetHandle`, subject }, message);
  }
  if (output && end && !typesFit(output.id, end.input.id)) {
    const message = `${what} gives ${handleTypes(output.id).join(', ')}, but ${end.input.name} takes ${handleTypes(end.input.id).join(', ')}.`;
    findings.error('type_mismatch', { path, subject }, message);
  }
  const chosen: unknown = isRecord(source.data.outputs) ? source.data.outputs.output : undefined;
  if (output?.exclusive && chosen !== output.name) {
    const message = `${what} uses ${output.name}, but ${mention(source)} gives ${String(chosen ?? 'nothing').slice(0, 80)}; connect it anew.`;
    findings.error('output_not_chosen', { path, subject }, message);
  }
}

function checkReferences(view: FlowView, node: FlowNode, path: string, findings: Findings): void {
  const edges = view.to.get(node.id) ?? [];
  const bySlot = new Map<string, string[]>();
  for (const edge of edges) {
    const end = targetInput(node, edge);
    if (!end?.anchor) continue;
    const held = bySlot.get(end.input.name);
    if (held) held.push(edge.source);
    else bySlot.set(end.input.name, [edge.source]);
  }
  const anchors = anchorsOf(node);
  for (const anchor of anchors) checkAnchor(view, node, anchor, bySlot.get(anchor.name) ?? [], path, findings);
  const names = new Set(anchors.map((anchor) => anchor.name));
  const sources = new Set(edges.map((edge) => edge.source));
  for (const [name, value] of Object.entries(isRecord(node.data.inputs) ? node.data.inputs : {})) {
    if (!names.has(name)) checkMentions(view, { node, name, value, sources }, path, findings);
  }
}

function checkAnchor(
  view: FlowView,
  node: FlowNode,
  anchor: FlowInput,
  sources: readonly string[],
  path: string,
  findings: Findings,
): void {
  const { name } = anchor;
  const value = inputValue(node, name);
  const where = { path: `${path}/data/inputs/${step(name)}`, subject: `${node.id} ${name}` };
  const what = `${name} of ${mention(node)}`;
  if (anchor.list !== true && sources.length > 1) {
    findings.error(
      'anchor_in_use',
      where,
      `${what} takes one connection and has ${sources.length}; disconnect the others.`,
    );
  }
  if (anchor.list === true && sources.length > 0 && !Array.isArray(value)) {
    findings.error('list_expected', where, `${what} takes a list; connect it anew.`);
  }
  const held = new Set(Array.isArray(value) ? value : [value]);
  for (const source of sources) {
    if (held.has(instanceOf(source))) continue;
    const missing = { ...where, subject: `${where.subject} ${source}` };
    findings.error('reference_missing', missing, `${what} does not hold what ${source} gives; connect it anew.`);
  }
  checkMentions(view, { node, name, value, sources: new Set(sources) }, path, findings);
}

function checkMentions(
  view: FlowView,
  { node, name, value, sources }: { node: FlowNode; name: string; value: unknown; sources: ReadonlySet<string> },
  path: string,
  findings: Findings,
): void {
  for (const id of instancesIn(value)) {
    const where = { path: `${path}/data/inputs/${step(name)}`, subject: `${node.id} ${name} ${id}` };
    if (!view.byId.has(id)) {
      findings.error('reference_unknown', where, `${name} of ${mention(node)} uses ${id}, which is not there.`);
    } else if (!sources.has(id)) {
      const message = `${name} of ${mention(node)} uses ${id}, but the two are not connected; connect them.`;
      findings.error('edge_missing', where, message);
    }
  }
}
