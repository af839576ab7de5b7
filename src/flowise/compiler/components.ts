import type { FlowInput, FlowNode } from '../flow/model.ts';
import type { NodeSchemas } from '../node-schema.ts';
import { isShown } from './conditions.ts';
import { isRecord, list, paramsOf } from './handles.ts';
import { isAgentflowNode } from './kinds.ts';

/** A node type that an Agentflow node runs, such as a model or a tool; it is no node of its own on the canvas. */
export interface Component {
  /** What was chosen: chatOpenAI. */
  type: string;
  /** Where its settings stand, as names below `inputs`: llmModelConfig; agentTools, 0, agentSelectedToolConfig. */
  place: readonly string[];
  /** Names of the credentials that it takes. */
  credentialNames: readonly string[];
  /** It does not work without one. */
  needsCredential: boolean;
  /** What its settings hold as the id of the credential; undefined when there is none. */
  credential: unknown;
}

/** Those that take a credential, wherever the node chooses them: in a parameter, or in a row of a list. */
export function componentsOf(node: FlowNode, schemas: NodeSchemas): Component[] {
  const inputs: unknown = node.data.inputs;
  if (!isAgentflowNode(node) || !isRecord(inputs)) return [];
  const rows = paramsOf(node).flatMap((param) => {
    const held = param.type === 'array' && Object.hasOwn(inputs, param.name) ? inputs[param.name] : null;
    if (!Array.isArray(held)) return [];
    return held.flatMap((row: unknown, at) =>
      isRecord(row) ? chosenIn(row, list<FlowInput>(param.array), [param.name, String(at)], schemas) : [],
    );
  });
  return [...chosenIn(inputs, paramsOf(node), [], schemas), ...rows];
}

function chosenIn(
  holder: Record<string, unknown>,
  params: readonly FlowInput[],
  path: readonly string[],
  schemas: NodeSchemas,
): Component[] {
  return params.flatMap((param) => {
    const chosen = own(holder, param.name);
    const place = `${param.name}Config`;
    const config = own(holder, place);
    if (typeof chosen !== 'string' || chosen === '' || !isShown(param, holder)) return [];
    const schema = param.loadConfig === true || isRecord(config) ? schemas.get(chosen) : null;
    if (!schema?.credential) return [];
    return {
      type: chosen,
      place: [...path, place],
      credentialNames: schema.credential.credentialNames,
      needsCredential: schema.credential.optional !== true,
      credential: isRecord(config) ? boundIn(config) : undefined,
    };
  });
}

/** The server reads the second; the canvas fills both. */
function boundIn(config: Record<string, unknown>): unknown {
  const places = [own(config, 'credential'), own(config, 'FLOWISE_CREDENTIAL_ID')];
  return places.find((value) => value !== undefined && value !== null && value !== '');
}

/** Own values only: a parameter may well be called constructor. */
function own(holder: Record<string, unknown>, name: string): unknown {
  return Object.hasOwn(holder, name) ? holder[name] : undefined;
}
