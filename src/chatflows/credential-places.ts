import type { FlowData, FlowNode } from '../flowise/index.ts';

/** Where inside a node's inputs Flowise keeps the id of a credential, at any depth (agentflow model configs). */
const NESTED = new Set(['FLOWISE_CREDENTIAL_ID', 'credential']);
const MAX_DEPTH = 8;

/** Every credential id that a flow uses. */
export function credentialsIn(flow: FlowData): Set<string> {
  const ids = new Set<string>();
  withCredentials(flow, (id) => {
    ids.add(id);
    return id;
  });
  return ids;
}

/** A copy of the flow with its credential ids replaced; everything else is kept as it is. */
export function withCredentials(flow: FlowData, replace: (id: string) => string): FlowData {
  return { ...flow, nodes: flow.nodes.map((node) => nodeWith(node, replace)) };
}

function nodeWith(node: FlowNode, replace: (id: string) => string): FlowNode {
  const { data } = node;
  if (data === null || typeof data !== 'object') return node;
  const inputs = data.inputs === undefined ? {} : { inputs: nestedWith(data.inputs, replace, 0) as typeof data.inputs };
  const credential = isId(data.credential) ? { credential: replace(data.credential) } : {};
  return { ...node, data: { ...data, ...credential, ...inputs } };
}

function nestedWith(value: unknown, replace: (id: string) => string, depth: number): unknown {
  if (value === null || typeof value !== 'object' || depth > MAX_DEPTH) return value;
  if (Array.isArray(value)) return value.map((item) => nestedWith(item, replace, depth + 1));
  return Object.fromEntries(
    Object.entries(value).map(([name, held]) => [
      name,
      NESTED.has(name) && isId(held) ? replace(held) : nestedWith(held, replace, depth + 1),
    ]),
  );
}

function isId(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}
