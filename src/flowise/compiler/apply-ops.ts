import type { FlowData } from '../flow/model.ts';
import type { NodeSchemas } from '../node-schema.ts';
import { addNode } from './add-node.ts';
import { type Bench, namedNode, warn } from './bench.ts';
import { bindCredential } from './bind-credential.ts';
import { finished, placed } from './build-node.ts';
import { createCanvas } from './canvas.ts';
import { toolPlaceholder } from './compilation.ts';
import { connect } from './connect.ts';
import { createTool } from './create-tool.ts';
import { disconnect } from './disconnect.ts';
import { isAgentflow } from './kinds.ts';
import { layOut } from './layout.ts';
import { eachText } from './mentions.ts';
import type { PatchOp } from './ops.ts';
import { removeNode } from './remove-node.ts';
import { setParam } from './set-param.ts';

/**
 * Applies operations in order. Each is checked against the flow as the ones before have made it; one that does not hold
 * is reported and passed over, so that a single pass finds every mistake that is one by itself.
 */
export function applyOps(base: FlowData, ops: readonly PatchOp[], schemas: NodeSchemas): Bench {
  const bench = createBench(base, ops, schemas);
  ops.forEach((op, index) => {
    apply(bench, op, `/ops/${index}`);
  });
  finish(bench);
  warnOfUnusedTools(bench);
  return bench;
}

function createBench(base: FlowData, ops: readonly PatchOp[], schemas: NodeSchemas): Bench {
  const addedBy = new Map<string, number>();
  ops.forEach((op, index) => {
    if (op.op_type === 'add_node' && !addedBy.has(op.node_id)) addedBy.set(op.node_id, index);
  });
  return {
    canvas: createCanvas(base),
    schemas,
    agentflow: isAgentflow(base),
    errors: [],
    warnings: [],
    added: new Set(),
    unplaced: new Set(),
    failed: new Set(),
    removed: new Set(),
    addedBy,
    tools: [],
    missing: new Set(),
    metrics: { total_connections: 0, exact_name_matches: 0, fuzzy_fallbacks: 0, fuzzy_details: [] },
    before: new Map(),
  };
}

function apply(bench: Bench, op: PatchOp, path: string): void {
  switch (op.op_type) {
    case 'add_node':
      addNode(bench, op, path);
      break;
    case 'remove_node':
      removeNode(bench, op, path);
      break;
    case 'set_param':
      setParam(bench, op, path);
      break;
    case 'set_label':
      setLabel(bench, op, path);
      break;
    case 'connect':
      connect(bench, op, path);
      break;
    case 'disconnect':
      disconnect(bench, op, path);
      break;
    case 'bind_credential':
      bindCredential(bench, op, path);
      break;
    case 'create_tool':
      createTool(bench, op, path);
      break;
  }
}

function setLabel(bench: Bench, op: Extract<PatchOp, { op_type: 'set_label' }>, path: string): void {
  const node = namedNode(bench, op.node_id, `${path}/node_id`);
  if (node) bench.canvas.changeData(node.id, { label: op.label });
}

/** What a new node looks like follows from its values and its neighbours, so it comes last. */
function finish(bench: Bench): void {
  const { canvas } = bench;
  if (bench.added.size === 0) return;
  for (const id of bench.added) {
    const node = canvas.get(id);
    if (node) canvas.replace(finished(node));
  }
  const { nodes, edges } = canvas.flow();
  const unplaced = nodes.filter((node) => bench.unplaced.has(node.id));
  const others = nodes.filter((node) => !bench.unplaced.has(node.id));
  for (const [id, position] of layOut(unplaced, others, edges)) {
    const node = canvas.get(id);
    if (node) canvas.replace(placed(node, position));
  }
}

function warnOfUnusedTools(bench: Bench): void {
  if (bench.tools.length === 0) return;
  const texts = new Set<string>();
  for (const node of bench.canvas.nodes()) eachText(node.data.inputs, (text) => texts.add(text));
  for (const { tool_ref } of bench.tools) {
    if (texts.has(toolPlaceholder(tool_ref))) continue;
    warn(
      bench,
      'tool_unused',
      '/ops',
      `No customTool uses ${toolPlaceholder(tool_ref)}; it would be stored for nothing.`,
    );
  }
}
