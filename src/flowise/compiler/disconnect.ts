import type { FlowEdge, FlowNode } from '../flow/model.ts';
import { type Bench, namedNode, refuse } from './bench.ts';
import { untie } from './connections.ts';
import { anchorsOf, handleName, outputsOf, paramsOf, sourceOutput, targetInput } from './handles.ts';
import { isAgentflowNode, mention } from './kinds.ts';
import type { PatchOp } from './ops.ts';
import { resolveInput, resolveOutput } from './resolve-anchor.ts';

type Disconnect = Extract<PatchOp, { op_type: 'disconnect' }>;

export function disconnect(bench: Bench, op: Disconnect, path: string): void {
  const source = namedNode(bench, op.source_node_id, `${path}/source_node_id`);
  const target = namedNode(bench, op.target_node_id, `${path}/target_node_id`);
  if (!source || !target) return;
  if (isAgentflowNode(source) || isAgentflowNode(target)) {
    refuse(bench, 'agentflow_unsupported', path, 'Nodes of Agentflow v2 cannot be disconnected here yet; use Flowise.');
    return;
  }
  const between = [...bench.canvas.edgesFrom(source.id)]
    .filter((edge) => edge.target === target.id)
    .map((edge) => ({ edge, ...namesOf(edge, source, target) }));
  const wanted =
    between.find(({ output, input }) => same(output, op.source_anchor) && same(input, op.target_anchor)) ??
    resolved(op, source, target, between);
  if (wanted) {
    untie(bench, wanted.edge);
    return;
  }
  const names = between.map(({ output, input }) => `${output} to ${input}`);
  const known = names.length > 0 ? `Between them there is ${names.join(', ')}` : 'They are not connected';
  const what = `${op.source_anchor} of ${mention(source)} is not connected to ${op.target_anchor} of ${mention(target)}`;
  refuse(bench, 'connection_unknown', path, `${what}. ${known}.`);
}

function namesOf(edge: FlowEdge, source: FlowNode, target: FlowNode): { output: string; input: string } {
  return {
    output: sourceOutput(source, edge)?.name ?? handleName(String(edge.sourceHandle ?? ''), source.id, 'output'),
    input: targetInput(target, edge)?.input.name ?? handleName(String(edge.targetHandle ?? ''), target.id, 'input'),
  };
}

/** Words that connect understood are understood here too. */
function resolved<T extends { edge: FlowEdge }>(
  op: Disconnect,
  source: FlowNode,
  target: FlowNode,
  between: readonly T[],
): T | undefined {
  const outputs = outputsOf(source);
  const params = paramsOf(target).filter((param) => param.acceptVariable === true);
  const handles = outputs.map((output) => output.id);
  const input = resolveInput(anchorsOf(target), params, op.target_anchor, handles);
  const output = input && resolveOutput(outputs, op.source_anchor, input.anchor.id);
  if (!input || !output) return undefined;
  return between.find(({ edge }) => edge.sourceHandle === output.anchor.id && edge.targetHandle === input.anchor.id);
}

function same(a: string, b: string): boolean {
  return a.toLowerCase() === b.toLowerCase();
}
