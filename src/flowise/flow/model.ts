/**
 * flowData as the canvas stores it. Objects are kept whole: fields that we do not know survive every change, because
 * only what an operation names is touched.
 */
export interface FlowData {
  nodes: FlowNode[];
  edges: FlowEdge[];
  viewport?: { x: number; y: number; zoom: number };
  [field: string]: unknown;
}

export interface FlowNode {
  id: string;
  /** customNode, stickyNote, agentFlow, iteration … */
  type?: string;
  position: { x: number; y: number };
  data: NodeData;
  [field: string]: unknown;
}

export interface NodeData {
  id: string;
  name: string;
  label: string;
  version?: number;
  type?: string;
  category?: string;
  baseClasses?: string[];
  inputs: Record<string, unknown>;
  inputParams?: FlowInput[];
  inputAnchors?: FlowInput[];
  outputAnchors?: FlowOutput[];
  outputs?: Record<string, unknown>;
  credential?: string;
  [field: string]: unknown;
}

/** An input of a node inside a flow; its id is `<node id>-input-<name>-<type>`. */
export interface FlowInput {
  id: string;
  name: string;
  label?: string;
  type: string;
  optional?: boolean;
  list?: boolean;
  acceptVariable?: boolean;
  [field: string]: unknown;
}

/** An output anchor; one of type options holds the real ones in `options`, and `outputs.output` names the chosen. */
export interface FlowOutput {
  id?: string;
  name: string;
  label?: string;
  type: string;
  options?: FlowOutput[];
  default?: string;
  [field: string]: unknown;
}

export interface FlowEdge {
  id: string;
  source: string;
  target: string;
  sourceHandle: string;
  targetHandle: string;
  type?: string;
  [field: string]: unknown;
}
