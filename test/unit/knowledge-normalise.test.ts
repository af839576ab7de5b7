import { describe, expect, it } from 'vitest';
import { type ApiNode, type NodeInput, PARAM_TYPES } from '../../src/flowise/index.ts';
import { normaliseNode } from '../../src/knowledge/index.ts';
import { recordedNodes } from '../support/fake-flowise/index.ts';

function node(changes: Partial<ApiNode> = {}): ApiNode {
  return { name: 'x', label: 'X', version: 1, type: 'X', category: 'Chains', baseClasses: ['X', 'Base'], ...changes };
}

function onlyDefault(type: string, value: unknown): unknown {
  const { input_params } = normaliseNode(node({ inputs: [{ label: 'A', name: 'a', type, default: value }] }));
  return input_params[0]?.default;
}

/** What must be found again of an input: everything but its default, which may have got its type. */
function withoutDefault({ default: _, ...input }: Record<string, unknown>): Record<string, unknown> {
  return input;
}

describe('normalising a node definition', () => {
  it('keeps every input of every recorded node with all its fields, in order [FLR-knowledge-normalise-lossless]', () => {
    const nodes = recordedNodes();
    expect(nodes.length).toBeGreaterThan(200);
    for (const api of nodes) {
      const schema = normaliseNode(api);
      const isParam = (input: Record<string, unknown>) => PARAM_TYPES.has(String(input.type));
      const expected = (inputs: Record<string, unknown>[]) =>
        inputs.map((input) => ({ id: input.name, ...withoutDefault(input) }));
      const inputs = api.inputs ?? [];
      expect(schema.input_params.map(withoutDefault)).toEqual(expected(inputs.filter(isParam)));
      expect(schema.input_anchors.map(withoutDefault)).toEqual(expected(inputs.filter((input) => !isParam(input))));
      const defaults = (list: (Record<string, unknown> | NodeInput)[]) =>
        Object.fromEntries(list.map((input) => [`${input.name} ${JSON.stringify(input.show)}`, String(input.default)]));
      expect(defaults([...schema.input_params, ...schema.input_anchors])).toEqual(defaults(inputs));
    }
  });

  it('gives an entry the keys of the contract and drops what is of the server alone [S000-D1-node-entry]', () => {
    const chat = normaliseNode(recordedNodes().find(({ name }) => name === 'chatOpenAI') as ApiNode);
    expect(chat).toMatchObject({
      node_type: 'chatOpenAI',
      category: 'Chat Models',
      credential_required: 'openAIApi',
      credential: { name: 'credential', type: 'credential', credentialNames: ['openAIApi'] },
      has_output_choice: false,
    });
    expect(typeof chat.version).toBe('number');
    expect(chat.input_anchors[0]).toMatchObject({ id: 'cache', type: 'BaseCache', optional: true });
    expect(chat.output_anchors).toEqual([
      {
        id: 'chatOpenAI',
        name: 'chatOpenAI',
        label: chat.type,
        type: chat.baseClasses.join(' | '),
        baseClasses: chat.baseClasses,
      },
    ]);
    const dropped = normaliseNode(
      node({ filePath: '/srv/x.js', icon: '/srv/x.svg', loadMethods: {}, vectorStoreMethods: {}, inputs: [] }),
    );
    for (const field of ['filePath', 'icon', 'loadMethods', 'vectorStoreMethods', 'inputs', 'outputs', 'name']) {
      expect(dropped).not.toHaveProperty(field);
    }
  });

  it('takes outputs that a node lists itself, and none where they are hidden [S000-D1-node-entry]', () => {
    const outputs = [
      { label: 'Retriever', name: 'retriever', baseClasses: ['R', 'BaseRetriever'] },
      { label: 'Zero', name: '0', isAnchor: true },
    ];
    const listed = normaliseNode(node({ outputs }));
    expect(listed.has_output_choice).toBe(true);
    expect(listed.output_anchors).toEqual([
      {
        id: 'retriever',
        name: 'retriever',
        label: 'Retriever',
        type: 'R | BaseRetriever',
        baseClasses: ['R', 'BaseRetriever'],
      },
      { id: '0', name: '0', label: 'Zero', type: '', baseClasses: [], isAnchor: true },
    ]);
    expect(normaliseNode(node({ hideOutput: true }))).toMatchObject({ output_anchors: [], has_output_choice: false });
  });

  it('gives defaults the type of their input only where the two disagree [FLR-knowledge-normalise-lossless]', () => {
    expect(onlyDefault('number', '20')).toBe(20);
    expect(onlyDefault('number', 0)).toBe(0);
    expect(onlyDefault('number', 'many')).toBe('many');
    expect(onlyDefault('boolean', 'True')).toBe(true);
    expect(onlyDefault('boolean', 'false')).toBe(false);
    expect(onlyDefault('array', '[{"a":1}]')).toEqual([{ a: 1 }]);
    expect(onlyDefault('multiOptions', '["pdf"]')).toBe('["pdf"]');
    expect(onlyDefault('array', '[broken')).toBe('[broken');
    expect(onlyDefault('json', '{"a":1}')).toBe('{"a":1}');
    expect(onlyDefault('string', '7')).toBe('7');
  });

  it('asks for a credential only where the node does not work without [S000-D1-node-entry]', () => {
    const credential = { label: 'C', name: 'credential', type: 'credential', credentialNames: ['a', 'b'] };
    expect(normaliseNode(node({ credential })).credential_required).toBe('a');
    expect(normaliseNode(node({ credential: { ...credential, optional: true } })).credential_required).toBeNull();
    expect(normaliseNode(node()).credential_required).toBeNull();
  });

  it('survives definitions that lack nearly everything [FLR-knowledge-normalise-lossless]', () => {
    const bare = { name: 'bare', inputs: [null, 'x', {}], outputs: 'none' } as unknown as ApiNode;
    expect(normaliseNode(bare)).toMatchObject({ node_type: 'bare', version: 1, baseClasses: [], category: '' });
  });
});
