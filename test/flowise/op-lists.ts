import type { PatchOp } from '../../src/flowise/compiler/ops.ts';

/** What the flows of the cases need from the server that they are built on. */
export interface Supplies {
  modelUrl: string;
  /** Id of a credential of type openAIApi; left out to bind none. */
  credential?: string;
}

export function add(node_name: string, node_id: string, params: Record<string, unknown> = {}): PatchOp {
  return { op_type: 'add_node', node_name, node_id, params };
}

/** `connect('a_0.retriever', 'b_0.model')` */
export function connect(from: string, to: string): PatchOp {
  return { op_type: 'connect', ...ends(from, to) };
}

export function disconnect(from: string, to: string): PatchOp {
  return { op_type: 'disconnect', ...ends(from, to) };
}

function ends(from: string, to: string) {
  const [source_node_id = '', source_anchor = ''] = from.split('.');
  const [target_node_id = '', target_anchor = ''] = to.split('.');
  return { source_node_id, source_anchor, target_node_id, target_anchor };
}

export function bind(node_id: string, credential_id: string | undefined): PatchOp[] {
  return credential_id === undefined ? [] : [{ op_type: 'bind_credential', node_id, credential_id }];
}

/** Streaming would ask for tables from the web; the answer is the same without. */
export function model(node_id: string, { modelUrl, credential }: Supplies): PatchOp[] {
  const params = { modelName: 'scripted', temperature: 0.2, streaming: false, basepath: modelUrl };
  return [add('chatOpenAI', node_id, params), ...bind(node_id, credential)];
}

export function conversation(supplies: Supplies): PatchOp[] {
  return [
    ...model('chatOpenAI_0', supplies),
    add('bufferMemory', 'bufferMemory_0'),
    add('conversationChain', 'conversationChain_0', { systemMessagePrompt: 'Answer in one line.' }),
    connect('chatOpenAI_0.chatOpenAI', 'conversationChain_0.model'),
    connect('bufferMemory_0.bufferMemory', 'conversationChain_0.memory'),
  ];
}

export function retrieval(supplies: Supplies): PatchOp[] {
  return [
    add('recursiveCharacterTextSplitter', 'recursiveCharacterTextSplitter_0', { chunkSize: 200, chunkOverlap: 20 }),
    add('plainText', 'plainText_0', { text: 'The library opens at nine and closes at six.' }),
    add('openAIEmbeddings', 'openAIEmbeddings_0', { basepath: supplies.modelUrl }),
    ...bind('openAIEmbeddings_0', supplies.credential),
    add('memoryVectorStore', 'memoryVectorStore_0', { topK: 2 }),
    ...model('chatOpenAI_0', supplies),
    add('bufferMemory', 'bufferMemory_0'),
    add('conversationalRetrievalQAChain', 'conversationalRetrievalQAChain_0', { returnSourceDocuments: true }),
    connect('recursiveCharacterTextSplitter_0.recursiveCharacterTextSplitter', 'plainText_0.textSplitter'),
    connect('plainText_0.document', 'memoryVectorStore_0.document'),
    connect('openAIEmbeddings_0.openAIEmbeddings', 'memoryVectorStore_0.embeddings'),
    connect('memoryVectorStore_0.retriever', 'conversationalRetrievalQAChain_0.vectorStoreRetriever'),
    connect('chatOpenAI_0.chatOpenAI', 'conversationalRetrievalQAChain_0.model'),
    connect('bufferMemory_0.bufferMemory', 'conversationalRetrievalQAChain_0.memory'),
  ];
}

export function toolAgent(supplies: Supplies): PatchOp[] {
  return [
    ...model('chatOpenAI_0', supplies),
    add('bufferMemory', 'bufferMemory_0'),
    add('calculator', 'calculator_0'),
    add('toolAgent', 'toolAgent_0', { systemMessage: 'Use your tools.' }),
    connect('calculator_0.calculator', 'toolAgent_0.tools'),
    connect('bufferMemory_0.bufferMemory', 'toolAgent_0.memory'),
    connect('chatOpenAI_0.chatOpenAI', 'toolAgent_0.model'),
  ];
}

/** The same with a tool of our own, which is stored on the server first. */
export function ownToolAgent(supplies: Supplies): PatchOp[] {
  const others = toolAgent(supplies).filter((op) => !JSON.stringify(op).includes('calculator_0'));
  return [
    {
      op_type: 'create_tool',
      tool_ref: 'doubler',
      name: 'calculate_double',
      description: 'Doubles a number',
      schema: [{ property: 'input', type: 'string', description: 'The number', required: true }],
      func: "return 'doubled ' + $input;",
    },
    ...others,
    add('customTool', 'customTool_0', { selectedTool: 'flowright:tool:doubler' }),
    connect('customTool_0.customTool', 'toolAgent_0.tools'),
  ];
}
