import type { FlowEdge, FlowInput, FlowNode, FlowOutput } from './model.ts';

/**
 * One way to look at nodes of every kind and age. A flow comes from outside: fields may be missing or of another type,
 * agentflow nodes have no handles, sticky notes no connections. Nothing here throws, and nothing is rewritten.
 */
export interface NodeView {
  id: string;
  name: string;
  label: string;
  category: string;
  isNote: boolean;
  /** Agentflow v2: edges go from `<id>-output-<name>` to the node itself. */
  isAgentflow: boolean;
  /** What is set, by the name of the input. */
  values: Record<string, unknown>;
  /** Inputs that another node is connected to. */
  anchors: FlowInput[];
  /** Inputs that are filled in; the credential is one of them. */
  params: FlowInput[];
  /** The real outputs: those of a choice are unwrapped. */
  outputs: FlowOutput[];
  /** Of a node that offers a choice: the name of the chosen output. */
  chosenOutput: string | null;
  /** Id of the bound credential; null when none is. */
  credential: string | null;
}

export function viewOf(node: FlowNode): NodeView {
  const data: Record<string, unknown> = isRecord(node.data) ? node.data : {};
  const name = textOf(data.name) ?? '';
  return {
    id: node.id,
    name,
    label: textOf(data.label) ?? name,
    category: textOf(data.category) ?? '',
    isNote: node.type === 'stickyNote' || name === 'stickyNote' || name === 'stickyNoteAgentflow',
    isAgentflow: node.type === 'agentFlow' || node.type === 'iteration' || data.category === 'Agent Flows',
    values: isRecord(data.inputs) ? data.inputs : {},
    anchors: inputsOf(data.inputAnchors),
    params: inputsOf(data.inputParams),
    outputs: outputsOf(data.outputAnchors),
    chosenOutput: isRecord(data.outputs) ? textOf(data.outputs.output) : null,
    credential: credentialOf(data),
  };
}

/** The input of that name: an anchor before a param. */
export function inputNamed(view: NodeView, name: string): FlowInput | undefined {
  return view.anchors.find((input) => input.name === name) ?? view.params.find((input) => input.name === name);
}

/** Ids that an edge may name as its sourceHandle. */
export function sourceHandles(view: NodeView): string[] {
  return view.outputs.map((output) => output.id).filter((id) => id !== undefined);
}

/** Ids that an edge may name as its targetHandle; params count, because some accept a variable. */
export function targetHandles(view: NodeView): string[] {
  if (view.isAgentflow) return [view.id];
  return [...view.anchors, ...view.params].map((input) => input.id).filter((id) => typeof id === 'string');
}

/** Name of the output that an edge leaves from: `<id>-output-<name>-<types>`. */
export function sourceAnchorOf(edge: FlowEdge): string {
  return anchorName(edge.sourceHandle, `${edge.source}-output-`);
}

/** Name of the input that an edge arrives at; empty where it arrives at the node itself, as in agentflows. */
export function targetAnchorOf(edge: FlowEdge): string {
  return edge.targetHandle === edge.target ? '' : anchorName(edge.targetHandle, `${edge.target}-input-`);
}

function anchorName(handle: unknown, prefix: string): string {
  if (typeof handle !== 'string') return '';
  if (!handle.startsWith(prefix)) return handle;
  const rest = handle.slice(prefix.length);
  const dash = rest.indexOf('-');
  return dash < 0 ? rest : rest.slice(0, dash);
}

/** `{{chatOpenAI_0.data.instance}}`: what connecting writes into the input, once or in a list. */
const REFERENCE = /^\{\{([^{}]+)\.data\.instance\}\}$/;

/** Ids of the nodes that a value refers to; null when it says anything else. An empty value refers to none. */
export function referencesIn(value: unknown): string[] | null {
  if (value === undefined || value === null || value === '') return [];
  const sources: string[] = [];
  for (const item of Array.isArray(value) ? value : [value]) {
    const source = typeof item === 'string' ? REFERENCE.exec(item)?.[1] : undefined;
    if (source === undefined) return null;
    sources.push(source);
  }
  return sources;
}

function credentialOf(data: Record<string, unknown>): string | null {
  const { credential } = data;
  return typeof credential === 'string' && credential !== '' ? credential : null;
}

function inputsOf(list: unknown): FlowInput[] {
  if (!Array.isArray(list)) return [];
  return list.filter((input): input is FlowInput => isRecord(input) && typeof input.name === 'string');
}

function outputsOf(list: unknown): FlowOutput[] {
  if (!Array.isArray(list)) return [];
  return list.flatMap((output): FlowOutput[] => {
    if (!isRecord(output)) return [];
    if (Array.isArray(output.options)) return outputsOf(output.options);
    return typeof output.name === 'string' ? [output as FlowOutput] : [];
  });
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return value !== null && typeof value === 'object' && !Array.isArray(value);
}
