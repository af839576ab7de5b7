import type { FlowInput, FlowNode } from '../flow/model.ts';
import { type Bench, namedNode, refuse, suggestion, warn } from './bench.ts';
import { tie } from './connections.ts';
import {
  anchorsOf,
  handleTypes,
  inputValue,
  type Output,
  outputsOf,
  paramsOf,
  sourceOutput,
  typesFit,
} from './handles.ts';
import { isAgentflowNode, mention } from './kinds.ts';
import { instancesIn } from './mentions.ts';
import type { PatchOp } from './ops.ts';
import { resolveInput, resolveOutput } from './resolve-anchor.ts';

type Connect = Extract<PatchOp, { op_type: 'connect' }>;
interface Ends {
  source: FlowNode;
  target: FlowNode;
  output: Output;
  input: FlowInput;
  /** The input is a text that may use the other's result as a variable. */
  text: boolean;
}

export function connect(bench: Bench, op: Connect, path: string): void {
  const source = namedNode(bench, op.source_node_id, `${path}/source_node_id`);
  const target = namedNode(bench, op.target_node_id, `${path}/target_node_id`);
  if (!source || !target) return;
  if (isAgentflowNode(source) || isAgentflowNode(target)) {
    refuse(bench, 'agentflow_unsupported', path, 'Nodes of Agentflow v2 cannot be connected here yet; use Flowise.');
    return;
  }
  const ends = resolveEnds(bench, op, source, target, path);
  if (!ends || !mayConnect(bench, ends, path)) return;
  const { output, input, text } = ends;
  const edge = {
    source: source.id,
    sourceHandle: output.id,
    target: target.id,
    targetHandle: input.id,
    type: 'buttonedge',
    id: `${source.id}-${output.id}-${target.id}-${input.id}`,
  };
  tie(bench, edge, { name: input.name, list: input.list === true, text }, output.exclusive ? output.name : null);
  if (text && !instancesIn(inputValue(target, input.name)).has(source.id)) {
    const hint = `${input.name} of ${mention(target)} does not use it yet: write {{${source.id}.data.instance}} there.`;
    warn(bench, 'variable_unused', path, hint);
  }
}

/** The two anchors; a handle is never made up. */
function resolveEnds(bench: Bench, op: Connect, source: FlowNode, target: FlowNode, path: string): Ends | null {
  const outputs = outputsOf(source);
  const anchors = anchorsOf(target);
  const params = paramsOf(target).filter((param) => param.acceptVariable === true);
  const handles = outputs.map((output) => output.id);
  const input = resolveInput(anchors, params, op.target_anchor, handles);
  if (!input) {
    const names = [...anchors, ...params].map((anchor) => anchor.name);
    unknownAnchor(bench, { node: target, side: 'input', wanted: op.target_anchor, names }, `${path}/target_anchor`);
  }
  const output = resolveOutput(outputs, op.source_anchor, input?.anchor.id ?? '');
  if (!output) {
    const names = outputs.map((anchor) => anchor.name);
    unknownAnchor(bench, { node: source, side: 'output', wanted: op.source_anchor, names }, `${path}/source_anchor`);
  }
  if (!input || !output) return null;
  count(bench, op, input, output, path);
  return { source, target, output: output.anchor, input: input.anchor, text: !anchors.includes(input.anchor) };
}

function count(
  bench: Bench,
  op: Connect,
  input: NonNullable<ReturnType<typeof resolveInput>>,
  output: NonNullable<ReturnType<typeof resolveOutput>>,
  path: string,
): void {
  const { metrics } = bench;
  metrics.total_connections += 1;
  const ends = [
    { node: op.source_node_id, anchor: op.source_anchor, found: output, at: `${path}/source_anchor` },
    { node: op.target_node_id, anchor: op.target_anchor, found: input, at: `${path}/target_anchor` },
  ];
  const fuzzy = ends.filter(({ found }) => found.pass !== 'exact_name');
  if (fuzzy.length === 0) metrics.exact_name_matches += 1;
  else metrics.fuzzy_fallbacks += 1;
  for (const { node, anchor, found, at } of fuzzy) {
    metrics.fuzzy_details.push({ node, anchor, resolved_to: found.anchor.name, pass: found.pass });
    warn(bench, 'anchor_resolved', at, `${node} has no ${anchor}; ${found.anchor.name} was taken (${found.pass}).`);
  }
}

function unknownAnchor(
  bench: Bench,
  { node, side, wanted, names }: { node: FlowNode; side: 'input' | 'output'; wanted: string; names: string[] },
  path: string,
): void {
  const known = names.length > 0 ? `It has ${names.join(', ')}` : `It has no ${side} to connect`;
  const help = suggestion(bench, wanted, names);
  refuse(bench, 'anchor_unknown', path, `${mention(node)} has no ${side} ${wanted}. ${known}${help}.`);
}

function mayConnect(bench: Bench, ends: Ends, path: string): boolean {
  const problem = mismatch(ends) ?? alreadyThere(bench, ends) ?? otherOutput(bench, ends) ?? circle(bench, ends);
  if (!problem) return true;
  refuse(bench, problem.code, path, problem.message);
  return false;
}

interface Problem {
  code: string;
  message: string;
}

function mismatch({ source, target, output, input }: Ends): Problem | null {
  if (typesFit(output.id, input.id)) return null;
  const fitting = outputsOf(source).filter((other) => typesFit(other.id, input.id));
  const instead = fitting.length > 0 ? ` Its output ${fitting.map((other) => other.name).join(', ')} would fit.` : '';
  const gives = `${output.name} of ${mention(source)} is ${handleTypes(output.id).join(', ')}`;
  const takes = `${input.name} of ${mention(target)} takes ${handleTypes(input.id).join(', ')}`;
  return { code: 'type_mismatch', message: `${gives}, but ${takes}.${instead}` };
}

function alreadyThere(bench: Bench, { source, target, output, input }: Ends): Problem | null {
  const held = [...bench.canvas.edgesTo(target.id)].filter((edge) => edge.targetHandle === input.id);
  const same = held.some((edge) => edge.source === source.id && edge.sourceHandle === output.id);
  const what = `${input.name} of ${mention(target)}`;
  if (same) return { code: 'connection_exists', message: `${mention(source)} is connected to ${what} already.` };
  const first = held[0];
  if (input.list === true || !first) return null;
  const message = `${what} takes one connection and has that of ${first.source}; disconnect it first.`;
  return { code: 'anchor_in_use', message };
}

/** A node that offers a choice gives one output at a time: the other would get the wrong thing. */
function otherOutput(bench: Bench, { source, output }: Ends): Problem | null {
  if (!output.exclusive) return null;
  for (const edge of bench.canvas.edgesFrom(source.id)) {
    const other = sourceOutput(source, edge);
    if (!other?.exclusive || other.name === output.name) continue;
    const message = `${mention(source)} already gives ${other.name} to ${edge.target} and gives one output at a time; disconnect that, or add a second node.`;
    return { code: 'output_in_use', message };
  }
  return null;
}

function circle(bench: Bench, { source, target }: Ends): Problem | null {
  const seen = new Set<string>();
  const open = [target.id];
  for (let id = open.pop(); id !== undefined; id = open.pop()) {
    if (id === source.id) {
      const message = `${mention(source)} already depends on ${mention(target)}: connecting them would make a circle.`;
      return { code: 'circle', message };
    }
    if (seen.has(id)) continue;
    seen.add(id);
    for (const edge of bench.canvas.edgesFrom(id)) open.push(edge.target);
  }
  return null;
}
