import type { FlowData, FlowEdge, FlowNode } from '../flow/model.ts';
import type { NodeSchema, NodeSchemas } from '../node-schema.ts';
import { buildNode } from './build-node.ts';
import {
  anchorsOf,
  handleName,
  inputValue,
  instanceOf,
  isRecord,
  outputsOf,
  paramsOf,
  sourceOutput,
  targetInput,
} from './handles.ts';
import { isAgentflowNode, isNote } from './kinds.ts';
import type { PatchOp } from './ops.ts';
import { resolveInput, resolveOutput } from './resolve-anchor.ts';
import { checkValue } from './values.ts';

/** A flow as operations from nothing, on the node types of today. */
export interface Rebuild {
  ops: PatchOp[];
  /** What is called otherwise today: ids, outputs and inputs of connections. */
  mapped: { node: string; what: 'id' | 'output' | 'input'; from: string; to: string }[];
  /** What has no place today. */
  dropped: { node: string; what: 'node' | 'param' | 'connection'; name: string; reason: string }[];
}

/**
 * Writes a flow anew: every node as the current definition has it, with the values that still fit. Useful for templates
 * and old flows, whose nodes were made by earlier versions.
 */
export function opsFor(flow: FlowData, schemas: NodeSchemas): Rebuild {
  const rebuild: Rebuild = { ops: [], mapped: [], dropped: [] };
  const ids = newIds(flow, rebuild);
  const built = new Map<string, FlowNode>();
  const last: PatchOp[] = [];
  for (const node of flow.nodes) {
    const schema = schemas.get(String(node.data.name));
    const id = ids.get(node) ?? node.id;
    if (!schema || isAgentflowNode(node)) {
      const reason = schema ? 'Agentflow v2 is not rebuilt' : 'there is no such node type';
      rebuild.dropped.push({ node: node.id, what: 'node', name: String(node.data.name), reason });
      continue;
    }
    built.set(node.id, buildNode(schema, id, undefined));
    rebuild.ops.push(addNodeOp(node, schema, id, renaming(flow, ids), rebuild));
    const { credential } = node.data;
    if (typeof credential !== 'string' || credential === '' || !schema.credential) continue;
    last.push({ op_type: 'bind_credential', node_id: id, credential_id: credential });
  }
  const olds = new Map(flow.nodes.map((node) => [node.id, node]));
  for (const edge of inListOrder(flow, olds)) {
    const op = connectOp(edge, olds, built, rebuild);
    if (op) rebuild.ops.push(op);
  }
  rebuild.ops.push(...last);
  return rebuild;
}

/** Ids without dashes, each only once. */
function newIds(flow: FlowData, rebuild: Rebuild): Map<FlowNode, string> {
  const taken = new Set(flow.nodes.map((node) => node.id));
  const ids = new Map<FlowNode, string>();
  for (const node of flow.nodes) {
    if (/^[A-Za-z0-9_]+$/.test(node.id)) {
      ids.set(node, node.id);
      continue;
    }
    const stem = node.id.replaceAll(/[^A-Za-z0-9_]+/g, '_');
    let id = stem;
    for (let count = 1; taken.has(id); count++) id = `${stem}_${count}`;
    taken.add(id);
    ids.set(node, id);
    rebuild.mapped.push({ node: id, what: 'id', from: node.id, to: id });
  }
  return ids;
}

function renaming(flow: FlowData, ids: ReadonlyMap<FlowNode, string>): (value: unknown) => unknown {
  const changed = flow.nodes.filter((node) => ids.get(node) !== node.id);
  return (value) => {
    if (typeof value !== 'string' || changed.length === 0) return value;
    return changed.reduce(
      (text, node) => text.replaceAll(instanceOf(node.id), instanceOf(ids.get(node) ?? node.id)),
      value,
    );
  };
}

function addNodeOp(
  node: FlowNode,
  schema: NodeSchema,
  id: string,
  renamed: (value: unknown) => unknown,
  rebuild: Rebuild,
): PatchOp {
  const params: Record<string, unknown> = {};
  const initial = buildNode(schema, id, undefined);
  for (const [name, held] of Object.entries(isRecord(node.data.inputs) ? node.data.inputs : {})) {
    const value = renamed(held);
    if (isUnchanged(initial, name, value) || schema.input_anchors.some((anchor) => anchor.name === name)) continue;
    const fitting = paramsOf(initial).filter((param) => param.name === name && param.type !== 'credential');
    const checked = fitting.length > 0 ? checkValue(fitting, value) : null;
    if (checked && 'value' in checked) params[name] = checked.value;
    else {
      const reason = checked ? checked.problem : 'the node has no such parameter today';
      rebuild.dropped.push({ node: id, what: 'param', name, reason });
    }
  }
  const { position } = node;
  const label: unknown = node.data.label;
  return {
    op_type: 'add_node',
    node_name: schema.node_type,
    node_id: id,
    ...(typeof label === 'string' && label !== '' ? { label: label.slice(0, 200) } : {}),
    ...(isPosition(position) ? { position: { x: position.x, y: position.y } } : {}),
    ...(Object.keys(params).length > 0 ? { params } : {}),
  };
}

function isUnchanged(initial: FlowNode, name: string, value: unknown): boolean {
  if (value === undefined || value === null) return true;
  const usual = inputValue(initial, name);
  return value === (usual ?? '') || JSON.stringify(value) === JSON.stringify(usual);
}

function isPosition(position: unknown): position is { x: number; y: number } {
  return isRecord(position) && Number.isFinite(position.x) && Number.isFinite(position.y);
}

/** Edges in the order in which list inputs hold their references, so that the lists come out alike. */
function inListOrder(flow: FlowData, nodes: ReadonlyMap<string, FlowNode>): FlowEdge[] {
  const rank = (edge: FlowEdge): number => {
    const target = nodes.get(edge.target);
    const end = target && targetInput(target, edge);
    const value = target && end ? inputValue(target, end.input.name) : undefined;
    return Array.isArray(value) ? value.indexOf(instanceOf(edge.source)) : -1;
  };
  return flow.edges
    .map((edge, index) => ({ edge, index, rank: rank(edge) }))
    .sort((a, b) => a.rank - b.rank || a.index - b.index)
    .map(({ edge }) => edge);
}

function connectOp(
  edge: FlowEdge,
  olds: ReadonlyMap<string, FlowNode>,
  built: ReadonlyMap<string, FlowNode>,
  rebuild: Rebuild,
): PatchOp | null {
  const [oldSource, oldTarget] = [olds.get(edge.source), olds.get(edge.target)];
  const [source, target] = [built.get(edge.source), built.get(edge.target)];
  if (!oldSource || !oldTarget || !source || !target || isNote(oldSource) || isNote(oldTarget)) {
    rebuild.dropped.push({ node: edge.source, what: 'connection', name: edge.target, reason: 'an end is missing' });
    return null;
  }
  const givenName = outputName(oldSource, edge);
  const takenName =
    targetInput(oldTarget, edge)?.input.name ?? handleName(String(edge.targetHandle ?? ''), oldTarget.id, 'input');
  const outputs = outputsOf(source);
  const params = paramsOf(target).filter((param) => param.acceptVariable === true);
  const input = resolveInput(
    anchorsOf(target),
    params,
    takenName,
    outputs.map((output) => output.id),
  );
  const output = input && resolveOutput(outputs, givenName, input.anchor.id);
  if (!input || !output) {
    const reason = `no ${input ? 'output' : 'input'} of today fits`;
    rebuild.dropped.push({ node: target.id, what: 'connection', name: takenName, reason });
    return null;
  }
  note(
    rebuild,
    source.id,
    'output',
    handleName(String(edge.sourceHandle ?? ''), oldSource.id, 'output'),
    output.anchor.name,
  );
  note(rebuild, target.id, 'input', takenName, input.anchor.name);
  return {
    op_type: 'connect',
    source_node_id: source.id,
    source_anchor: output.anchor.name,
    target_node_id: target.id,
    target_anchor: input.anchor.name,
  };
}

/** A handle that no output has: then the node's choice says what it gives. */
function outputName(node: FlowNode, edge: FlowEdge): string {
  const found = sourceOutput(node, edge);
  if (found) return found.name;
  const chosen: unknown = isRecord(node.data.outputs) ? node.data.outputs.output : undefined;
  if (typeof chosen === 'string' && chosen !== '') return chosen;
  return handleName(String(edge.sourceHandle ?? ''), node.id, 'output');
}

function note(rebuild: Rebuild, node: string, what: 'output' | 'input', from: string, to: string): void {
  if (from !== to) rebuild.mapped.push({ node, what, from, to });
}
