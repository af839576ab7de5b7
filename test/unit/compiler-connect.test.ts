import { describe, expect, it } from 'vitest';
import { compile, EMPTY_FLOW } from '../../src/flowise/compiler/compile.ts';
import type { PatchOp } from '../../src/flowise/compiler/ops.ts';
import {
  add,
  bind,
  built,
  CONVERSATION,
  codes,
  link,
  nodeOf,
  put,
  RAG,
  recordedSchemas,
  unlink,
} from '../support/compiler-scene.ts';

const schemas = recordedSchemas();
const BASE = built(CONVERSATION);
const STORE = built(RAG);
const AGENT = [
  add('toolAgent', 'toolAgent_0'),
  add('chatOpenAI', 'chatOpenAI_0'),
  add('bufferMemory', 'bufferMemory_0'),
];
const draft = (ops: readonly PatchOp[], base = EMPTY_FLOW) => compile(base, ops, schemas, { incomplete: 'warn' });

describe('connecting', () => {
  it('finds anchors by name, then by case, then by a type that only one has, and counts each [FLR-anchor-resolution]', () => {
    const { ok, anchor_metrics, warnings, flow_data } = draft([
      ...AGENT,
      link('chatOpenAI_0.chatOpenAI', 'toolAgent_0.model'),
      link('bufferMemory_0.BufferMemory', 'toolAgent_0.BaseMemory'),
    ]);
    expect(ok).toBe(true);
    expect(nodeOf(flow_data, 'toolAgent_0').data.inputs.memory).toBe('{{bufferMemory_0.data.instance}}');
    expect(anchor_metrics).toEqual({
      total_connections: 2,
      exact_name_matches: 1,
      fuzzy_fallbacks: 1,
      exact_match_rate: 0.5,
      fuzzy_details: [
        { node: 'bufferMemory_0', anchor: 'BufferMemory', resolved_to: 'bufferMemory', pass: 'case_insensitive' },
        { node: 'toolAgent_0', anchor: 'BaseMemory', resolved_to: 'memory', pass: 'type' },
      ],
    });
    expect(codes(warnings).filter((code) => code === 'anchor_resolved')).toHaveLength(2);
    expect(draft([]).anchor_metrics.exact_match_rate).toBe(1);
  });

  it('maps an output that was renamed to the only one that fits [FLR-anchor-resolution]', () => {
    const { flow_data } = draft([
      add('github', 'github_0'),
      add('memoryVectorStore', 'store_0'),
      link('github_0.github', 'store_0.document'),
    ]);
    expect(nodeOf(flow_data, 'github_0').data.outputs).toEqual({ output: 'document' });
  });

  it('never makes up a handle: an unknown anchor is an error with the names there are [FLR-no-made-up-handles]', () => {
    const { errors } = draft([...AGENT, link('chatOpenAI_0.modl', 'toolAgent_0.brain')]);
    expect(errors).toMatchObject([
      { code: 'anchor_unknown', path: '/ops/3/target_anchor' },
      { code: 'anchor_unknown', path: '/ops/3/source_anchor' },
    ]);
    expect(errors[0]?.message).toContain('It has tools, memory, model');
    expect(errors[1]?.message).toContain('It has chatOpenAI');
  });

  it('refuses what the canvas would: other types, a second edge, a circle, two outputs at once [FLR-connect-rules]', () => {
    const errors = (ops: PatchOp[], base: string) => codes(compile(base, ops, schemas).errors);
    expect(errors([link('bufferMemory_0.bufferMemory', 'conversationChain_0.model')], BASE)).toEqual(['type_mismatch']);
    expect(errors([link('chatOpenAI_0.chatOpenAI', 'conversationChain_0.model')], BASE)).toEqual(['connection_exists']);
    const second = [add('chatOpenAI', 'chatOpenAI_1'), link('chatOpenAI_1.chatOpenAI', 'conversationChain_0.model')];
    const taken = compile(BASE, second, schemas).errors;
    expect(codes(taken)).toEqual(['anchor_in_use']);
    expect(taken[0]?.message).toContain('disconnect it first');
    const both = [
      add('vectorStoreRetriever', 'retriever_0'),
      link('memoryVectorStore_0.vectorStore', 'retriever_0.vectorStore'),
    ];
    expect(errors(both, STORE)).toEqual(['output_in_use']);
    const round = draft([
      add('llmChain', 'a'),
      add('promptTemplate', 'b'),
      link('b.promptTemplate', 'a.prompt'),
      link('a.outputPrediction', 'b.promptValues'),
    ]);
    expect(codes(round.errors)).toEqual(['circle']);
  });

  it('keeps lists as arrays, tools that read first, tools that write second [FLR-list-anchors]', () => {
    const tools = ['calculator', 'requestsPost', 'serper', 'requestsGet'];
    const { flow_data } = draft([
      add('toolAgent', 'agent'),
      ...tools.flatMap((name) => [add(name, name), link(`${name}.${name}`, 'agent.tools')]),
    ]);
    expect(nodeOf(flow_data, 'agent').data.inputs.tools).toEqual(
      ['requestsGet', 'requestsPost', 'calculator', 'serper'].map((id) => `{{${id}.data.instance}}`),
    );
  });

  it('leaves a text that accepts variables as it is, and warns when the text does not use it [FLR-accept-variable]', () => {
    const ops = [
      add('llmChain', 'a'),
      add('promptTemplate', 'b', { template: '{t}' }),
      link('a.outputPrediction', 'b.promptValues'),
    ];
    const unused = draft(ops);
    expect(codes(unused.warnings)).toContain('variable_unused');
    expect(nodeOf(unused.flow_data, 'b').data.inputs.promptValues).toBe('');
    expect(nodeOf(unused.flow_data, 'a').data.outputs).toEqual({ output: 'outputPrediction' });
    const text = '{"t":"{{a.data.instance}}"}';
    const used = draft([ops[0] as PatchOp, ops[1] as PatchOp, put('b', 'promptValues', text), ops[2] as PatchOp]);
    expect(codes(used.warnings)).not.toContain('variable_unused');
    expect(nodeOf(used.flow_data, 'b').data.inputs.promptValues).toBe(text);
  });
});

describe('disconnecting', () => {
  it('is the exact inverse of connecting, within a list and for fresh nodes across lists [FLR-inverse]', () => {
    const loose = draft([
      add('memoryVectorStore', 'store'),
      add('vectorStoreRetriever', 'retriever'),
      add('toolAgent', 'agent'),
      add('calculator', 'calculator'),
    ]).flow_data_str;
    const there = [link('store.vectorStore', 'retriever.vectorStore'), link('calculator.calculator', 'agent.tools')];
    const back = [unlink('store.vectorStore', 'retriever.vectorStore'), unlink('calculator.calculator', 'agent.tools')];
    expect(draft([...there, ...back], loose).flow_data_str).toBe(loose);
    const connected = draft(there, loose).flow_data_str;
    expect(connected).not.toBe(loose);
    expect(draft(back, connected).flow_data_str).toBe(loose);
  });

  it('brings back what stood there, whatever that was: an empty list, nothing at all, a stale text [FLR-inverse]', () => {
    const flow = JSON.parse(
      draft([add('toolAgent', 'agent'), add('calculator', 'calculator'), add('chatOpenAI', 'model')]).flow_data_str,
    );
    const there = [link('calculator.calculator', 'agent.tools'), link('model.chatOpenAI', 'agent.model')];
    const back = [unlink('model.chatOpenAI', 'agent.model'), unlink('calculator.calculator', 'agent.tools')];
    for (const inputs of [{ tools: [], model: 'stale' }, { model: null }, { tools: '' }]) {
      flow.nodes[0].data.inputs = inputs;
      const base = JSON.stringify(flow);
      expect(draft([...there, ...back], base).flow_data_str).toBe(base);
    }
  });

  it('names the connections there are when that one is not [FLR-connect-rules]', () => {
    const wrong = compile(BASE, [unlink('chatOpenAI_0.chatOpenAI', 'conversationChain_0.memory')], schemas);
    expect(wrong.errors).toMatchObject([{ code: 'connection_unknown' }]);
    expect(wrong.errors[0]?.message).toContain('chatOpenAI to model');
  });

  it('makes room for another [FLR-connect-rules]', () => {
    const { ok, flow_data, diff } = compile(
      BASE,
      [
        unlink('chatOpenAI_0.chatOpenAI', 'conversationChain_0.model'),
        { op_type: 'remove_node', node_id: 'chatOpenAI_0' },
        add('chatAnthropic', 'chatAnthropic_0'),
        bind('chatAnthropic_0'),
        link('chatAnthropic_0.chatAnthropic', 'conversationChain_0.model'),
      ],
      schemas,
    );
    expect(ok).toBe(true);
    expect(nodeOf(flow_data, 'conversationChain_0').data.inputs.model).toBe('{{chatAnthropic_0.data.instance}}');
    expect(diff.nodes_removed).toHaveLength(1);
  });
});
