import type { FlowData } from '../../src/flowise/flow/model.ts';
import { recordedChatflow } from '../support/fake-flowise/data.ts';

export type FlowName = 'working' | 'rag' | 'toolagent' | 'llmchain';

/** A recorded flow that answers on this server: its models ask the scripted one, with the given credential. */
export function flowFor(name: FlowName, { modelUrl, credential }: { modelUrl: string; credential: string }): FlowData {
  const { flowData } = recordedChatflow(name);
  for (const { data } of flowData.nodes) {
    if ('basepath' in data.inputs) data.inputs.basepath = modelUrl;
    if (data.inputParams?.some(({ type }) => type === 'credential')) data.credential = credential;
  }
  return flowData;
}

/** The same flow with something done to it. */
export function changed(flow: FlowData, change: (flow: FlowData) => void): FlowData {
  const copy = structuredClone(flow);
  change(copy);
  return copy;
}

export function nodeOf(flow: FlowData, name: string) {
  const node = flow.nodes.find(({ data }) => data.name === name);
  if (!node) throw new Error(`no ${name} in the flow`);
  return node;
}
