import type { FlowNode } from '../flow/model.ts';
import { type Bench, namedNode, refuse, warn } from './bench.ts';
import { dropReference, forget, untie } from './connections.ts';
import { isRecord } from './handles.ts';
import { mention } from './kinds.ts';
import { variablesIn } from './mentions.ts';
import type { PatchOp } from './ops.ts';

type RemoveNode = Extract<PatchOp, { op_type: 'remove_node' }>;

/** Removes a node with its connections and with every reference to it that stands alone in an input. */
export function removeNode(bench: Bench, op: RemoveNode, path: string): void {
  const node = namedNode(bench, op.node_id, `${path}/node_id`);
  if (!node) return;
  const child = bench.agentflow ? bench.canvas.nodes().find((other) => other.parentNode === node.id) : undefined;
  if (child) {
    const message = `${mention(node)} holds other nodes, such as ${mention(child)}; remove those first.`;
    refuse(bench, 'node_has_children', `${path}/node_id`, message);
    return;
  }
  const { canvas } = bench;
  for (const edge of [...canvas.edgesFrom(node.id), ...canvas.edgesTo(node.id)]) untie(bench, edge);
  canvas.remove(node.id);
  forget(bench, node);
  for (const id of canvas.mentioning(node.id)) clean(bench, canvas.get(id), node, path);
  bench.added.delete(node.id);
  bench.unplaced.delete(node.id);
  bench.removed.add(node.id);
}

function clean(bench: Bench, other: FlowNode | undefined, removed: FlowNode, path: string): void {
  if (!other || !isRecord(other.data.inputs)) return;
  for (const name of Object.keys(other.data.inputs)) dropReference(bench, other, name, removed.id);
  const left = bench.canvas.get(other.id)?.data.inputs ?? {};
  for (const [name, value] of Object.entries(left)) {
    if (!variablesIn(value).has(removed.id)) continue;
    const message = `${name} of ${mention(other)} still uses ${removed.id}; change that text too.`;
    warn(bench, 'reference_left', `${path}/node_id`, message);
  }
}
