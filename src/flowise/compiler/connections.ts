import type { FlowEdge, FlowNode } from '../flow/model.ts';
import type { Bench, Found } from './bench.ts';
import { defaultOutput, inputValue, instanceOf, isRecord, sourceOutput, targetInput } from './handles.ts';

/** Flowise wants tools in this order: those that read, those that write, the rest. */
const FIRST_TOOLS = new Set(['requestsGet', 'readFile']);
const SECOND_TOOLS = new Set(['requestsPost', 'writeFile']);

/** Draws an edge and makes the target's input say so; what stood there is remembered for as long as the list runs. */
export function tie(
  bench: Bench,
  edge: FlowEdge,
  input: { name: string; list: boolean; text: boolean },
  output: string | null,
): void {
  const { canvas } = bench;
  canvas.link(edge);
  if (output !== null) chooseOutput(bench, edge.source, output);
  if (input.text) return;
  const target = canvas.get(edge.target);
  if (!target) return;
  const held = inputValue(target, input.name);
  // A list that holds something gets it back by losing the reference alone.
  if (!input.list || !Array.isArray(held) || held.length === 0) {
    remember(bench, inputKey(edge.target, input.name), found(inputsOf(bench, edge.target), input.name));
  }
  const value = input.list ? withReference(bench, held, edge.source) : instanceOf(edge.source);
  canvas.setInput(edge.target, input.name, value);
}

/**
 * The inverse. Within one list everything is as it was before the connection. An older connection leaves what a fresh
 * node has: an empty text in its input and, once nothing leaves the source any more, its default output.
 */
export function untie(bench: Bench, edge: FlowEdge): void {
  const { canvas } = bench;
  canvas.unlink(edge);
  const target = canvas.get(edge.target);
  const end = target && targetInput(target, edge);
  const again = [...canvas.edgesTo(edge.target)].some(
    ({ source, targetHandle }) => source === edge.source && targetHandle === edge.targetHandle,
  );
  if (target && end?.anchor && !again) dropReference(bench, target, end.input.name, edge.source);
  const source = canvas.get(edge.source);
  const chosen = source && sourceOutput(source, edge)?.exclusive === true;
  if (chosen && canvas.edgesFrom(edge.source).size === 0) restoreOutput(bench, edge.source);
}

/** Takes a node's result out of an input: out of the list, or the whole value. */
export function dropReference(bench: Bench, target: FlowNode, name: string, source: string): void {
  const value = inputValue(target, name);
  const reference = instanceOf(source);
  if (Array.isArray(value)) {
    const others = value.filter((entry) => entry !== reference);
    if (others.length === value.length) return;
    if (others.length > 0) bench.canvas.setInput(target.id, name, others);
    else restoreInput(bench, target.id, name);
  } else if (value === reference) {
    restoreInput(bench, target.id, name);
  }
}

/** What is known of a node that leaves the canvas must not reach one that takes its id later. */
export function forget(bench: Bench, node: FlowNode): void {
  for (const key of [...bench.before.keys()]) {
    if (key === outputKey(node.id) || key.startsWith(inputKey(node.id, ''))) bench.before.delete(key);
  }
}

function withReference(bench: Bench, value: unknown, source: string): unknown[] {
  const held = Array.isArray(value) ? value : typeof value === 'string' && value !== '' ? [value] : [];
  if (held.includes(instanceOf(source))) return held;
  const rank = (reference: unknown): number => rankOf(bench, reference);
  const own = rank(instanceOf(source));
  const at = held.findIndex((entry) => rank(entry) > own);
  return at < 0 ? [...held, instanceOf(source)] : [...held.slice(0, at), instanceOf(source), ...held.slice(at)];
}

function rankOf(bench: Bench, reference: unknown): number {
  const id = typeof reference === 'string' ? reference.slice(2, reference.indexOf('.')) : '';
  const name = String(bench.canvas.get(id)?.data.name ?? '');
  if (FIRST_TOOLS.has(name)) return 0;
  return SECOND_TOOLS.has(name) ? 1 : 2;
}

function chooseOutput(bench: Bench, source: string, output: string): void {
  const node = bench.canvas.get(source);
  if (!node) return;
  const outputs = isRecord(node.data.outputs) ? node.data.outputs : {};
  remember(bench, outputKey(source), found(outputs, 'output'));
  if (outputs.output !== output) bench.canvas.changeData(source, { outputs: { ...outputs, output } });
}

function restoreOutput(bench: Bench, source: string): void {
  const node = bench.canvas.get(source);
  const usual = node && defaultOutput(node);
  if (!node || usual === undefined) return;
  const outputs = isRecord(node.data.outputs) ? node.data.outputs : {};
  const before = bench.before.get(outputKey(source)) ?? { present: true, value: usual };
  bench.before.delete(outputKey(source));
  if (!before.present) {
    const { output: _, ...others } = outputs;
    bench.canvas.changeData(source, { outputs: others });
  } else if (outputs.output !== before.value) {
    bench.canvas.changeData(source, { outputs: { ...outputs, output: before.value } });
  }
}

function restoreInput(bench: Bench, id: string, name: string): void {
  const before = bench.before.get(inputKey(id, name)) ?? { present: true, value: '' };
  bench.before.delete(inputKey(id, name));
  if (before.present) bench.canvas.setInput(id, name, before.value);
  else bench.canvas.dropInput(id, name);
}

function remember(bench: Bench, key: string, value: Found): void {
  if (!bench.before.has(key)) bench.before.set(key, value);
}

function found(fields: Record<string, unknown>, name: string): Found {
  return Object.hasOwn(fields, name) ? { present: true, value: fields[name] } : { present: false, value: undefined };
}

function inputsOf(bench: Bench, id: string): Record<string, unknown> {
  const inputs = bench.canvas.get(id)?.data.inputs;
  return isRecord(inputs) ? inputs : {};
}

/** Ids of new nodes hold no space, and those of old ones only meet themselves. */
function inputKey(id: string, name: string): string {
  return `input ${id} ${name}`;
}

function outputKey(id: string): string {
  return `output ${id}`;
}
