import { describe, expect, it } from 'vitest';
import { compile, EMPTY_FLOW } from '../../src/flowise/compiler/compile.ts';
import { add, bind, CONVERSATION, codes, link, nodeOf, RAG, recordedSchemas } from '../support/compiler-scene.ts';
import { checkCanvas } from '../support/fake-flowise/canvas.ts';

const schemas = recordedSchemas();
const CREDENTIAL = '513db410-c4c3-4818-a716-6f386aba8a82';

describe('adding nodes', () => {
  it('compiles every recorded node type alone; Agentflow v2 is refused by name [S001-M2-single-node] [FLR-agentflow]', () => {
    const refused: string[] = [];
    for (const name of schemas.names()) {
      const compilation = compile(EMPTY_FLOW, [add(name, `${name}_0`)], schemas, { incomplete: 'warn' });
      if (!compilation.ok) {
        expect(codes(compilation.errors)).toEqual(['agentflow_unsupported']);
        refused.push(name);
        continue;
      }
      const node = nodeOf(compilation.flow_data, `${name}_0`);
      expect(checkCanvas(compilation.flow_data)).toEqual([]);
      expect(typeof node.data.version).toBe('number');
      expect(node.data.type).toBe(schemas.get(name)?.type);
    }
    expect(schemas.names()).toHaveLength(297);
    expect(refused).toHaveLength(15);
  });

  it('builds the conversation of the worked example as the canvas would [FLR-node-complete-form]', () => {
    const { ok, flow_data } = compile(EMPTY_FLOW, CONVERSATION, schemas);
    expect(ok).toBe(true);
    const chain = nodeOf(flow_data, 'conversationChain_0').data;
    expect(chain.inputAnchors?.map(({ id }) => id)).toEqual(
      expect.arrayContaining([
        'conversationChain_0-input-model-BaseChatModel',
        'conversationChain_0-input-memory-BaseMemory',
      ]),
    );
    expect(chain.inputs).toMatchObject({
      model: '{{chatOpenAI_0.data.instance}}',
      memory: '{{bufferMemory_0.data.instance}}',
      chatPromptTemplate: '',
      inputModeration: '',
    });
    expect(chain.outputAnchors).toMatchObject([
      {
        id: 'conversationChain_0-output-conversationChain-ConversationChain|LLMChain|BaseChain|Runnable',
        name: 'conversationChain',
      },
    ]);
    expect(chain.outputs).toEqual({});
    const model = nodeOf(flow_data, 'chatOpenAI_0').data;
    expect(model.inputParams?.[0]).toMatchObject({
      name: 'credential',
      type: 'credential',
      credentialNames: ['openAIApi'],
      id: 'chatOpenAI_0-input-credential-credential',
    });
    expect(model.credential).toBe(CREDENTIAL);
    expect(model.inputs.modelName).toBe('gpt-4o-mini');
    expect(flow_data.edges[0]).toEqual({
      source: 'chatOpenAI_0',
      sourceHandle: 'chatOpenAI_0-output-chatOpenAI-ChatOpenAI|BaseChatOpenAI|BaseChatModel|BaseLanguageModel|Runnable',
      target: 'conversationChain_0',
      targetHandle: 'conversationChain_0-input-model-BaseChatModel',
      type: 'buttonedge',
      id: expect.stringMatching(
        /^chatOpenAI_0-chatOpenAI_0-output-.*-conversationChain_0-conversationChain_0-input-model-BaseChatModel$/,
      ),
    });
    expect(checkCanvas(flow_data)).toEqual([]);
  });

  it('offers a choice of outputs wherever the node lists them, and none where it hides them [FLR-node-complete-form]', () => {
    const { flow_data } = compile(EMPTY_FLOW, RAG, schemas);
    const store = nodeOf(flow_data, 'memoryVectorStore_0').data;
    expect(store.outputAnchors).toMatchObject([{ name: 'output', type: 'options', default: 'retriever' }]);
    expect(store.outputs).toEqual({ output: 'retriever' });
    expect(store.inputs.document).toEqual(['{{plainText_0.data.instance}}']);
    const worker = compile(EMPTY_FLOW, [add('worker', 'worker_0')], schemas, { incomplete: 'warn' }).flow_data;
    expect(nodeOf(worker, 'worker_0').data.outputAnchors).toEqual([]);
  });

  it('marks which inputs are shown, by the values they end up with [FLR-node-complete-form]', () => {
    const shown = (params?: Record<string, unknown>) => {
      const { flow_data } = compile(EMPTY_FLOW, [add('chatOpenAI', 'a', params)], schemas, { incomplete: 'warn' });
      return nodeOf(flow_data, 'a').data.inputParams?.find(({ name }) => name === 'reasoningEffort')?.display;
    };
    expect(shown()).toBe(false);
    expect(shown({ reasoning: true })).toBe(true);
  });

  it('places sources left of targets, nothing on anything, beside what is there [FLR-layout]', () => {
    const first = compile(EMPTY_FLOW, RAG, schemas);
    const more = [
      add('bufferMemory', 'bufferMemory_0'),
      link('bufferMemory_0.bufferMemory', 'conversationalRetrievalQAChain_0.memory'),
      add('chatOpenAI', 'chatOpenAI_1'),
      bind('chatOpenAI_1'),
      add('conversationChain', 'conversationChain_1'),
      link('chatOpenAI_1.chatOpenAI', 'conversationChain_1.model'),
      add('bufferMemory', 'bufferMemory_1'),
      link('bufferMemory_1.bufferMemory', 'conversationChain_1.memory'),
    ];
    const second = compile(first.flow_data_str, more, schemas);
    expect(codes(second.errors)).toEqual([]);
    for (const { flow_data } of [first, second]) {
      const { nodes, edges } = flow_data;
      for (const edge of edges) {
        expect(nodeOf(flow_data, edge.source).position.x).toBeLessThan(nodeOf(flow_data, edge.target).position.x);
      }
      for (const a of nodes) {
        for (const b of nodes) {
          if (a === b) continue;
          const apart =
            Math.abs(a.position.x - b.position.x) >= 300 ||
            a.position.y + Number(a.height) <= b.position.y ||
            b.position.y + Number(b.height) <= a.position.y;
          expect(apart, `${a.id} ${b.id}`).toBe(true);
        }
      }
    }
    expect(second.flow_data.nodes.slice(0, 5)).toMatchObject(
      first.flow_data.nodes.map(({ id, position }) => ({ id, position })),
    );
  });

  it('takes a name in another case, and names the likely one for a misspelt [FLR-did-you-mean]', () => {
    const cased = compile(EMPTY_FLOW, [add('ChatOpenAI', 'a'), bind('a')], schemas, { incomplete: 'warn' });
    expect(cased.ok).toBe(true);
    expect(nodeOf(cased.flow_data, 'a').data.name).toBe('chatOpenAI');
    expect(codes(cased.warnings)).toContain('node_type_spelling');
    const misspelt = compile(EMPTY_FLOW, [add('chatOpenIA', 'a'), add('zzzzzzzzzzz', 'b')], schemas);
    expect(misspelt.errors).toMatchObject([
      { code: 'node_type_unknown', path: '/ops/0/node_name' },
      { code: 'node_type_unknown', path: '/ops/1/node_name' },
    ]);
    expect(misspelt.errors[0]?.message).toMatch(/did you mean chatOpenAI/);
    expect(misspelt.errors[1]?.message).not.toContain('did you mean');
    expect(misspelt.missing_node_types).toEqual(['chatOpenIA', 'zzzzzzzzzzz']);
    expect(misspelt.flow_data_str).toBe(EMPTY_FLOW);
  });

  it('warns of a node type that Flowise will drop [FLR-did-you-mean]', () => {
    const old = schemas.names().find((name) => schemas.get(name)?.badge === 'DEPRECATING') ?? '';
    const { warnings } = compile(EMPTY_FLOW, [add(old, 'a')], schemas, { incomplete: 'warn' });
    expect(codes(warnings)).toContain('node_type_deprecated');
  });
});
