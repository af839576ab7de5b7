import type { FlowInput, FlowNode, FlowOutput, NodeData } from '../flow/model.ts';
import type { NodeInput, NodeOutput, NodeSchema } from '../node-schema.ts';
import { isShown } from './conditions.ts';
import { anchorsOf, inputHandle, outputHandle, paramsOf } from './handles.ts';
import { heightOf } from './node-height.ts';
import { canvasForm } from './values.ts';

export const NODE_WIDTH = 300;
const LEAST_HEIGHT = 260;

/** What the canvas shows of a definition, beside what the server needs. */
const SHOWN_FIELDS = ['tags', 'badge', 'deprecateMessage', 'color', 'hideInput', 'hideOutput', 'hint', 'documentation'];

/** A new node in the complete form that the canvas makes of a definition. */
export function buildNode(schema: NodeSchema, id: string, label: string | undefined): FlowNode {
  const fields = schema as unknown as Record<string, unknown>;
  const shown = SHOWN_FIELDS.filter((field) => fields[field] !== undefined);
  const params = schema.input_params.map((input) => flowInput(id, input));
  const data: NodeData = {
    id,
    label: label ?? schema.label,
    version: schema.version,
    name: schema.node_type,
    type: schema.type,
    baseClasses: [...schema.baseClasses],
    category: schema.category,
    ...(schema.description === undefined ? {} : { description: schema.description }),
    ...Object.fromEntries(shown.map((field) => [field, structuredClone(fields[field])])),
    inputParams: schema.credential ? [credentialParam(id, schema.credential), ...params] : params,
    inputAnchors: schema.input_anchors.map((input) => flowInput(id, input)),
    inputs: initialInputs(schema),
    outputAnchors: outputAnchors(schema, id),
    outputs: initialOutputs(schema),
    ...(schema.credential ? { credential: '' } : {}),
    selected: false,
  };
  const type = schema.type === 'StickyNote' ? 'stickyNote' : 'customNode';
  const position = { x: 0, y: 0 };
  return { id, position, type, data, width: NODE_WIDTH, height: LEAST_HEIGHT, ...resting(position) };
}

/** Where a node stands; the canvas keeps it twice. */
export function placed(node: FlowNode, position: { x: number; y: number }): FlowNode {
  return { ...node, position, positionAbsolute: { ...position } };
}

function resting(position: { x: number; y: number }) {
  return { selected: false, positionAbsolute: { ...position }, dragging: false };
}

/** Which inputs are shown, and how tall that makes the node; known once its values are. */
export function finished(node: FlowNode): FlowNode {
  const { inputs } = node.data;
  const withDisplay = (input: FlowInput): FlowInput => ({ ...input, display: isShown(input, inputs) });
  const inputParams = paramsOf(node).map(withDisplay);
  const inputAnchors = anchorsOf(node).map(withDisplay);
  const data = { ...node.data, inputParams, inputAnchors };
  const shown = { ...node, data };
  return { ...shown, height: heightOf(shown) };
}

function flowInput(nodeId: string, input: NodeInput): FlowInput {
  const { id: _, ...fields } = input;
  return { ...structuredClone(fields), id: inputHandle(nodeId, input.name, input.type) } as FlowInput;
}

function credentialParam(nodeId: string, credential: NonNullable<NodeSchema['credential']>): FlowInput {
  const id = inputHandle(nodeId, 'credential', 'credential');
  return { ...structuredClone(credential), name: 'credential', type: 'credential', id };
}

/** Every input has a value: its default, or nothing. A default of false or 0 is nothing too, as on the canvas. */
function initialInputs(schema: NodeSchema): Record<string, unknown> {
  const inputs = new Map<string, unknown>();
  for (const input of [...schema.input_anchors, ...schema.input_params]) {
    if (inputs.get(input.name)) continue;
    inputs.set(input.name, structuredClone(canvasForm(input.type, input.default)) || '');
  }
  return Object.fromEntries(inputs);
}

function outputAnchors(schema: NodeSchema, nodeId: string): FlowOutput[] {
  if (schema.hideOutput === true) return [];
  const anchors = schema.output_anchors.map((output) => flowOutput(nodeId, output));
  if (!schema.has_output_choice) return anchors;
  const first = anchors[0]?.name ?? '';
  return [{ name: 'output', label: 'Output', type: 'options', description: '', options: anchors, default: first }];
}

function flowOutput(nodeId: string, output: NodeOutput): FlowOutput {
  const { name, label, type, baseClasses, description, isAnchor } = output;
  return {
    id: outputHandle(nodeId, name, baseClasses),
    name,
    label,
    description: description ?? '',
    type,
    ...(isAnchor === undefined ? {} : { isAnchor }),
  };
}

function initialOutputs(schema: NodeSchema): Record<string, unknown> {
  const first = schema.output_anchors[0]?.name;
  return schema.has_output_choice && schema.hideOutput !== true && first !== undefined ? { output: first } : {};
}
