import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compile, EMPTY_FLOW } from '../../src/flowise/compiler/compile.ts';
import type { PatchOp } from '../../src/flowise/compiler/ops.ts';
import { validateFlow } from '../../src/flowise/compiler/validate.ts';
import { built, CONVERSATION, RAG, recordedSchemas } from '../support/compiler-scene.ts';
import { checkCanvas } from '../support/fake-flowise/canvas.ts';

const schemas = recordedSchemas();
const TYPES = [
  'chatOpenAI',
  'bufferMemory',
  'conversationChain',
  'toolAgent',
  'calculator',
  'requestsGet',
  'llmChain',
  'promptTemplate',
  'memoryVectorStore',
  'plainText',
  'openAIEmbeddings',
  'conversationalRetrievalQAChain',
  'seqCondition',
];
const ANCHORS = [
  'model',
  'memory',
  'tools',
  'prompt',
  'document',
  'embeddings',
  'retriever',
  'vectorStore',
  'promptValues',
  'outputPrediction',
  'vectorStoreRetriever',
  'BaseMemory',
  'sequentialNode',
  'next',
  'end',
  ...TYPES,
];

const type = fc.constantFrom(...TYPES, 'chatopenai', 'nothing');
const id = fc.constantFrom('a', 'b', 'c', 'd', 'chatOpenAI_0', 'conversationChain_0', 'memoryVectorStore_0', 'x-y');
const anchor = fc.constantFrom(...ANCHORS);
const value = fc.oneof(fc.string(), fc.integer(), fc.boolean(), fc.constant('{{a.data.instance}}'), fc.jsonValue());
const param = fc.constantFrom(
  'temperature',
  'modelName',
  'template',
  'promptValues',
  'text',
  'credential',
  '__proto__',
);
const ends = { source_node_id: id, source_anchor: anchor, target_node_id: id, target_anchor: anchor };

const op = fc.oneof(
  fc.record({
    op_type: fc.constant('add_node'),
    node_name: type,
    node_id: id,
    params: fc.dictionary(param, value, { maxKeys: 1 }),
  }),
  fc.record({ op_type: fc.constant('add_node'), node_name: type, node_id: id }),
  fc.record({ op_type: fc.constant('remove_node'), node_id: id }),
  fc.record({ op_type: fc.constant('set_param'), node_id: id, param_name: param, value }),
  fc.record({ op_type: fc.constant('connect'), ...ends }),
  fc.record({ op_type: fc.constant('disconnect'), ...ends }),
  fc.record({ op_type: fc.constant('bind_credential'), node_id: id, credential_id: fc.constant('one') }),
) as fc.Arbitrary<PatchOp>;
const base = fc.constantFrom(EMPTY_FLOW, built(CONVERSATION), built(RAG));

describe('any list of operations', () => {
  it('never throws, and either changes nothing or makes a flow that holds [FLR-compile-never-throws]', () => {
    fc.assert(
      fc.property(base, fc.array(op, { maxLength: 12 }), (text, ops) => {
        const compilation = compile(text, ops, schemas, { incomplete: 'warn' });
        if (compilation.ok) {
          expect(validateFlow(compilation.flow_data, { schemas, incomplete: 'warn' }).errors).toEqual([]);
          expect(checkCanvas(compilation.flow_data_str)).toEqual([]);
        }
        expect(JSON.parse(compilation.flow_data_str)).toEqual(compilation.flow_data);
      }),
      { numRuns: 400 },
    );
  });

  /** A long list rarely holds as a whole; taking the operations one by one keeps those that do. */
  it('holds step by step, whatever went before [FLR-compile-never-throws]', () => {
    fc.assert(
      fc.property(base, fc.array(op, { maxLength: 25 }), (text, ops) => {
        let flow = text;
        for (const each of ops) {
          const step = compile(flow, [each], schemas, { incomplete: 'warn' });
          if (!step.ok) expect(step.flow_data_str === flow || step.errors.length > 0).toBe(true);
          else flow = step.flow_data_str;
        }
        expect(checkCanvas(flow)).toEqual([]);
      }),
      { numRuns: 60 },
    );
  });

  it('compiles to the same bytes every time [FLR-compile-deterministic]', () => {
    fc.assert(
      fc.property(base, fc.array(op, { maxLength: 8 }), (text, ops) => {
        const [a, b] = [compile(text, ops, schemas), compile(text, structuredClone(ops), schemas)];
        expect(b).toEqual(a);
      }),
      { numRuns: 60 },
    );
  });

  it('leaves the base as it was [FLR-compile-deterministic]', () => {
    fc.assert(
      fc.property(fc.array(op, { maxLength: 10 }), (ops) => {
        const text = built(RAG);
        compile(text, ops, schemas);
        expect(compile(text, [], schemas).flow_data_str).toBe(text);
      }),
      { numRuns: 30 },
    );
  });
});
