import { type Bench, refuse, suggestion, warn } from './bench.ts';
import { buildNode, placed } from './build-node.ts';
import { AGENTFLOW_CATEGORY } from './kinds.ts';
import type { PatchOp } from './ops.ts';
import { putValue } from './set-param.ts';

type AddNode = Extract<PatchOp, { op_type: 'add_node' }>;

export function addNode(bench: Bench, op: AddNode, path: string): void {
  const schema = knownSchema(bench, op, path);
  if (!schema || !isFree(bench, op.node_id, path)) {
    bench.failed.add(op.node_id);
    return;
  }
  const node = buildNode(schema, op.node_id, op.label);
  bench.canvas.append(op.position ? placed(node, { ...op.position }) : node);
  bench.added.add(node.id);
  bench.removed.delete(node.id);
  if (!op.position) bench.unplaced.add(node.id);
  for (const [name, value] of Object.entries(op.params ?? {})) {
    const at = `${path}/params/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`;
    putValue(bench, node, name, value, { name: at, value: at });
  }
}

function knownSchema(bench: Bench, op: AddNode, path: string) {
  const at = `${path}/node_name`;
  const schema = bench.schemas.get(op.node_name);
  if (!schema) {
    bench.missing.add(op.node_name);
    const help = suggestion(bench, op.node_name, bench.schemas.names());
    refuse(bench, 'node_type_unknown', at, `There is no node type ${op.node_name}${help}.`);
    return null;
  }
  if (bench.agentflow || schema.category === AGENTFLOW_CATEGORY) {
    refuse(bench, 'agentflow_unsupported', at, 'Nodes of Agentflow v2 cannot be added here yet; add it in Flowise.');
    return null;
  }
  if (schema.node_type !== op.node_name) {
    warn(bench, 'node_type_spelling', at, `${op.node_name} is spelt ${schema.node_type}; that is what was added.`);
  }
  if (schema.badge === 'DEPRECATING') {
    warn(bench, 'node_type_deprecated', at, `Flowise will drop ${schema.node_type}; prefer another node type.`);
  }
  return schema;
}

function isFree(bench: Bench, id: string, path: string): boolean {
  if (!/^[A-Za-z0-9_]+$/.test(id)) {
    const message = `The id ${id} must be letters, digits and _ only: Flowise splits its handles at dashes.`;
    refuse(bench, 'node_id_invalid', `${path}/node_id`, message);
    return false;
  }
  if (!bench.canvas.get(id) && !bench.canvas.isAmbiguous(id)) return true;
  refuse(bench, 'node_id_taken', `${path}/node_id`, `There is a node ${id} already; choose another id.`);
  return false;
}
