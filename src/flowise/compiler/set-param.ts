import type { FlowInput, FlowNode } from '../flow/model.ts';
import { type Bench, namedNode, refuse, suggestion, warn } from './bench.ts';
import { toolPlaceholder } from './compilation.ts';
import { anchorsOf, isRecord, paramsOf } from './handles.ts';
import { mention } from './kinds.ts';
import type { PatchOp } from './ops.ts';
import { checkValue } from './values.ts';

export function setParam(bench: Bench, op: Extract<PatchOp, { op_type: 'set_param' }>, path: string): void {
  const node = namedNode(bench, op.node_id, `${path}/node_id`);
  if (node) putValue(bench, node, op.param_name, op.value, { name: `${path}/param_name`, value: `${path}/value` });
}

/** Puts a value into an input of a node, if the node has it and the value fits. Only that one place changes. */
export function putValue(
  bench: Bench,
  node: FlowNode,
  name: string,
  value: unknown,
  paths: { name: string; value: string },
): void {
  const params = paramsNamed(bench, node, name, paths.name);
  if (!params) return;
  const checked = checkValue(params, value);
  if ('problem' in checked) {
    refuse(bench, checked.code, paths.value, `${name} of ${mention(node)} ${checked.problem}.`);
    return;
  }
  const tool = unknownTool(bench, checked.value);
  if (tool !== null) {
    refuse(bench, 'tool_unknown', paths.value, `No create_tool before this one has the tool_ref ${tool}.`);
    return;
  }
  bench.canvas.setInput(node.id, name, checked.value);
}

/** The definitions a value has to fit; empty when the flow holds such an input without one; null when refused. */
function paramsNamed(bench: Bench, node: FlowNode, name: string, path: string): FlowInput[] | null {
  const own = paramsOf(node).filter((param) => param.name === name);
  if (name === 'credential' && (own.length === 0 || own.some((param) => param.type === 'credential'))) {
    refuse(bench, 'param_unknown', path, `Credentials are bound with bind_credential, not with a parameter.`);
    return null;
  }
  if (own.length > 0) return own;
  if (anchorsOf(node).some((anchor) => anchor.name === name)) {
    refuse(bench, 'param_is_anchor', path, `${name} of ${mention(node)} is connected, not filled in; use connect.`);
    return null;
  }
  const newer = bench.schemas.get(String(node.data.name))?.input_params.filter((param) => param.name === name) ?? [];
  if (newer.length > 0) {
    warn(bench, 'param_newer', path, `${mention(node)} is of an older version that does not show ${name} yet.`);
    return newer;
  }
  if (isRecord(node.data.inputs) && Object.hasOwn(node.data.inputs, name)) {
    if (!isConfigOf(node, name)) {
      warn(bench, 'param_undeclared', path, `${mention(node)} holds ${name}, but its definition does not know it.`);
    }
    return [];
  }
  const names = paramsOf(node).flatMap((param) => (param.type === 'credential' ? [] : [param.name]));
  const help = suggestion(bench, name, names);
  refuse(bench, 'param_unknown', path, `${mention(node)} has no parameter ${name}${help}.`);
  return null;
}

/** Agentflow nodes keep the settings of a chosen component in `<parameter>Config`. */
function isConfigOf(node: FlowNode, name: string): boolean {
  return name.endsWith('Config') && paramsOf(node).some((param) => `${param.name}Config` === name);
}

const TOOL = toolPlaceholder('');

function unknownTool(bench: Bench, value: unknown): string | null {
  if (typeof value !== 'string' || !value.startsWith(TOOL)) return null;
  const ref = value.slice(TOOL.length);
  return bench.tools.some((tool) => tool.tool_ref === ref) ? null : ref;
}
