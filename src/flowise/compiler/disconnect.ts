import type { FlowEdge, FlowNode } from '../flow/model.ts';
import { type Bench, namedNode, refuse } from './bench.ts';
import { untie } from './connections.ts';
import { handleName, sourceOutput, targetInput } from './handles.ts';
import { isAgentflowNode, mention } from './kinds.ts';
import type { PatchOp } from './ops.ts';

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
  const wanted = between.find(({ output, input }) => same(output, op.source_anchor) && same(input, op.target_anchor));
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

function same(a: string, b: string): boolean {
  return a.toLowerCase() === b.toLowerCase();
}
