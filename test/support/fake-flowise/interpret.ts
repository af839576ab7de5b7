import type { ApiNode } from '../../../src/flowise/client/client.ts';
import type { FlowData, FlowNode, NodeData } from '../../../src/flowise/flow/model.ts';
import { Refusal } from './answers.ts';
import { endingNodes, upstream } from './flow-checks.ts';
import type { World } from './route.ts';

const MISSING_CREDENTIALS =
  'Missing credentials. Please pass an `apiKey`, or set the `OPENAI_API_KEY` environment variable.';

const NO_MODEL = 'Error: Expected a Runnable, function or object.\nInstead got an unsupported type.';
const NO_AGENT_MODEL = 'Error: This agent requires that the "bindTools()" method be implemented on the input model.';

const PREDICTION = 'Error: predictionsServices.buildChatflow';

export interface Interpretation {
  memory: FlowNode | null;
  tools: FlowNode[];
  /** Loaders whose documents are told with the answer. */
  documents: FlowNode[];
  streams: boolean;
}

/**
 * Builds a flow as far as its faults show: both edges and references must be there, every node known, every tool
 * stored, every credential bound. Faults are answered in the words of the real server.
 */
export function interpret(flow: FlowData, world: World): Interpretation {
  const endings = endingNodes(flow);
  if (typeof endings === 'string') {
    throw new Refusal(500, `Error: chatflowsService.checkIfChatflowIsValidForStreaming - ${endings}`);
  }
  const ending = endings[0] as FlowNode;
  const chosen = Object.values(ending.data.outputs ?? {});
  if (chosen.length > 0 && !chosen.includes('EndingNode') && !chosen.includes(ending.data.name)) {
    const { label, id } = ending.data;
    throw new Refusal(
      500,
      `${PREDICTION} - Output of ${label} (${id}) must be ${label}, can't be an Output Prediction`,
    );
  }
  const order = buildUpTo(flow, ending, world, PREDICTION);
  const named = (name: string) => order.filter(({ data }) => data.category === name);
  const models = named('Chat Models');
  return {
    memory: named('Memory')[0] ?? null,
    tools: [...named('Tools'), ...named('Tools (MCP)')],
    documents: ending.data.inputs.returnSourceDocuments === true ? named('Document Loaders') : [],
    streams: models.length > 0 && models.every(({ data }) => data.inputs.streaming === true),
  };
}

/** Builds a node and all that leads to it, sources first. */
export function buildUpTo(flow: FlowData, last: FlowNode, world: World, where: string): FlowNode[] {
  const built = new Map<string, FlowNode>();
  const order = upstream(flow, last);
  for (const node of order) {
    try {
      build(node, built, world);
    } catch (error) {
      throw new Refusal(500, `${where} - ${(error as Error).message}`);
    }
    built.set(node.id, node);
  }
  return order;
}

function build(node: FlowNode, built: ReadonlyMap<string, FlowNode>, world: World): void {
  const { data } = node;
  const definition = world.nodeByName.get(data.name);
  if (!definition) throw new Error("Cannot read properties of undefined (reading 'filePath')");
  if (!Array.isArray(data.inputParams))
    throw new Error("TypeError: Cannot read properties of undefined (reading 'find')");
  if (definition.category === 'Text Splitters') requireSmallOverlap(data);
  if (data.name === 'customTool') requireTool(data.inputs.selectedTool, world);
  requireAnchors(node, definition, built);
  const credential = definition.credential;
  if (credential && credential.optional !== true && !world.rows.credentials.has(String(data.credential ?? ''))) {
    // A model misses it when it is asked, any other node when it is made.
    throw new Error(`${definition.category === 'Chat Models' ? '' : 'Error: Error: '}${MISSING_CREDENTIALS}`);
  }
}

/** Nothing counts as not given, and then the library's own numbers do. */
function requireSmallOverlap({ inputs }: NodeData): void {
  const [size, overlap] = [Number(inputs.chunkSize) || 1_000, Number(inputs.chunkOverlap) || 200];
  if (overlap >= size) throw new Error('Error: Cannot have chunkOverlap >= chunkSize');
}

function requireTool(selected: unknown, { rows }: World): void {
  if (!rows.tools.has(String(selected ?? ''))) throw new Error(`Error: Error: Tool ${selected} not found`);
}

/** Anchors of chains and agents that must not be empty; other nodes cope, or fail later than we look. */
function requireAnchors({ data }: FlowNode, definition: ApiNode, built: ReadonlyMap<string, FlowNode>): void {
  if (definition.category !== 'Chains' && definition.category !== 'Agents') return;
  for (const input of definition.inputs ?? []) {
    const name = String(input.name);
    if (input.optional === true || (name !== 'model' && name !== 'memory')) continue;
    const id = /^\{\{([^{}]+)\.data\.instance\}\}$/.exec(String(data.inputs?.[name] ?? ''))?.[1];
    const given = id === undefined ? undefined : built.get(id);
    if (name === 'model' && !given) throw new Error(definition.name === 'toolAgent' ? NO_AGENT_MODEL : NO_MODEL);
    if (name === 'memory' && given?.data.category !== 'Memory') {
      throw new Error(`${given ? 'initializedInstance' : 'memory'}.getChatMessages is not a function`);
    }
  }
}
