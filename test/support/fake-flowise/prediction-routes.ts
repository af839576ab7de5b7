import { randomUUID } from 'node:crypto';
import type { FlowData, FlowNode } from '../../../src/flowise/flow/model.ts';
import { json, Refusal } from './answers.ts';
import { existing } from './chatflow-routes.ts';
import { endingNodes } from './flow-checks.ts';
import { buildUpTo, interpret } from './interpret.ts';
import type { Call, Route, World } from './route.ts';

const UPSERT = 'Error: vectorsService.upsertVector';
const STREAMING = 'Error: chatflowsService.checkIfChatflowIsValidForStreaming';

export const predictionRoutes: readonly Route[] = [
  { method: 'POST', pattern: '/prediction/:id', access: 'public', handle: predict },
  {
    method: 'GET',
    pattern: '/chatflows-streaming/:id',
    access: 'public',
    handle: ({ params }, world) => {
      const flow = flowOf(params.id, world, STREAMING);
      const endings = endingNodes(flow);
      if (typeof endings === 'string') {
        throw new Refusal(500, `${STREAMING} - ${endings}`);
      }
      const models = flow.nodes.filter(({ data }) => data.category === 'Chat Models');
      return json({ isStreaming: models.length > 0 && models.every(({ data }) => data.inputs.streaming === true) });
    },
  },
  { method: 'POST', pattern: '/vector/upsert/:id', access: null, handle: upsert },
];

function predict({ params, body, keyed }: Call, world: World) {
  const row = existing(params.id, world);
  if (row.apikeyid && !keyed) throw new Refusal(500, 'Error: predictionsServices.buildChatflow - Unauthorized');
  const flow = JSON.parse(row.flowData) as FlowData;
  const { memory, tools, documents, streams } = interpret(flow, world);
  const question = String(body.question ?? '');
  const overrides = (body.overrideConfig ?? {}) as { sessionId?: string };
  const chatId = String(body.chatId ?? overrides.sessionId ?? randomUUID());
  const sessionId = overrides.sessionId ?? chatId;
  const earlier = memory
    ? world.rows.messages.filter((message) => message.chatflowid === row.id && message.sessionId === sessionId)
    : [];
  const text = world.say(question, earlier.length + 2);
  world.rows.messages.push(
    { chatflowid: row.id, sessionId, role: 'userMessage', content: question },
    { chatflowid: row.id, sessionId, role: 'apiMessage', content: text },
  );
  const called = /calc/i.test(question) ? tools[0] : undefined;
  return json({
    text,
    ...(documents.length > 0
      ? {
          sourceDocuments: documents.map(({ data }) => ({ pageContent: String(data.inputs.text ?? ''), metadata: {} })),
        }
      : {}),
    ...(called ? { usedTools: [{ tool: toolName(called, world), toolInput: { input: '2+3' }, toolOutput: '5' }] } : {}),
    question,
    chatId,
    chatMessageId: randomUUID(),
    isStreamValid: streams,
    sessionId,
    ...(memory ? { memoryType: memory.data.label } : {}),
  });
}

/** The name that the model knows it by. */
function toolName({ data }: FlowNode, { rows }: World): string {
  return rows.tools.get(String(data.inputs.selectedTool ?? ''))?.name ?? data.name;
}

function flowOf(id: string | undefined, { rows }: World, where: string): FlowData {
  const row = rows.chatflows.get(id ?? '');
  if (row) return JSON.parse(row.flowData) as FlowData;
  throw new Refusal(500, `${where} - Chatflow ${id} not found`);
}

function upsert({ params, body }: Call, world: World) {
  const flow = flowOf(params.id, world, UPSERT);
  const stores = flow.nodes.filter(({ data }) => data.category === 'Vector Stores');
  const wanted = body.stopNodeId;
  if (stores.length === 0) throw new Refusal(500, `${UPSERT} - No vector node found`);
  if (stores.length > 1 && wanted === undefined) {
    throw new Refusal(500, `${UPSERT} - There are multiple vector nodes, please provide stopNodeId in body request`);
  }
  const store = wanted === undefined ? stores[0] : stores.find(({ id }) => id === wanted);
  if (!store) throw new Refusal(500, `${UPSERT} - graph[currentNode] is not iterable`);
  const loaders = buildUpTo(flow, store, world, UPSERT).filter(({ data }) => data.category === 'Document Loaders');
  const addedDocs = loaders.map(({ data }) => ({ pageContent: String(data.inputs.text ?? ''), metadata: {} }));
  world.rows.upserts.push({ chatflowid: String(params.id), stopNodeId: store.id, numAdded: addedDocs.length });
  return json({ numAdded: addedDocs.length, addedDocs });
}
