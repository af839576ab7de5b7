import type { ApiNode } from '../../../src/flowise/client/client.ts';
import type { FlowData, FlowNode } from '../../../src/flowise/flow/model.ts';
import { Refusal } from './answers.ts';
import { endingNodes, upstream } from './flow-checks.ts';
import type { World } from './route.ts';

const MISSING_CREDENTIALS =
  'Missing credentials. Please pass an `apiKey`, or set the `OPENAI_API_KEY` environment variable.';

const NO_MODEL = 'Error: Expected a Runnable, function or object.\nInstead got an unsupported type.';
const NO_AGENT_MODEL = 'Error: This agent requires that the "bindTools()" method be implemented on the input model.';

export interface Interpretation {
  ending: FlowNode;
  memory: FlowNode | null;
  tools: FlowNode[];
  /** Builds what was asked for; whether the documents that it searched are told. */
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
    throw fault(`Output of ${label} (${id}) must be ${label}, can't be an Output Prediction`);
  }
  const built = new Map<string, FlowNode>();
  const order = upstream(flow, ending);
  for (const node of order) {
    build(node, built, world);
    built.set(node.id, node);
  }
  const named = (name: string) => order.filter(({ data }) => data.category === name);
  const models = named('Chat Models');
  return {
    ending,
    memory: named('Memory')[0] ?? null,
    tools: [...named('Tools'), ...named('Tools (MCP)')],
    documents: ending.data.inputs.returnSourceDocuments === true ? named('Document Loaders') : [],
    streams: models.length > 0 && models.every(({ data }) => data.inputs.streaming === true),
  };
}

function build(node: FlowNode, built: ReadonlyMap<string, FlowNode>, world: World): void {
  const { data } = node;
  const definition = world.nodeByName.get(data.name);
  if (!definition) throw fault("Cannot read properties of undefined (reading 'filePath')");
  if (!Array.isArray(data.inputParams)) throw fault("TypeError: Cannot read properties of undefined (reading 'find')");
  if (data.name === 'customTool') requireTool(data.inputs.selectedTool, world);
  requireAnchors(node, definition, built);
  const credential = definition.credential;
  if (credential && credential.optional !== true && !world.rows.credentials.has(String(data.credential ?? ''))) {
    throw fault(MISSING_CREDENTIALS);
  }
}

function requireTool(selected: unknown, { rows }: World): void {
  if (!rows.tools.has(String(selected ?? ''))) throw fault(`Error: Error: Tool ${selected} not found`);
}

/** Anchors of chains and agents that must not be empty; other nodes cope, or fail later than we look. */
function requireAnchors({ data }: FlowNode, definition: ApiNode, built: ReadonlyMap<string, FlowNode>): void {
  if (definition.category !== 'Chains' && definition.category !== 'Agents') return;
  for (const input of definition.inputs ?? []) {
    const name = String(input.name);
    if (input.optional === true || (name !== 'model' && name !== 'memory')) continue;
    const id = /^\{\{([^{}]+)\.data\.instance\}\}$/.exec(String(data.inputs?.[name] ?? ''))?.[1];
    const given = id === undefined ? undefined : built.get(id);
    if (name === 'model' && !given) throw fault(definition.name === 'toolAgent' ? NO_AGENT_MODEL : NO_MODEL);
    if (name === 'memory' && given?.data.category !== 'Memory') {
      throw fault(`${given ? 'initializedInstance' : 'memory'}.getChatMessages is not a function`);
    }
  }
}

function fault(message: string): Refusal {
  return new Refusal(500, `Error: predictionsServices.buildChatflow - ${message}`);
}
