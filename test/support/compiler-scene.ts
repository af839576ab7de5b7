import { compile, EMPTY_FLOW } from '../../src/flowise/compiler/compile.ts';
import type { PatchOp } from '../../src/flowise/compiler/ops.ts';
import type { FlowData, FlowNode } from '../../src/flowise/flow/model.ts';
import type { NodeSchema, NodeSchemas } from '../../src/flowise/node-schema.ts';
import { normaliseNode } from '../../src/knowledge/normalise-node.ts';
import { recordedNodes } from './fake-flowise/data.ts';

let known: NodeSchemas | undefined;

/** Every recorded node type. */
export function recordedSchemas(): NodeSchemas {
  known ??= schemasOf(recordedNodes().map(normaliseNode));
  return known;
}

export function schemasOf(nodes: readonly NodeSchema[]): NodeSchemas {
  const byName = new Map(nodes.map((node) => [node.node_type, node]));
  const names = [...byName.keys()];
  return {
    get(name) {
      const exact = byName.get(name);
      if (exact) return exact;
      const alike = names.filter((each) => each.toLowerCase() === name.toLowerCase());
      return alike.length === 1 && alike[0] ? (byName.get(alike[0]) ?? null) : null;
    },
    names: () => names,
  };
}

export function add(node_name: string, node_id: string, params?: Record<string, unknown>): PatchOp {
  return { op_type: 'add_node', node_name, node_id, ...(params ? { params } : {}) };
}

/** `link('chatOpenAI_0.chatOpenAI', 'conversationChain_0.model')`. */
export function link(from: string, to: string): PatchOp {
  return { op_type: 'connect', ...ends(from, to) };
}

export function unlink(from: string, to: string): PatchOp {
  return { op_type: 'disconnect', ...ends(from, to) };
}

export function bind(node_id: string, credential_id = '513db410-c4c3-4818-a716-6f386aba8a82'): PatchOp {
  return { op_type: 'bind_credential', node_id, credential_id };
}

export function put(node_id: string, param_name: string, value: unknown): PatchOp {
  return { op_type: 'set_param', node_id, param_name, value };
}

function ends(from: string, to: string) {
  const [source_node_id = '', source_anchor = ''] = from.split('.');
  const [target_node_id = '', target_anchor = ''] = to.split('.');
  return { source_node_id, source_anchor, target_node_id, target_anchor };
}

/** A conversation with memory: three nodes, two connections, one credential. */
export const CONVERSATION: readonly PatchOp[] = [
  add('chatOpenAI', 'chatOpenAI_0', { modelName: 'gpt-4o-mini' }),
  add('bufferMemory', 'bufferMemory_0'),
  add('conversationChain', 'conversationChain_0'),
  link('chatOpenAI_0.chatOpenAI', 'conversationChain_0.model'),
  link('bufferMemory_0.bufferMemory', 'conversationChain_0.memory'),
  bind('chatOpenAI_0'),
];

/** Questions about a text, answered from a store in memory. */
export const RAG: readonly PatchOp[] = [
  add('plainText', 'plainText_0', { text: 'Flowers need water.' }),
  add('openAIEmbeddings', 'openAIEmbeddings_0'),
  add('memoryVectorStore', 'memoryVectorStore_0'),
  add('chatOpenAI', 'chatOpenAI_0'),
  add('conversationalRetrievalQAChain', 'conversationalRetrievalQAChain_0'),
  link('plainText_0.document', 'memoryVectorStore_0.document'),
  link('openAIEmbeddings_0.openAIEmbeddings', 'memoryVectorStore_0.embeddings'),
  link('memoryVectorStore_0.retriever', 'conversationalRetrievalQAChain_0.vectorStoreRetriever'),
  link('chatOpenAI_0.chatOpenAI', 'conversationalRetrievalQAChain_0.model'),
  bind('openAIEmbeddings_0'),
  bind('chatOpenAI_0'),
];

/** The text that operations make of an empty flow; they must hold. */
export function built(ops: readonly PatchOp[]): string {
  const compilation = compile(EMPTY_FLOW, ops, recordedSchemas());
  if (!compilation.ok) throw new Error(JSON.stringify(compilation.errors));
  return compilation.flow_data_str;
}

export function nodeOf(flow: FlowData, id: string): FlowNode {
  const node = flow.nodes.find((each) => each.id === id);
  if (!node) throw new Error(`no node ${id}`);
  return node;
}

export function codes(issues: readonly { code: string }[]): string[] {
  return issues.map(({ code }) => code);
}

/** JSON pointers of the places in which two values differ. */
export function changedPaths(a: unknown, b: unknown, path = ''): string[] {
  if (Object.is(a, b)) return [];
  const isObject = (value: unknown): value is object => value !== null && typeof value === 'object';
  if (!isObject(a) || !isObject(b) || Array.isArray(a) !== Array.isArray(b)) return [path];
  const [left, right] = [a as Record<string, unknown>, b as Record<string, unknown>];
  const keys = new Set([...Object.keys(left), ...Object.keys(right)]);
  return [...keys].flatMap((key) => changedPaths(left[key], right[key], `${path}/${key}`));
}
