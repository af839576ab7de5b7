import type { FlowData, FlowEdge, FlowNode, NodeData } from '../flow/model.ts';
import { variablesIn } from './mentions.ts';

/**
 * A flow while operations work on it. Nodes and edges that nobody names stay the very objects of the base; a node that
 * is touched is replaced by a copy. Each step costs what it touches, not what the flow holds.
 */
export interface Canvas {
  get(id: string): FlowNode | undefined;
  /** The base has several nodes of this id. */
  isAmbiguous(id: string): boolean;
  ids(): Iterable<string>;
  nodes(): FlowNode[];
  append(node: FlowNode): void;
  replace(node: FlowNode): void;
  remove(id: string): void;
  changeData(id: string, change: Partial<NodeData>): void;
  setInput(id: string, name: string, value: unknown): void;
  dropInput(id: string, name: string): void;
  edgesFrom(id: string): ReadonlySet<FlowEdge>;
  edgesTo(id: string): ReadonlySet<FlowEdge>;
  link(edge: FlowEdge): void;
  unlink(edge: FlowEdge): void;
  /** Ids of nodes that may hold a variable of this name in an input. */
  mentioning(id: string): string[];
  flow(): FlowData;
}

const NONE: ReadonlySet<FlowEdge> = new Set();

export function createCanvas(base: FlowData): Canvas {
  const slots: (FlowNode | null)[] = [...base.nodes];
  const places = new Map<string, number>();
  const ambiguous = new Set<string>();
  base.nodes.forEach((node, index) => {
    if (places.has(node.id)) ambiguous.add(node.id);
    else places.set(node.id, index);
  });
  const edges = new Set(base.edges);
  const from = new Map<string, Set<FlowEdge>>();
  const to = new Map<string, Set<FlowEdge>>();
  for (const edge of base.edges) index(edge);
  /** Word → nodes that use it; made when first asked for, and never forgets: a reader looks again. */
  let mentions: Map<string, Set<string>> | null = null;

  function index(edge: FlowEdge): void {
    into(from, edge.source, edge);
    into(to, edge.target, edge);
  }

  function note(id: string, value: unknown): void {
    if (mentions) for (const word of variablesIn(value)) into(mentions, word, id);
  }

  function get(id: string): FlowNode | undefined {
    const place = places.get(id);
    return place === undefined ? undefined : (slots[place] ?? undefined);
  }

  function replace(node: FlowNode): void {
    const place = places.get(node.id);
    if (place !== undefined) slots[place] = node;
  }

  function changeData(id: string, change: Partial<NodeData>): void {
    const node = get(id);
    if (node) replace({ ...node, data: { ...node.data, ...change } as NodeData });
  }

  function nodes(): FlowNode[] {
    return slots.filter((node) => node !== null);
  }

  return {
    get,
    isAmbiguous: (id) => ambiguous.has(id),
    ids: () => places.keys(),
    nodes,
    append(node) {
      places.set(node.id, slots.push(node) - 1);
      note(node.id, node.data.inputs);
    },
    replace,
    remove(id) {
      const place = places.get(id);
      if (place === undefined) return;
      slots[place] = null;
      places.delete(id);
    },
    changeData,
    setInput(id, name, value) {
      const node = get(id);
      if (!node) return;
      note(id, value);
      changeData(id, { inputs: { ...node.data.inputs, [name]: value } });
    },
    dropInput(id, name) {
      const node = get(id);
      if (!node) return;
      const { [name]: _, ...others } = node.data.inputs;
      changeData(id, { inputs: others });
    },
    edgesFrom: (id) => from.get(id) ?? NONE,
    edgesTo: (id) => to.get(id) ?? NONE,
    link(edge) {
      edges.add(edge);
      index(edge);
    },
    unlink(edge) {
      edges.delete(edge);
      from.get(edge.source)?.delete(edge);
      to.get(edge.target)?.delete(edge);
    },
    mentioning(id) {
      if (!mentions) {
        mentions = new Map();
        for (const node of nodes()) note(node.id, node.data.inputs);
      }
      return [...(mentions.get(id) ?? [])];
    },
    flow: () => ({ ...base, nodes: nodes(), edges: [...edges] }),
  };
}

function into<V>(index: Map<string, Set<V>>, key: string, value: V): void {
  const held = index.get(key);
  if (held) held.add(value);
  else index.set(key, new Set([value]));
}
