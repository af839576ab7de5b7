import { describe, expect, it } from 'vitest';
import { toolPlaceholder } from '../../src/flowise/compiler/compilation.ts';
import { compile, compileDraft, EMPTY_FLOW } from '../../src/flowise/compiler/compile.ts';
import type { PatchOp } from '../../src/flowise/compiler/ops.ts';
import { payloadHash } from '../../src/flowise/compiler/payload-hash.ts';
import { stableStringify } from '../../src/kernel/canonical-json.ts';
import { sha256Hex } from '../../src/kernel/hash.ts';
import {
  add,
  bind,
  built,
  CONVERSATION,
  changedPaths,
  codes,
  link,
  nodeOf,
  put,
  recordedSchemas,
} from '../support/compiler-scene.ts';

const schemas = recordedSchemas();
const BASE = built(CONVERSATION);
const remove = (node_id: string): PatchOp => ({ op_type: 'remove_node', node_id });
const label = (node_id: string, text: string): PatchOp => ({ op_type: 'set_label', node_id, label: text });
const errorsOf = (ops: PatchOp[], base = BASE) => compile(base, ops, schemas).errors;

describe('compiling', () => {
  it('returns the base itself for an empty list, down to the last space [FLR-compile-empty]', () => {
    const spaced = JSON.stringify(JSON.parse(BASE), null, 3);
    const compilation = compile(spaced, [], schemas);
    expect(compilation).toMatchObject({ ok: true, flow_data_str: spaced, diff_summary: '(no changes)' });
    expect(compilation.payload_hash).toBe(sha256Hex(spaced));
    const undone = compile(spaced, [add('calculator', 'calculator_0'), remove('calculator_0')], schemas);
    expect(undone.flow_data_str).toBe(spaced);
  });

  it('gives the same text and hash for the same list, another for another [FLR-compile-deterministic]', () => {
    const [a, b] = [
      compile(BASE, [label('chatOpenAI_0', 'x')], schemas),
      compile(BASE, [label('chatOpenAI_0', 'x')], schemas),
    ];
    expect(b.flow_data_str).toBe(a.flow_data_str);
    expect(b.payload_hash).toBe(a.payload_hash);
    expect(a.payload_hash).toBe(sha256Hex(a.flow_data_str));
    expect(compile(BASE, [label('chatOpenAI_0', 'y')], schemas).payload_hash).not.toBe(a.payload_hash);
  });

  it('holds as a whole: with one mistake the base is returned, and every mistake is told [S001-M2-invalid-refused]', () => {
    const compilation = compile(
      BASE,
      [label('chatOpenAI_0', 'x'), remove('nobody_0'), put('chatOpenAI_0', 'temprature', 1)],
      schemas,
    );
    expect(compilation.ok).toBe(false);
    expect(compilation.flow_data_str).toBe(BASE);
    expect(compilation.errors.map(({ path }) => path)).toEqual(['/ops/1/node_id', '/ops/2/param_name']);
    expect(compilation.errors[1]?.message).toContain('did you mean temperature');
  });

  it('keeps a secret to itself that stands where a name belongs [FLR-issues-secrets]', () => {
    const secret = ['ghp', 'aB3dE6gH9k'.repeat(4)].join('_');
    const wrong = compile(
      BASE,
      [put('chatOpenAI_0', secret, 1), add(secret, 'x_0'), remove(secret), add('calculator', 'c_0', { [secret]: 1 })],
      schemas,
    );
    expect(wrong.errors).toHaveLength(4);
    const flow = JSON.parse(BASE);
    flow.nodes[0].data.name = secret;
    flow.nodes[1].data.inputs[secret] = '[secret]';
    const draft = compileDraft(BASE, JSON.stringify(flow), schemas);
    expect(draft.errors.length).toBeGreaterThan(1);
    expect(JSON.stringify([wrong.errors, draft.errors])).not.toContain('gH9kaB');
  });

  it('says what cannot be read, and throws for nothing [FLR-compile-never-throws]', () => {
    for (const base of ['', 'no', '[]', '{}', '{"nodes":[{}],"edges":[]}', '{"nodes":[]}']) {
      const compilation = compile(base, CONVERSATION, schemas);
      expect(compilation.ok).toBe(false);
      expect(compilation.errors.length).toBeGreaterThan(0);
      expect(compilation.flow_data_str).toBe(base);
    }
  });

  it('keeps what was wrong before as a warning: a change is judged by what it breaks [FLR-validate-before]', () => {
    const flow = JSON.parse(BASE);
    flow.nodes[0].data.credential = '';
    flow.edges.push({ ...flow.edges[0], id: 'x', target: 'gone_0' });
    const compilation = compile(JSON.stringify(flow), [put('chatOpenAI_0', 'temperature', 0.2)], schemas);
    expect(compilation.ok).toBe(true);
    expect(codes(compilation.warnings)).toEqual(expect.arrayContaining(['credential_missing', 'edge_dangling']));
    const broken = compile(BASE, [remove('chatOpenAI_0')], schemas);
    expect(codes(broken.errors)).toEqual(['input_missing']);
  });
});

describe('the order of operations', () => {
  it('asks that a node is there at that moment [FLR-ops-order]', () => {
    const early = errorsOf([
      link('calculator_0.calculator', 'conversationChain_0.model'),
      add('calculator', 'calculator_0'),
    ]);
    expect(early).toMatchObject([{ code: 'node_not_yet', path: '/ops/0/source_node_id' }]);
    expect(early[0]?.message).toContain('operation 1');
    expect(codes(errorsOf([remove('bufferMemory_0'), label('bufferMemory_0', 'x')]))).toEqual(['node_removed']);
    expect(errorsOf([label('chatOpenAI_1', 'x')])[0]?.message).toContain('did you mean chatOpenAI_0');
  });

  it('refuses an id that is taken, in the flow or in the list, or holds a dash [FLR-ops-ids]', () => {
    expect(errorsOf([add('calculator', 'chatOpenAI_0')])).toMatchObject([
      { code: 'node_id_taken', path: '/ops/0/node_id' },
    ]);
    expect(codes(errorsOf([add('calculator', 'a'), add('calculator', 'a')]))).toEqual(['node_id_taken']);
    expect(codes(errorsOf([add('calculator', 'a-b')]))).toEqual(['node_id_invalid']);
    const twice = JSON.parse(BASE);
    twice.nodes.push(twice.nodes[0]);
    expect(codes(errorsOf([label('chatOpenAI_0', 'x')], JSON.stringify(twice)))).toEqual(['node_ambiguous']);
  });

  it('says nothing more about a node that could not be added [FLR-ops-order]', () => {
    const ops = [add('nothing', 'a'), label('a', 'x'), link('a.b', 'conversationChain_0.model')];
    expect(codes(errorsOf(ops))).toEqual(['node_type_unknown']);
  });
});

describe('parameters', () => {
  it('changes exactly one place [FLR-set-param-one-path]', () => {
    const { flow_data } = compile(BASE, [put('chatOpenAI_0', 'temperature', 0.2)], schemas);
    expect(changedPaths(JSON.parse(BASE), flow_data)).toEqual(['/nodes/0/data/inputs/temperature']);
    const labelled = compile(BASE, [label('chatOpenAI_0', 'Model')], schemas);
    expect(changedPaths(JSON.parse(BASE), labelled.flow_data)).toEqual(['/nodes/0/data/label']);
  });

  it('refuses values that cannot be meant, with the reason [FLR-param-values]', () => {
    const ops = [
      put('chatOpenAI_0', 'temperature', 'warm'),
      put('chatOpenAI_0', 'streaming', 'yes'),
      put('chatOpenAI_0', 'reasoningEffort', 'hihg'),
      put('chatOpenAI_0', 'modelName', 4),
      put('chatOpenAI_0', 'baseOptions', '{broken'),
      put('chatOpenAI_0', 'basepath', 'https://[secret]@host'),
      put('chatOpenAI_0', 'basepath', 'MISSING_basepath'),
      put('chatOpenAI_0', 'basepath', undefined),
      put('conversationChain_0', 'model', 'x'),
      put('chatOpenAI_0', 'credential', 'x'),
      put('chatOpenAI_0', 'constructor', 'x'),
    ];
    const errors = errorsOf(ops);
    expect(codes(errors)).toEqual([
      'value_invalid',
      'value_invalid',
      'value_invalid',
      'value_invalid',
      'value_invalid',
      'secret_hidden',
      'placeholder',
      'value_missing',
      'param_is_anchor',
      'param_unknown',
      'param_unknown',
    ]);
    expect(errors[2]?.message).toContain('did you mean high');
    expect(errors[0]?.path).toBe('/ops/0/value');
  });

  it('accepts what the canvas would, in the form that it keeps [FLR-param-values]', () => {
    const ops = [
      put('chatOpenAI_0', 'temperature', '0.3'),
      put('chatOpenAI_0', 'maxTokens', 100),
      put('chatOpenAI_0', 'modelName', 'a-model-of-tomorrow'),
      put('chatOpenAI_0', 'baseOptions', { headers: { a: 1 } }),
      put('chatOpenAI_0', 'stopSequence', ''),
    ];
    const { ok, flow_data } = compile(BASE, ops, schemas);
    expect(ok).toBe(true);
    expect(nodeOf(flow_data, 'chatOpenAI_0').data.inputs).toMatchObject({
      temperature: '0.3',
      maxTokens: 100,
      modelName: 'a-model-of-tomorrow',
      baseOptions: '{"headers":{"a":1}}',
    });
  });

  it('lets an old node keep its own parameters, and warns of what its definition does not show [FLR-set-param-one-path]', () => {
    const flow = JSON.parse(BASE);
    const model = flow.nodes[0].data;
    model.inputParams = model.inputParams.filter(({ name }: { name: string }) => name !== 'topP');
    model.inputs.imageResolution = 'low';
    const base = JSON.stringify(flow);
    const ops = [put('chatOpenAI_0', 'topP', 0.5), put('chatOpenAI_0', 'imageResolution', 'high')];
    const { ok, warnings } = compile(base, ops, schemas);
    expect(ok).toBe(true);
    expect(codes(warnings)).toEqual(['param_newer', 'param_undeclared']);
  });
});

describe('removing a node', () => {
  it('takes its connections and references along, and warns of texts that still use it [FLR-remove-node]', () => {
    const { flow_data } = compile(BASE, [remove('bufferMemory_0')], schemas);
    expect(flow_data.nodes).toHaveLength(2);
    expect(flow_data.edges).toHaveLength(1);
    expect(nodeOf(flow_data, 'conversationChain_0').data.inputs.memory).toBe('');
    const stray = JSON.parse(BASE);
    const chain = stray.nodes[2].data.inputs;
    chain.inputModeration = ['{{bufferMemory_0.data.instance}}', '{{other_0.data.instance}}'];
    chain.systemMessagePrompt = 'Remember {{bufferMemory_0.data.instance}}';
    const compilation = compile(JSON.stringify(stray), [remove('bufferMemory_0')], schemas);
    expect(nodeOf(compilation.flow_data, 'conversationChain_0').data.inputs).toMatchObject({
      inputModeration: ['{{other_0.data.instance}}'],
      systemMessagePrompt: 'Remember {{bufferMemory_0.data.instance}}',
    });
    expect(codes(compilation.warnings)).toContain('reference_left');
  });

  it('leaves no trace of a node that was only there for a while [FLR-inverse]', () => {
    const ops = [
      add('calculator', 'calculator_0'),
      add('toolAgent', 'toolAgent_0'),
      link('calculator_0.calculator', 'toolAgent_0.tools'),
      link('chatOpenAI_0.chatOpenAI', 'toolAgent_0.model'),
      remove('toolAgent_0'),
      remove('calculator_0'),
    ];
    expect(compile(BASE, ops, schemas).flow_data_str).toBe(BASE);
  });
});

describe('credentials', () => {
  it('binds where the server looks, and keeps other places that hold it in step [FLR-bind-credential]', () => {
    const { flow_data } = compile(BASE, [bind('chatOpenAI_0', 'other')], schemas);
    expect(changedPaths(JSON.parse(BASE), flow_data)).toEqual(['/nodes/0/data/credential']);
    const flow = JSON.parse(BASE);
    flow.nodes[0].data.inputs.FLOWISE_CREDENTIAL_ID = 'old';
    flow.nodes[0].data.inputs.credential = 'old';
    const kept = compile(JSON.stringify(flow), [bind('chatOpenAI_0', 'new')], schemas).flow_data;
    expect(nodeOf(kept, 'chatOpenAI_0').data).toMatchObject({
      credential: 'new',
      inputs: { credential: 'new', FLOWISE_CREDENTIAL_ID: 'new' },
    });
  });

  it('refuses a placeholder, another type, and a node that takes none [FLR-bind-credential]', () => {
    const ops: PatchOp[] = [
      bind('chatOpenAI_0', 'MISSING_openAIApi'),
      { op_type: 'bind_credential', node_id: 'chatOpenAI_0', credential_id: 'x', credential_type: 'pineconeApi' },
      bind('bufferMemory_0'),
    ];
    const errors = errorsOf(ops);
    expect(codes(errors)).toEqual(['credential_unresolved', 'credential_type_mismatch', 'credential_type_mismatch']);
    expect(errors[1]?.message).toContain('openAIApi');
    const unknown = compile(BASE, [bind('chatOpenAI_0', 'gone')], schemas, { credentials: ['here'] });
    expect(codes(unknown.errors)).toEqual(['credential_unknown']);
  });
});

describe('tools', () => {
  const tool: PatchOp = {
    op_type: 'create_tool',
    tool_ref: 'prices',
    name: 'flight_prices',
    description: 'Looks up the price of a flight',
    schema: [{ property: 'from', type: 'string', description: 'Airport', required: true }],
    func: 'return $from;',
  };
  const agent = [
    add('chatOpenAI', 'chatOpenAI_0'),
    bind('chatOpenAI_0'),
    add('bufferMemory', 'bufferMemory_0'),
    add('toolAgent', 'toolAgent_0'),
    link('chatOpenAI_0.chatOpenAI', 'toolAgent_0.model'),
    link('bufferMemory_0.bufferMemory', 'toolAgent_0.memory'),
    add('customTool', 'customTool_0', { selectedTool: toolPlaceholder('prices') }),
    link('customTool_0.customTool', 'toolAgent_0.tools'),
  ];

  it('notes a tool to store first, and lets a customTool name it [FLR-create-tool]', () => {
    const compilation = compile(EMPTY_FLOW, [tool, ...agent], schemas, { tools: [] });
    expect(codes(compilation.errors)).toEqual([]);
    expect(compilation.tools).toEqual([
      {
        tool_ref: 'prices',
        tool: {
          name: 'flight_prices',
          description: 'Looks up the price of a flight',
          color: expect.any(String),
          iconSrc: '',
          schema: '[{"id":0,"property":"from","type":"string","description":"Airport","required":true}]',
          func: 'return $from;',
        },
      },
    ]);
  });

  it('has the code of its tools in the hash of what is approved [FLR-payload-hash]', () => {
    const one = compile(EMPTY_FLOW, [tool, ...agent], schemas);
    const other = compile(
      EMPTY_FLOW,
      [{ ...tool, func: 'return fetch("https://elsewhere.example");' }, ...agent],
      schemas,
    );
    expect(other.flow_data_str).toBe(one.flow_data_str);
    expect(other.payload_hash).not.toBe(one.payload_hash);
    expect(compile(EMPTY_FLOW, [tool, ...agent], schemas).payload_hash).toBe(one.payload_hash);
    expect(one.payload_hash).toBe(payloadHash(one.flow_data_str, one.tools));
    expect(payloadHash(one.flow_data_str, one.tools)).toBe(
      sha256Hex(`${one.flow_data_str}\n${stableStringify(one.tools)}`),
    );
    expect(payloadHash('{}', [])).toBe(sha256Hex('{}'));
  });

  it('refuses one that nothing creates or the server does not have, and warns of an unused one [FLR-create-tool]', () => {
    expect(codes(compile(EMPTY_FLOW, agent, schemas).errors)).toEqual(['tool_unknown']);
    expect(codes(compile(EMPTY_FLOW, [...agent, tool], schemas).errors)).toEqual(['tool_unknown']);
    const stored = agent.map((op) =>
      op.op_type === 'add_node' && op.node_name === 'customTool'
        ? add('customTool', 'customTool_0', { selectedTool: 'id-1' })
        : op,
    );
    expect(compile(EMPTY_FLOW, stored, schemas, { tools: ['id-1'] }).ok).toBe(true);
    expect(codes(compile(EMPTY_FLOW, stored, schemas, { tools: ['id-2'] }).errors)).toEqual(['tool_unknown']);
    expect(codes(compile(BASE, [tool], schemas).warnings)).toContain('tool_unused');
    expect(codes(errorsOf([tool, tool]))).toEqual(['tool_ref_taken']);
    expect(errorsOf([{ ...tool, schema: [{ property: '1', type: 'object' }] }]).map(({ path }) => path)).toEqual([
      '/ops/0/schema/0/property',
      '/ops/0/schema/0/type',
    ]);
  });
});

describe('a whole draft', () => {
  it('passes the same validator, keeps its text and tells the difference [FLR-compile-draft]', () => {
    const draft = JSON.parse(BASE);
    draft.nodes[0].data.inputs.temperature = 0.1;
    const text = JSON.stringify(draft, null, 1);
    const compilation = compileDraft(BASE, `\`\`\`json\n${text}\n\`\`\``, schemas);
    expect(compilation).toMatchObject({ ok: true, flow_data_str: text, payload_hash: sha256Hex(text) });
    expect(compilation.diff.nodes_changed).toHaveLength(1);
  });

  it('is refused for what it breaks and for hidden secrets that it would store [FLR-compile-draft]', () => {
    const draft = JSON.parse(BASE);
    draft.nodes[0].data.name = 'chatOpenIA';
    draft.nodes[0].data.inputs.basepath = '[secret]';
    draft.nodes[2].data.inputs.memory = '';
    const compilation = compileDraft(BASE, JSON.stringify(draft), schemas);
    expect(codes(compilation.errors)).toEqual(['node_type_unknown', 'secret_hidden', 'reference_missing']);
    expect(compilation.missing_node_types).toEqual(['chatOpenIA']);
    expect(compileDraft(BASE, 'Here it is: {}', schemas)).toMatchObject({ ok: false, flow_data_str: BASE });
  });
});
