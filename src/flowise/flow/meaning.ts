import type { FlowData, FlowEdge, FlowNode } from './model.ts';

/**
 * What of a flow is only drawing, and so no difference in meaning:
 * - of a node: where it stands and how large, whether it is selected, dragged or resized, its layer and style
 *   (`data.selected` too), and `display` of an input, which the canvas derives from the other inputs;
 * - of an edge: whether it is selected or animated, its layer, style and colours, and its id, which the canvas derives
 *   from the handles;
 * - of the flow: the viewport, the order of nodes and edges, and `flowright`, the stamp of our own write.
 * Everything else has a meaning, also what we do not know, labels, and the text of a sticky note: somebody wrote it.
 */
const DRAWN_NODE = new Set([
  'position',
  'positionAbsolute',
  'width',
  'height',
  'measured',
  'selected',
  'dragging',
  'resizing',
  'zIndex',
  'style',
  'className',
]);
const DRAWN_DATA = new Set(['selected']);
const DRAWN_INPUT = new Set(['display']);
const DRAWN_EDGE = new Set(['id', 'selected', 'animated', 'style', 'className', 'zIndex', 'markerStart', 'markerEnd']);
const DRAWN_EDGE_DATA = new Set(['sourceColor', 'targetColor']);
const DRAWN_FLOW = new Set(['nodes', 'edges', 'viewport', 'flowright']);
const INPUT_LISTS = new Set(['inputParams', 'inputAnchors']);

type Fields = Record<string, unknown>;

export function meaningOfNode(node: FlowNode): Fields {
  return { ...without(node, DRAWN_NODE), data: meaningOfData(node.data as Fields) };
}

/** Of a node but for its data. */
export function meaningAroundData(node: FlowNode): Fields {
  const around = without(node, DRAWN_NODE);
  delete around.data;
  return around;
}

export function meaningOfData(data: Fields): Fields {
  const fields = without(data, DRAWN_DATA);
  for (const list of INPUT_LISTS) {
    const inputs = fields[list];
    if (Array.isArray(inputs))
      fields[list] = inputs.map((input) => (isFields(input) ? without(input, DRAWN_INPUT) : input));
  }
  return fields;
}

export function meaningOfEdge(edge: FlowEdge): Fields {
  const fields = without(edge, DRAWN_EDGE);
  if (!isFields(edge.data)) return fields;
  const data = without(edge.data, DRAWN_EDGE_DATA);
  // The canvas adds an empty label to some edges and none to others.
  if (data.label === '') delete data.label;
  if (Object.keys(data).length > 0) fields.data = data;
  else delete fields.data;
  return fields;
}

/** The fields of the flow beside its graph. */
export function meaningOfFields(flow: FlowData): Fields {
  return without(flow, DRAWN_FLOW);
}

function without(fields: object, names: ReadonlySet<string>): Fields {
  return Object.fromEntries(Object.entries(fields).filter(([name]) => !names.has(name)));
}

function isFields(value: unknown): value is Fields {
  return value !== null && typeof value === 'object' && !Array.isArray(value);
}
