import type { FlowData, NodeData } from '../../src/flowise/flow/model.ts';
import { changed, flowFor, nodeOf } from './flows.ts';
import type { Raw, Send, Target } from './target.ts';
import { NOBODY, type Note, withoutResults } from './trace.ts';

/** A bench of flows that are stored, asked and removed again. */
interface Bench {
  target: Target;
  send: Send;
  credential: string;
  store(flow: unknown): Promise<string>;
  ask(flow: unknown, question?: string): Promise<Raw>;
}

export async function predictions(target: Target, send: Send, note: Note): Promise<void> {
  const kept = await send('POST', '/credentials', {
    name: 'conformance',
    credentialName: 'openAIApi',
    plainDataObj: { openAIApiKey: 'sk-conformance' },
  });
  const made: string[] = [];
  const store = async (flow: unknown): Promise<string> => {
    const body = { name: 'conformance', type: 'CHATFLOW', flowData: JSON.stringify(flow) };
    const { json } = await send('POST', '/chatflows', body);
    made.push(json.id);
    return json.id;
  };
  const ask = async (flow: unknown, question = 'hello') =>
    send('POST', `/prediction/${await store(flow)}`, { question }, { key: null });
  const bench: Bench = { target, send, credential: kept.json.id, store, ask };
  await fine(bench, note);
  await faults(bench, note);
  for (const id of made) await send('DELETE', `/chatflows/${id}`);
  await send('DELETE', `/credentials/${bench.credential}`);
}

function flowsOf({ target: { modelUrl }, credential }: Bench) {
  return (name: Parameters<typeof flowFor>[0]) => flowFor(name, { modelUrl, credential });
}

async function fine(bench: Bench, note: Note): Promise<void> {
  const { send, store, ask } = bench;
  const flow = flowsOf(bench);
  const working = await store(flow('working'));
  note('predict', await send('POST', `/prediction/${working}`, { question: 'hello' }, { key: null }));
  note('predict with a tool', withoutResults(await ask(flow('toolagent'), 'calculate')));
  note('predict with a prompt', await ask(flow('llmchain')));
  const rag = await store(flow('rag'));
  const upsert = (id: string, body: unknown) => send('POST', `/vector/upsert/${id}`, body);
  note('upsert', withoutResults(await upsert(rag, {})));
  note('upsert at a node', withoutResults(await upsert(rag, { stopNodeId: 'memoryVectorStore_0' })));
  note('upsert at an unknown node', await upsert(rag, { stopNodeId: 'nope_0' }));
  note('upsert without a store', await upsert(working, {}));
  note('upsert none', await upsert(NOBODY, {}));
  // Nothing of a number counts as not given, and what is not given is 200.
  const overlap = changed(flow('rag'), input('recursiveCharacterTextSplitter', { chunkSize: 200, chunkOverlap: 0 }));
  note('upsert with an overlap of nothing', await upsert(await store(overlap), {}));
  const unbound = changed(flow('rag'), data('openAIEmbeddings', { credential: '' }));
  note('upsert without a credential', await upsert(await store(unbound), {}));
  note('predict with an overlap of nothing', await ask(overlap));
  note('predict with documents', withoutResults(await send('POST', `/prediction/${rag}`, { question: 'hello' })));
  note('streams', await send('GET', `/chatflows-streaming/${working}`, undefined, { key: null }));
  note('streams: none', await send('GET', `/chatflows-streaming/${NOBODY}`, undefined, { key: null }));
  note('validation', await send('GET', `/validation/${working}`));
  note('validation of none', await send('GET', `/validation/${NOBODY}`));
  note('predict none', await send('POST', `/prediction/${NOBODY}`, { question: 'hello' }));
  note('predict by no id', await send('POST', '/prediction/nope', { question: 'hello' }));
}

/** Puts fields into the data of a node. */
const data = (name: string, fields: Partial<NodeData>) => (flow: FlowData) => {
  Object.assign(nodeOf(flow, name).data, fields);
};

const input = (name: string, fields: Record<string, unknown>) => (flow: FlowData) => {
  Object.assign(nodeOf(flow, name).data.inputs, fields);
};

type Change = (flow: FlowData) => void;

/** What may be wrong with a chain of a model and a memory. All of it is stored without a word. */
const CHAIN_FAULTS: readonly (readonly [string, Change])[] = [
  ['fault: no credential', data('chatOpenAI', { credential: '' })],
  ['fault: unknown credential', data('chatOpenAI', { credential: NOBODY })],
  [
    'fault: credential among inputs',
    (flow) => {
      const { credential = '' } = nodeOf(flow, 'chatOpenAI').data;
      input('chatOpenAI', { credential })(flow);
      data('chatOpenAI', { credential: '' })(flow);
    },
  ],
  [
    'fault: no edges',
    (flow) => {
      flow.edges = [];
    },
  ],
  ['fault: model not named', input('conversationChain', { model: '' })],
  ['fault: memory not named', input('conversationChain', { memory: '' })],
  ['fault: memory of a wrong kind', input('conversationChain', { memory: '{{chatOpenAI_0.data.instance}}' })],
  ['fault: unknown node', data('bufferMemory', { name: 'nope' })],
  [
    'fault: no inputParams',
    (flow) => {
      delete nodeOf(flow, 'chatOpenAI').data.inputParams;
    },
  ],
  ['no fault: empty inputParams', data('chatOpenAI', { inputParams: [] })],
  [
    'no fault: edges without handles',
    (flow) => {
      flow.edges = flow.edges.map(({ source, target }) => ({ source, target }) as FlowData['edges'][number]);
    },
  ],
  [
    'no fault: an edge to nowhere',
    (flow) => {
      flow.edges.push({ id: 'x', source: 'chatOpenAI_0', target: 'nope_0', sourceHandle: '', targetHandle: '' });
    },
  ],
  ['fault: wrong category at the end', data('conversationChain', { category: 'Tools' })],
  [
    'fault: one model alone',
    (flow) => {
      flow.nodes = flow.nodes.filter(({ data: { name } }) => name === 'chatOpenAI');
      flow.edges = [];
    },
  ],
];

const AGENT_FAULTS: readonly (readonly [string, Change])[] = [
  ['fault: tool that is not stored', data('calculator', { name: 'customTool', inputs: { selectedTool: NOBODY } })],
  ['fault: no tool is chosen', data('calculator', { name: 'customTool', inputs: { selectedTool: '' } })],
  ['fault: agent without a model', input('toolAgent', { model: '' })],
  ['fault: agent without memory', input('toolAgent', { memory: '' })],
  ['fault: agent without tools', input('toolAgent', { tools: '' })],
];

async function faults(bench: Bench, note: Note): Promise<void> {
  const { send, store, ask } = bench;
  const flow = flowsOf(bench);
  for (const [name, change] of CHAIN_FAULTS) note(name, await ask(changed(flow('working'), change)));
  for (const [name, change] of AGENT_FAULTS) note(name, await ask(changed(flow('toolagent'), change)));
  note('fault: empty', await ask({ nodes: [], edges: [] }));
  const prediction = changed(flow('llmchain'), data('llmChain', { outputs: { output: 'outputPrediction' } }));
  note('fault: the chain gives no chain', await ask(prediction));
  const guarded = await store(flow('working'));
  await send('PUT', `/chatflows/${guarded}`, { apikeyid: NOBODY });
  note('fault: a key is asked for', await send('POST', `/prediction/${guarded}`, { question: 'hello' }, { key: null }));
}
