import type { FlowEdge, FlowInput, FlowNode, FlowOutput } from '../flow/model.ts';

/** What a connected input holds; without it the edge is drawn and yet nothing arrives. */
export function instanceOf(nodeId: string): string {
  return `{{${nodeId}.data.instance}}`;
}

export function inputHandle(nodeId: string, name: string, type: string): string {
  return `${nodeId}-input-${name}-${type}`;
}

export function outputHandle(nodeId: string, name: string, classes: readonly string[]): string {
  return `${nodeId}-output-${name}-${classes.join('|')}`;
}

/** The classes of a handle, read as the canvas reads them: its last part between dashes. */
export function handleTypes(handle: string): string[] {
  if (typeof handle !== 'string') return [];
  const last = handle.slice(handle.lastIndexOf('-') + 1);
  return last
    .split('|')
    .map((type) => type.trim())
    .filter((type) => type !== '');
}

/** Would the canvas let these two be connected? A handle without classes fits everything. */
export function typesFit(sourceHandle: string, targetHandle: string): boolean {
  const given = handleTypes(sourceHandle);
  const taken = handleTypes(targetHandle);
  return given.length === 0 || taken.length === 0 || given.some((type) => taken.includes(type));
}

/** The name inside a handle that no anchor of the node has (any more). */
export function handleName(handle: string, nodeId: string, side: 'input' | 'output'): string {
  const prefix = `${nodeId}-${side}-`;
  const rest = handle.startsWith(prefix) ? handle.slice(prefix.length) : handle;
  const dash = rest.indexOf('-');
  return dash < 0 ? rest : rest.slice(0, dash);
}

/** One output that an edge can start at. */
export interface Output {
  name: string;
  id: string;
  label: string;
  /** The node gives one of several at a time, and `outputs.output` says which. */
  exclusive: boolean;
}

export function outputsOf(node: FlowNode): Output[] {
  const outputs: Output[] = [];
  for (const anchor of list<FlowOutput>(node.data.outputAnchors).filter(isNamed)) {
    if (anchor.options === undefined) {
      outputs.push(output(anchor, false));
      continue;
    }
    for (const option of list<FlowOutput>(anchor.options).filter(isNamed))
      outputs.push(output(option, option.isAnchor !== true));
  }
  return outputs;
}

function output(anchor: FlowOutput, exclusive: boolean): Output {
  const id = typeof anchor.id === 'string' ? anchor.id : '';
  return { name: anchor.name, id, label: anchor.label ?? anchor.name, exclusive };
}

/** The output that a node with a choice gives when nobody chose. */
export function defaultOutput(node: FlowNode): string | undefined {
  const wrapper = list<FlowOutput>(node.data.outputAnchors).find((anchor) => anchor.options !== undefined);
  return wrapper?.default ?? list<FlowOutput>(wrapper?.options)[0]?.name;
}

export function anchorsOf(node: FlowNode): FlowInput[] {
  return list<FlowInput>(node.data.inputAnchors).filter(isNamed);
}

export function paramsOf(node: FlowNode): FlowInput[] {
  return list<FlowInput>(node.data.inputParams).filter(isNamed);
}

/** The input that an edge ends at, by its handle, else by the name inside the handle. */
export function targetInput(node: FlowNode, edge: FlowEdge): { input: FlowInput; anchor: boolean } | undefined {
  const handle = String(edge.targetHandle ?? '');
  const anchors = anchorsOf(node);
  const params = paramsOf(node);
  const anchor = anchors.find((input) => input.id === handle);
  if (anchor) return { input: anchor, anchor: true };
  const param = params.find((input) => input.id === handle);
  if (param) return { input: param, anchor: false };
  const name = handleName(handle, node.id, 'input');
  const named = anchors.find((input) => input.name === name);
  return named ? { input: named, anchor: true } : undefined;
}

/** The output that an edge starts at, by its handle. */
export function sourceOutput(node: FlowNode, edge: FlowEdge): Output | undefined {
  return outputsOf(node).find((output) => output.id === edge.sourceHandle);
}

/** Own values only: a node may well have an input called constructor. */
export function inputValue(node: FlowNode, name: string): unknown {
  const inputs = node.data.inputs;
  return isRecord(inputs) && Object.hasOwn(inputs, name) ? inputs[name] : undefined;
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return value !== null && typeof value === 'object' && !Array.isArray(value);
}

function isNamed({ name }: { name: unknown }): boolean {
  return typeof name === 'string';
}

/** Arrays of a flow may be missing or hold anything; what is no object is passed over. */
export function list<T>(value: unknown): T[] {
  return Array.isArray(value) ? value.filter((entry): entry is T => isRecord(entry)) : [];
}
