import fc from 'fast-check';
import type { FlowData, FlowEdge, FlowInput, FlowNode } from '../../src/flowise/index.ts';
import { recordedAgentflow, recordedChatflow, recordedTemplates } from '../support/fake-flowise/data.ts';

/** A small flow as the canvas makes it: a model and a memory at a chain, with a note beside. */
export function smallFlow(): FlowData {
  const flow: FlowData = {
    nodes: [
      nodeOf('chatOpenAI', 'Chat Models', [param('temperature', 'number', '0.9'), param('modelName', 'string')]),
      nodeOf('bufferMemory', 'Memory', [param('memoryKey', 'string', 'chat_history')]),
      nodeOf(
        'conversationChain',
        'Chains',
        [param('systemMessagePrompt', 'string')],
        [
          { name: 'model', type: 'BaseChatModel' },
          { name: 'memory', type: 'BaseMemory' },
        ],
      ),
      { ...nodeOf('stickyNote', 'Utilities', [param('note', 'string')]), type: 'stickyNote' },
    ],
    edges: [],
    viewport: { x: 1, y: 2, zoom: 0.5 },
  };
  connect(flow, 'chatOpenAI_0', 'conversationChain_0', 'model', 'BaseChatModel');
  connect(flow, 'bufferMemory_0', 'conversationChain_0', 'memory', 'BaseMemory');
  return flow;
}

interface Param {
  name: string;
  type: string;
  default?: string;
}

function param(name: string, type: string, standard?: string): Param {
  return standard === undefined ? { name, type } : { name, type, default: standard };
}

export function nodeOf(name: string, category: string, params: Param[], anchors: Param[] = [], index = 0): FlowNode {
  const id = `${name}_${index}`;
  const input = (each: Param): FlowInput => ({
    ...each,
    id: `${id}-input-${each.name}-${each.type}`,
    label: each.name,
  });
  return {
    id,
    type: 'customNode',
    position: { x: index * 300, y: 0 },
    width: 300,
    data: {
      id,
      name,
      label: `The ${name}`,
      version: 1,
      type: name,
      category,
      baseClasses: [name],
      inputs: Object.fromEntries([...params, ...anchors].map((each) => [each.name, each.default ?? ''])),
      inputParams: params.map(input),
      inputAnchors: anchors.map(input),
      outputAnchors: [{ id: `${id}-output-${name}-${name}`, name, label: name, type: name }],
      outputs: {},
      selected: false,
    },
  };
}

export function connect(flow: FlowData, source: string, target: string, anchor: string, type: string): void {
  const name = source.replace(/_\d+$/, '');
  const sourceHandle = `${source}-output-${name}-${name}`;
  const targetHandle = `${target}-input-${anchor}-${type}`;
  const id = `${source}-${sourceHandle}-${target}-${targetHandle}`;
  flow.edges.push({ source, sourceHandle, target, targetHandle, type: 'buttonedge', id });
  const node = flow.nodes.find((each) => each.id === target);
  if (node) node.data.inputs[anchor] = `{{${source}.data.instance}}`;
}

/** Every flow that was recorded, by name. */
export function recordedFlows(): { name: string; text: string }[] {
  const templates = recordedTemplates().flatMap(({ templateName, flowData }) =>
    flowData === undefined ? [] : [{ name: templateName, text: JSON.stringify(JSON.parse(flowData)) }],
  );
  const working = (['working', 'rag', 'toolagent', 'llmchain'] as const).map((name) => ({
    name,
    text: JSON.stringify(recordedChatflow(name).flowData),
  }));
  return [...templates, ...working, { name: 'translator', text: JSON.stringify(recordedAgentflow()) }];
}

/** What a node of any age may look like; only the id and data are sure. */
const anyNode = fc.record(
  {
    id: fc.constantFrom('a_0', 'b_0', 'c_0', 'd_0'),
    type: fc.constantFrom('customNode', 'stickyNote', 'agentFlow', 'iteration'),
    position: fc.record({ x: fc.integer(), y: fc.integer() }),
    selected: fc.boolean(),
    extra: fc.jsonValue({ maxDepth: 2 }),
    data: fc.record(
      {
        name: fc.oneof(fc.constantFrom('a', 'b'), fc.jsonValue({ maxDepth: 1 })),
        label: fc.oneof(fc.string(), fc.jsonValue({ maxDepth: 1 })),
        credential: fc.oneof(fc.constantFrom('', 'cred-1', 'cred-2'), fc.jsonValue({ maxDepth: 1 })),
        inputs: fc.oneof(
          fc.dictionary(fc.constantFrom('model', 'prompt', 'apiKey', '__proto__'), fc.jsonValue({ maxDepth: 2 })),
          fc.jsonValue({ maxDepth: 1 }),
        ),
        inputParams: fc.oneof(
          fc.array(
            fc.record({ name: fc.constantFrom('prompt', 'apiKey'), type: fc.constantFrom('string', 'password') }),
          ),
          fc.jsonValue({ maxDepth: 2 }),
        ),
        outputAnchors: fc.jsonValue({ maxDepth: 3 }),
        outputs: fc.oneof(fc.record({ output: fc.constantFrom('x', 'y') }), fc.jsonValue({ maxDepth: 1 })),
        selected: fc.boolean(),
      },
      { requiredKeys: [] },
    ),
  },
  { requiredKeys: ['id', 'data'] },
);

const anyEdge = fc.record(
  {
    id: fc.string(),
    source: fc.constantFrom('a_0', 'b_0', 'gone'),
    target: fc.constantFrom('a_0', 'b_0', 'c_0'),
    sourceHandle: fc.oneof(fc.constantFrom('a_0-output-a-A', 'a_0-output-0'), fc.jsonValue({ maxDepth: 1 })),
    targetHandle: fc.oneof(fc.constantFrom('b_0-input-model-M', 'b_0'), fc.jsonValue({ maxDepth: 1 })),
    data: fc.oneof(
      fc.record({ label: fc.constantFrom('', 'yes'), sourceColor: fc.string() }),
      fc.jsonValue({ maxDepth: 1 }),
    ),
    animated: fc.boolean(),
  },
  { requiredKeys: ['source', 'target'] },
);

/** Any flow that parses, however odd. */
export const anyFlowData = fc
  .record(
    {
      nodes: fc.array(anyNode, { maxLength: 5 }),
      edges: fc.array(anyEdge, { maxLength: 5 }),
      viewport: fc.jsonValue({ maxDepth: 1 }),
      description: fc.jsonValue({ maxDepth: 1 }),
      flowright: fc.oneof(fc.record({ write_id: fc.string() }), fc.jsonValue({ maxDepth: 1 })),
    },
    { requiredKeys: ['nodes', 'edges'] },
  )
  // As text and back: what a server could have sent.
  .map((flow) => JSON.parse(JSON.stringify(flow)) as FlowData);

export function copy<T>(value: T): T {
  return JSON.parse(JSON.stringify(value)) as T;
}

export function nodeNamed(flow: FlowData, id: string): FlowNode {
  const node = flow.nodes.find((each) => each.id === id);
  if (!node) throw new Error(`there is no node ${id}`);
  return node;
}

export function edgeAt(flow: FlowData, at: number): FlowEdge {
  const edge = flow.edges[at];
  if (!edge) throw new Error(`there is no edge ${at}`);
  return edge;
}
