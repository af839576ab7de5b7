import { expect } from 'vitest';
import type { FlowData } from '../../src/flowise/flow/model.ts';
import { nodeOf } from './flows.ts';
import { add, bind, connect, conversation, disconnect, model, ownToolAgent, retrieval, toolAgent } from './op-lists.ts';
import type { Workshop } from './workshop.ts';

export interface ChatflowCase {
  name: string;
  needsSecond?: boolean;
  run(workshop: Workshop): Promise<void>;
}

/** What Flowright does to a Flowise server; each case leaves nothing that another one needs. */
export const CHATFLOW_CASES: readonly ChatflowCase[] = [
  { name: 'creates a chatflow that answers', run: creates },
  { name: 'updates one parameter and nothing else', run: updates },
  { name: 'removes a node with its connections', run: removes },
  { name: 'reconnects a chain to another model', run: reconnects },
  { name: 'binds a credential', run: binds },
  { name: 'builds retrieval over documents', run: retrieves },
  { name: 'builds an agent with a tool', run: usesTool },
  { name: 'stores a tool of its own for an agent', run: storesTool },
  { name: 'writes nothing over an edit made on the canvas', run: yields },
  { name: 'keeps nodes where somebody moved them', run: rebases },
  { name: 'restores an earlier version', run: restores },
  { name: 'promotes a chatflow to the second server', needsSecond: true, run: promotes },
];

const inputsOf = (flow: FlowData, name: string) => nodeOf(flow, name).data.inputs;
const shapeOf = ({ nodes, edges }: FlowData) => ({
  nodes: nodes.map(({ id }) => id).sort(),
  edges: edges.map(({ source, target }) => `${source} → ${target}`).sort(),
});

async function answers({ first }: Workshop, id: string, question = 'hello'): Promise<Record<string, unknown>> {
  const { status, json, text } = await first.predict(id, question);
  expect(status, text).toBe(200);
  expect(json.text).toContain('Heard as message');
  return json;
}

async function creates(shop: Workshop): Promise<void> {
  const { chatflow_id } = await shop.write(conversation(shop.supplies));
  expect(shapeOf(await shop.first.flow(chatflow_id))).toEqual({
    nodes: ['bufferMemory_0', 'chatOpenAI_0', 'conversationChain_0'],
    edges: ['bufferMemory_0 → conversationChain_0', 'chatOpenAI_0 → conversationChain_0'],
  });
  await answers(shop, chatflow_id);
}

async function updates(shop: Workshop): Promise<void> {
  const { chatflow_id } = await shop.write(conversation(shop.supplies));
  const before = await shop.first.flow(chatflow_id);
  await shop.write(
    [{ op_type: 'set_param', node_id: 'chatOpenAI_0', param_name: 'temperature', value: 0.7 }],
    chatflow_id,
  );
  const after = await shop.first.flow(chatflow_id);
  expect(inputsOf(after, 'chatOpenAI').temperature).toBe(0.7);
  Object.assign(inputsOf(before, 'chatOpenAI'), { temperature: 0.7 });
  expect({ nodes: after.nodes, edges: after.edges }).toEqual({ nodes: before.nodes, edges: before.edges });
  await answers(shop, chatflow_id);
}

async function removes(shop: Workshop): Promise<void> {
  const { chatflow_id } = await shop.write(conversation(shop.supplies));
  await shop.write(
    [
      { op_type: 'remove_node', node_id: 'bufferMemory_0' },
      add('bufferWindowMemory', 'bufferWindowMemory_0', { k: 3 }),
      connect('bufferWindowMemory_0.bufferWindowMemory', 'conversationChain_0.memory'),
    ],
    chatflow_id,
  );
  const flow = await shop.first.flow(chatflow_id);
  expect(shapeOf(flow).nodes).toEqual(['bufferWindowMemory_0', 'chatOpenAI_0', 'conversationChain_0']);
  expect(inputsOf(flow, 'conversationChain').memory).toBe('{{bufferWindowMemory_0.data.instance}}');
  await answers(shop, chatflow_id);
}

async function reconnects(shop: Workshop): Promise<void> {
  const { chatflow_id } = await shop.write(conversation(shop.supplies));
  await shop.write(
    [
      ...model('chatOpenAI_1', shop.supplies),
      disconnect('chatOpenAI_0.chatOpenAI', 'conversationChain_0.model'),
      connect('chatOpenAI_1.chatOpenAI', 'conversationChain_0.model'),
      { op_type: 'remove_node', node_id: 'chatOpenAI_0' },
    ],
    chatflow_id,
  );
  const flow = await shop.first.flow(chatflow_id);
  expect(shapeOf(flow).edges).toEqual(['bufferMemory_0 → conversationChain_0', 'chatOpenAI_1 → conversationChain_0']);
  await answers(shop, chatflow_id);
}

async function binds(shop: Workshop): Promise<void> {
  const { chatflow_id } = await shop.write(conversation(shop.supplies));
  const other = await shop.first.credential(`another key ${chatflow_id}`);
  await shop.write(bind('chatOpenAI_0', other), chatflow_id);
  expect(nodeOf(await shop.first.flow(chatflow_id), 'chatOpenAI').data.credential).toBe(other);
  await answers(shop, chatflow_id);
}

async function retrieves(shop: Workshop): Promise<void> {
  const { chatflow_id } = await shop.write(retrieval(shop.supplies));
  expect((await shop.first.flow(chatflow_id)).edges).toHaveLength(6);
  const { status, json, text } = await shop.first.send('POST', `/vector/upsert/${chatflow_id}`, {});
  expect(status, text).toBe(200);
  expect(json.numAdded).toBe(1);
  const { sourceDocuments } = await answers(shop, chatflow_id, 'When does the library open?');
  expect(JSON.stringify(sourceDocuments)).toContain('opens at nine');
}

async function usesTool(shop: Workshop): Promise<void> {
  const { chatflow_id } = await shop.write(toolAgent(shop.supplies));
  expect(inputsOf(await shop.first.flow(chatflow_id), 'toolAgent').tools).toEqual(['{{calculator_0.data.instance}}']);
  const { usedTools } = await answers(shop, chatflow_id, 'calculate');
  expect(usedTools).toMatchObject([{ tool: 'calculator', toolOutput: '5' }]);
}

async function storesTool(shop: Workshop): Promise<void> {
  const { chatflow_id } = await shop.write(ownToolAgent(shop.supplies));
  const { selectedTool } = inputsOf(await shop.first.flow(chatflow_id), 'customTool');
  const stored = await shop.first.send('GET', `/tools/${selectedTool}`);
  expect(stored.json).toMatchObject({ name: 'calculate_double', description: 'Doubles a number' });
  const { usedTools } = await answers(shop, chatflow_id, 'calculate');
  expect(JSON.stringify(usedTools)).toContain('calculate_double');
  await shop.first.send('DELETE', `/tools/${selectedTool}`);
}

/** What somebody else does to the flow on the server, around the program. */
async function editAround({ first }: Workshop, id: string, change: (flow: FlowData) => void): Promise<string> {
  const { json } = await first.send('GET', `/chatflows/${id}`);
  const flow = JSON.parse(json.flowData) as FlowData;
  change(flow);
  const flowData = JSON.stringify(flow);
  await first.send('PUT', `/chatflows/${id}`, { flowData });
  return flowData;
}

const warmer = [{ op_type: 'set_param', node_id: 'chatOpenAI_0', param_name: 'temperature', value: 0.9 }] as const;

async function yields(shop: Workshop): Promise<void> {
  const { chatflow_id } = await shop.write(conversation(shop.supplies));
  const { payload_hash, base_hash } = await shop.ask('patch.compile', { chatflow_id, ops: warmer });
  const theirs = await editAround(shop, chatflow_id, (flow) => {
    inputsOf(flow, 'conversationChain').systemMessagePrompt = 'Answer at length.';
  });
  const late = shop.ask('chatflow.apply', { chatflow_id, ops: warmer, payload_hash, base_hash });
  await expect(late).rejects.toMatchObject({ code: 'chatflow_conflict' });
  expect((await shop.first.send('GET', `/chatflows/${chatflow_id}`)).json.flowData).toBe(theirs);
}

async function rebases(shop: Workshop): Promise<void> {
  const { chatflow_id } = await shop.write(conversation(shop.supplies));
  const { payload_hash, base_hash } = await shop.ask('patch.compile', { chatflow_id, ops: warmer });
  const moved = { x: 777, y: 333 };
  await editAround(shop, chatflow_id, (flow) => Object.assign(nodeOf(flow, 'bufferMemory'), { position: moved }));
  const written = await shop.ask('chatflow.apply', { chatflow_id, ops: warmer, payload_hash, base_hash });
  expect(written.rebased).toBe(true);
  const flow = await shop.first.flow(chatflow_id);
  expect(nodeOf(flow, 'bufferMemory').position).toEqual(moved);
  expect(inputsOf(flow, 'chatOpenAI').temperature).toBe(0.9);
}

async function restores(shop: Workshop): Promise<void> {
  const { chatflow_id, version } = await shop.write(conversation(shop.supplies));
  const before = await shop.first.flow(chatflow_id);
  await shop.write([...warmer, { op_type: 'set_label', node_id: 'chatOpenAI_0', label: 'Renamed' }], chatflow_id);
  await shop.ask('chatflow.restore', { chatflow_id, version: String(version) });
  const after = await shop.first.flow(chatflow_id);
  expect({ nodes: after.nodes, edges: after.edges }).toEqual({ nodes: before.nodes, edges: before.edges });
  await answers(shop, chatflow_id);
  const { items } = await shop.ask('chatflow.history', { chatflow_id });
  expect(items.map(({ origin }: { origin: string }) => origin)).toEqual(['restore', 'write', 'write']);
}

async function promotes(shop: Workshop): Promise<void> {
  const { first, second } = shop;
  const { chatflow_id } = await shop.write(conversation(shop.supplies));
  const credential = await second.credential('case key');
  const promoted = await shop.ask('chatflow.promote', { chatflow_id, to_server: second.name });
  const [here, there] = [await first.flow(chatflow_id), await second.flow(promoted.chatflow_id)];
  expect(shapeOf(there)).toEqual(shapeOf(here));
  expect(nodeOf(there, 'chatOpenAI').data.credential).toBe(credential);
  const answer = await second.predict(promoted.chatflow_id, 'hello');
  expect(answer.json.text).toContain('Heard as message');
  await second.send('DELETE', `/chatflows/${promoted.chatflow_id}`);
}
