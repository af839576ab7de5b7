import { describe, expect, it } from 'vitest';
import { compile, EMPTY_FLOW } from '../../src/flowise/compiler/compile.ts';
import type { PatchOp } from '../../src/flowise/compiler/ops.ts';
import { validateFlow } from '../../src/flowise/compiler/validate.ts';
import type { FlowData } from '../../src/flowise/flow/model.ts';
import {
  add,
  bind,
  built,
  CONVERSATION,
  codes,
  link,
  put,
  RAG,
  recordedSchemas,
  unlink,
} from '../support/compiler-scene.ts';
import { recordedAgentflow } from '../support/fake-flowise/data.ts';

const schemas = recordedSchemas();
const parsed = (text: string) => JSON.parse(text) as FlowData;
const conversation = () => parsed(built(CONVERSATION));
// biome-ignore lint/suspicious/noExplicitAny: the flows are broken on purpose, wherever that is
type Broken = any;

/** What the validator says of a conversation after somebody meddled with it. */
function errorsAfter(meddle: (flow: Broken) => void, options = {}): string[] {
  const flow = conversation();
  meddle(flow);
  return codes(validateFlow(flow, { schemas, ...options }).errors);
}

describe('validating a flow', () => {
  it('accepts what compiles, and counts it [S001-M2-real-checks]', () => {
    for (const [ops, node_count, edge_count] of [
      [CONVERSATION, 3, 2],
      [RAG, 5, 4],
    ] as const) {
      const validation = validateFlow(parsed(built(ops)), { schemas });
      expect(validation).toEqual({ valid: true, errors: [], warnings: [], node_count, edge_count });
    }
  });

  it('finds ids that are there twice, hold a dash or differ inside [FLR-validate-nodes]', () => {
    expect(errorsAfter((flow) => flow.nodes.push(structuredClone(flow.nodes[1])))).toEqual(['node_id_duplicate']);
    const dash = errorsAfter((flow) => {
      flow.nodes.push({ ...flow.nodes[1], id: 'a-b', data: { ...flow.nodes[1].data, id: 'a-b' } });
    });
    expect(dash).toEqual(['node_id_invalid']);
    expect(errorsAfter((flow) => (flow.nodes[0].data.id = 'other'))).toEqual(['node_id_mismatch']);
  });

  it('finds nodes that lack a part or are of no known type [FLR-validate-nodes]', () => {
    expect(errorsAfter((flow) => delete flow.nodes[1].data.inputParams)).toEqual(['node_form']);
    expect(errorsAfter((flow) => delete flow.nodes[1].data.outputs)).toEqual(['node_form']);
    expect(errorsAfter((flow) => (flow.nodes[1].data.name = 'bufferMemry'))).toEqual(['node_type_unknown']);
    const flow = conversation();
    (flow.nodes[1] as Broken).data.name = 'bufferMemry';
    const { errors } = validateFlow(flow, { schemas });
    expect(errors[0]).toMatchObject({
      path: '/nodes/1/data/name',
      message: expect.stringContaining('did you mean bufferMemory'),
    });
    expect(validateFlow(flow).valid).toBe(true);
  });

  it('finds edges to nowhere, from unknown handles, between types that do not meet, and double ones [FLR-validate-edges]', () => {
    expect(errorsAfter((flow) => flow.edges.push({ ...flow.edges[0], target: 'gone' }))).toEqual(['edge_dangling']);
    expect(errorsAfter((flow) => (flow.edges[0].sourceHandle = 'x'))).toEqual(['handle_unknown']);
    expect(errorsAfter((flow) => (flow.edges[0].targetHandle = ''))).toEqual([
      'input_missing',
      'handle_unknown',
      'edge_missing',
    ]);
    expect(errorsAfter((flow) => flow.edges.push({ ...flow.edges[0] }))).toEqual(['edge_duplicate', 'anchor_in_use']);
    const crossed = errorsAfter((flow) => {
      flow.edges[0].sourceHandle = flow.edges[1].sourceHandle;
      flow.edges[0].source = 'bufferMemory_0';
      flow.nodes[2].data.inputs.model = '{{bufferMemory_0.data.instance}}';
    });
    expect(crossed).toEqual(['type_mismatch']);
  });

  it('asks for an edge and a reference alike, and for arrays where lists are [FLR-validate-references]', () => {
    expect(errorsAfter((flow) => (flow.nodes[2].data.inputs.memory = ''))).toEqual(['reference_missing']);
    expect(errorsAfter((flow) => flow.edges.pop())).toEqual(['input_missing', 'edge_missing']);
    expect(errorsAfter((flow) => (flow.nodes[2].data.inputs.systemMessagePrompt = '{{gone_0.data.instance}}'))).toEqual(
      ['reference_unknown'],
    );
    const rag = parsed(built(RAG)) as Broken;
    rag.nodes[2].data.inputs.document = '{{plainText_0.data.instance}}';
    expect(codes(validateFlow(rag, { schemas }).errors)).toEqual(['list_expected']);
    rag.nodes[2].data.inputs.document = ['{{plainText_0.data.instance}}'];
    rag.nodes[2].data.outputs.output = 'vectorStore';
    expect(codes(validateFlow(rag, { schemas }).errors)).toEqual(['output_not_chosen']);
  });

  it('tells what is not filled in yet, by the conditions of each input, and can let it pass [FLR-validate-incomplete]', () => {
    expect(errorsAfter((flow) => (flow.nodes[0].data.credential = ''))).toEqual(['credential_missing']);
    expect(errorsAfter((flow) => (flow.nodes[0].data.credential = ''), { incomplete: 'warn' })).toEqual([]);
    const required = errorsAfter((flow) => {
      flow.nodes[1].data.inputParams.push(
        { id: 'x', name: 'shown', label: 'Shown', type: 'string', show: { kind: ['a', 'b'] } },
        { id: 'y', name: 'hidden', label: 'Hidden', type: 'string', hide: { kind: 'b' } },
        { id: 'z', name: 'flag', label: 'Flag', type: 'boolean' },
      );
      flow.nodes[1].data.inputs.kind = 'b';
    });
    expect(required).toEqual(['input_missing']);
    expect(errorsAfter((flow) => flow.nodes.pop())).toEqual(['edge_dangling', 'edge_dangling', 'ending_missing']);
  });

  it('asks that a flow ends in a chain, an agent or an engine [FLR-validate-ending]', () => {
    const model = compile(EMPTY_FLOW, [add('calculator', 'calculator_0')], schemas);
    expect(codes(model.errors)).toEqual(['ending_missing']);
    const ending = compile(
      EMPTY_FLOW,
      [add('customFunction', 'customFunction_0', { javascriptFunction: 'return 1' })],
      schemas,
    );
    const flow = ending.flow_data as Broken;
    expect(codes(ending.errors)).toEqual(['ending_missing']);
    flow.nodes[0].data.outputs.output = 'EndingNode';
    expect(validateFlow(flow, { schemas }).valid).toBe(true);
    expect(validateFlow(parsed(EMPTY_FLOW)).warnings).toMatchObject([{ code: 'flow_empty' }]);
  });

  it('warns of nodes that hang in the air and of an index without documents [FLR-validate-graph]', () => {
    const lonely = compile(built(CONVERSATION), [add('calculator', 'calculator_0')], schemas);
    expect(lonely.ok).toBe(true);
    expect(codes(lonely.warnings)).toEqual(['node_unconnected']);
    const empty = compile(
      EMPTY_FLOW,
      RAG.filter((op) => !JSON.stringify(op).includes('plainText_0')),
      schemas,
    );
    expect(codes(empty.errors)).toEqual(['documents_missing']);
  });

  it('finds circles and nodes of two worlds in one flow [FLR-validate-graph]', () => {
    const circle = compile(
      EMPTY_FLOW,
      [
        add('llmChain', 'a'),
        add('promptTemplate', 'b', { template: '{t}', promptValues: '{"t":"{{a.data.instance}}"}' }),
        link('a.outputPrediction', 'b.promptValues'),
      ],
      schemas,
      { incomplete: 'warn' },
    ).flow_data as Broken;
    circle.nodes[0].data.inputs.prompt = '{{b.data.instance}}';
    circle.edges.push({
      source: 'b',
      sourceHandle: circle.nodes[1].data.outputAnchors[0].id,
      target: 'a',
      targetHandle: 'a-input-prompt-BasePromptTemplate',
      type: 'buttonedge',
      id: 'back',
    });
    expect(codes(validateFlow(circle, { schemas, incomplete: 'warn' }).errors)).toEqual(['circle']);
    const mixed = recordedAgentflow();
    mixed.nodes.push(...conversation().nodes.slice(1, 2));
    expect(codes(validateFlow(mixed, { schemas }).errors)).toEqual(['mixed_flow']);
    const headless = recordedAgentflow();
    headless.nodes.shift();
    expect(codes(validateFlow(headless, { schemas }).errors)).toEqual(['edge_dangling', 'start_missing']);
  });

  it('finds placeholders, hidden secrets and tools that nothing stores [FLR-validate-values]', () => {
    expect(errorsAfter((flow) => (flow.nodes[0].data.inputs.basepath = 'x [secret]'))).toEqual(['secret_hidden']);
    expect(errorsAfter((flow) => (flow.nodes[0].data.inputs.basepath = 'MISSING_url'))).toEqual(['placeholder']);
    expect(errorsAfter((flow) => (flow.nodes[0].data.credential = 'MISSING_openAIApi'))).toEqual([
      'credential_unresolved',
    ]);
    expect(errorsAfter(() => {}, { credentials: ['other'] })).toEqual(['credential_unknown']);
    expect(errorsAfter((flow) => (flow.nodes[0].data.inputs.basepath = 'flowright:tool:x'))).toEqual([
      'tool_unresolved',
    ]);
    expect(
      errorsAfter((flow) => (flow.nodes[0].data.inputs.basepath = 'flowright:tool:x'), { toolRefs: ['x'] }),
    ).toEqual([]);
  });

  it('says which node, where in the flow, and what to do [FLR-validate-messages]', () => {
    const flow = conversation() as Broken;
    flow.nodes[0].data.credential = '';
    expect(validateFlow(flow, { schemas }).errors).toEqual([
      {
        code: 'credential_missing',
        message: 'chatOpenAI_0 (OpenAI) needs a credential (openAIApi); bind one.',
        path: '/nodes/0/data/credential',
      },
    ]);
  });

  it('never throws, whatever a node holds, and neither does an operation on it [FLR-validate-messages]', () => {
    const ops: PatchOp[] = [
      put('chatOpenAI_0', 'temperature', 1),
      link('chatOpenAI_0.chatOpenAI', 'conversationChain_0.model'),
      unlink('chatOpenAI_0.chatOpenAI', 'conversationChain_0.model'),
      bind('chatOpenAI_0'),
      { op_type: 'remove_node', node_id: 'chatOpenAI_0' },
      { op_type: 'set_label', node_id: 'chatOpenAI_0', label: 'x' },
      add('calculator', 'calculator_0'),
    ];
    const fields = ['inputAnchors', 'inputParams', 'outputAnchors', 'outputs', 'inputs', 'credential', 'label', 'name'];
    for (const junk of [
      null,
      0,
      [null],
      {},
      [{}],
      [{ name: 1 }],
      [{ name: 'model', options: [null, { name: 'a' }] }],
    ]) {
      for (const field of fields) {
        const flow = conversation() as Broken;
        for (const node of flow.nodes) node.data[field] = junk;
        expect(() => validateFlow(flow, { schemas })).not.toThrow();
        const text = JSON.stringify(flow);
        for (const op of ops) expect(() => compile(text, [op], schemas), `${field} ${text}`).not.toThrow();
      }
    }
    const bare = JSON.stringify({
      nodes: ['chatOpenAI_0', 'conversationChain_0'].map((id) => ({ id, data: {} })),
      edges: [],
    });
    for (const op of ops) expect(() => compile(bare, [op], schemas)).not.toThrow();
  });
});
