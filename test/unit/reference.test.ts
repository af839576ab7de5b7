import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { NodeSchema } from '../../src/flowise/index.ts';
import { normaliseNode } from '../../src/knowledge/normalise-node.ts';
import { parseReference, writeReference } from '../../src/knowledge/reference.ts';
import { recordedNodes } from '../support/fake-flowise/data.ts';

const NODE: NodeSchema = {
  node_type: 'chatEcho',
  label: 'Echo',
  category: 'Chat Models',
  version: 1.5,
  credential_required: null,
  type: 'Echo',
  baseClasses: ['Echo', 'BaseChatModel'],
  input_anchors: [],
  input_params: [],
  output_anchors: [
    {
      id: 'chatEcho',
      name: 'chatEcho',
      label: 'Echo',
      type: 'Echo | BaseChatModel',
      baseClasses: ['Echo', 'BaseChatModel'],
    },
  ],
  has_output_choice: false,
};

const param = (value: unknown) => ({ id: 'text', name: 'text', label: 'Text', type: 'string', default: value });
const withDefault = (value: unknown): NodeSchema => ({ ...NODE, input_params: [param(value)] });

function back(nodes: NodeSchema[]): NodeSchema[] {
  const parsed = parseReference(writeReference(nodes));
  expect(parsed.issues).toEqual([]);
  return parsed.nodes;
}

const byType = (nodes: NodeSchema[]) => [...nodes].sort((one, other) => (one.node_type < other.node_type ? -1 : 1));

/** A reference with one node, whose block is given. */
const reference = (block: string, heading = '### Echo (`chatEcho`)') =>
  `## Chat Models (1)\n\n${heading}\n\n\`\`\`yaml\n${block}\n\`\`\`\n`;
const BLOCK = 'version: 1\ntype: Echo\nbaseClasses: [Echo]';

describe('the node reference', () => {
  it('gives back every recorded node as it was, key by key [FLR-reference-round-trip] [S000-B2-reference-is-the-source]', () => {
    const nodes = recordedNodes().map(normaliseNode);
    const read = back(nodes);
    expect(byType(read)).toStrictEqual(byType(nodes));
    expect(byType(read).map((node) => JSON.stringify(node))).toEqual(byType(nodes).map((node) => JSON.stringify(node)));
  });

  it.each([
    ['a line of three dashes', 'before\n---\nafter'],
    ['a longer line of dashes', 'a\n---------------------\nb'],
    ['bars and a table', '| a | b |\n|---|---|\n| 1 | 2 |'],
    ['a fence', 'before\n```json\n{"a": 1}\n```\nafter'],
    ['a longer fence', '`````\n```\n`````'],
    ['headings', '## Tools (3)\n### Label (`name`)'],
    ['blanks at both ends', '  two before, two after  '],
    ['line breaks at both ends', '\n\nhello\n\n'],
    ['carriage returns', 'a\r\nb\rc'],
    ['tabs', '\tindented\n\t\tmore'],
    ['what YAML takes for something else', 'yes'],
    ['a number as text', '007'],
    ['null as text', 'null'],
    ['a comment sign', 'a # b'],
    ['a tag and an anchor', '!!js/function &a *a'],
    ['markup and variables', '<p>{{ question }}</p>'],
    ['control characters', 'a\u0000\u001b[31m\u2028\u0085b'],
    ['an empty text', ''],
    ['a list', [{ property: 'a', type: 'string' }, { property: 'b' }]],
    ['nothing', null],
    ['a number', 0.1],
  ])('carries a default with %s [FLR-reference-round-trip]', (_, value) => {
    expect(back([withDefault(value)])).toStrictEqual([withDefault(value)]);
  });

  // Whatever JSON can hold as a default, and whatever a label says, comes back as it was.
  it('loses nothing [FLR-reference-round-trip]', () => {
    const text = fc.string({ unit: 'binary', maxLength: 60 });
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 3 }), text, text, (value, label, category) => {
        const wellFormed = JSON.parse(JSON.stringify(value)) as unknown;
        const node = { ...withDefault(wellFormed), label, category: `c${category}` };
        expect(back([node])).toEqual([node]);
      }),
      { numRuns: 40 },
    );
  });

  it('keeps two inputs of one name, and inputs whose type is misleading [FLR-reference-round-trip]', () => {
    const input_params = [
      { ...param('one'), show: { mode: 'a' } },
      { ...param('two'), show: { mode: 'b' } },
    ];
    const input_anchors = [{ id: 'any', name: 'any', label: 'Any', type: 'string | number | boolean | json | array' }];
    const node = { ...NODE, input_params, input_anchors };
    expect(back([node])).toStrictEqual([node]);
  });

  it('keeps what cannot be derived: odd ids, no outputs, a choice of one, a credential [FLR-reference-round-trip]', () => {
    const credential = { label: 'C', name: 'credential', type: 'credential', credentialNames: ['a', 'b'] };
    const nodes: NodeSchema[] = [
      { ...NODE, node_type: 'a', output_anchors: [], hideOutput: true },
      { ...NODE, node_type: 'b', has_output_choice: true },
      { ...NODE, node_type: 'c', credential, credential_required: 'a' },
      { ...NODE, node_type: 'd', credential: { ...credential, optional: true } },
      { ...NODE, node_type: 'e', credential, credential_required: null },
      { ...NODE, node_type: 'f', own_defaults: ['text'], input_params: [{ ...param('x'), id: 'other' }] },
      { ...NODE, node_type: 'odd`name', label: 'Ends (`so`)', category: 'Tools (3)' },
    ];
    expect(byType(back(nodes))).toStrictEqual(byType(nodes));
  });

  it('ignores prose, other blocks and the count of a category [S000-B2-reference-is-the-source]', () => {
    const text = reference(BLOCK)
      .replace(
        '## Chat Models (1)',
        '# Title\n\nWords.\n\n```yaml\nnot: ours\n```\n\n## Chat Models (99)\n\n---\n\nMore | words',
      )
      .replace('### Echo (`chatEcho`)', '### Echo (`chatEcho`)\n\n> note\n\n```js\nconst a = 1;\n```\n\n#### Four\n');
    const { nodes, issues } = parseReference(text.replaceAll('\n', '\r\n'));
    expect(issues).toEqual([]);
    expect(nodes.map(({ node_type, category }) => [node_type, category])).toEqual([['chatEcho', 'Chat Models']]);
  });

  it.each([
    ['a heading without a block', '## T\n\n### A (`a`)\n\nwords', 'missing_block', 3],
    ['a heading that names no node', '## T\n\n### Just words', 'bad_heading', 3],
    ['a fence that is never closed', '## T\n\n### A (`a`)\n```yaml\nversion: 1', 'open_fence', 4],
    ['a second block', `${reference(BLOCK)}\n\`\`\`yaml\nversion: 2\n\`\`\`\n`, 'second_block', 11],
    ['a second description', `${reference(BLOCK)}\n${reference(BLOCK)}`, 'duplicate_node', 13],
    ['what is not YAML', reference(`${BLOCK}\nparams: ]`), 'bad_yaml', 9],
    ['a key twice', reference(`${BLOCK}\ntype: Other`), 'bad_yaml', 9],
    ['an alias', reference(`${BLOCK}\ntags: &a [x]\nparams: *a`), 'bad_yaml', 3],
    ['a misspelt key', reference(`${BLOCK}\nparms: []`), 'unknown_key', 9],
    ['a version that is text', reference('version: "1"\ntype: Echo\nbaseClasses: []'), 'invalid_type', 6],
    ['an input without a name', reference(`${BLOCK}\nparams:\n  - label: A\n    type: string`), 'invalid_type', 10],
    [
      'an option without a name',
      reference(`${BLOCK}\nparams:\n  - {name: a, label: A, type: options, options: [{label: B}]}`),
      'invalid_type',
      10,
    ],
    [
      'a value that JSON has not',
      reference(`${BLOCK}\nparams:\n  - {name: a, label: A, type: number, default: .nan}`),
      'not_json',
      10,
    ],
    ['no category', reference(BLOCK).replace('## Chat Models (1)', ''), 'no_category', 6],
  ])('tells the line of %s [FLR-reference-never-throws]', (_, text, code, line) => {
    const { issues } = parseReference(text);
    expect(issues.map((issue) => [issue.code, issue.line])).toEqual([[code, line]]);
    expect(issues[0]?.message.length).toBeGreaterThan(10);
  });

  it('gives the nodes that can be read beside those that cannot [FLR-reference-never-throws]', () => {
    const good = reference(BLOCK, '### Good (`good`)').replace('## Chat Models (1)\n', '');
    const { nodes, issues } = parseReference(`${reference('[')}\n${good}`);
    expect([nodes.map(({ node_type }) => node_type), issues.length]).toEqual([['good'], 1]);
  });

  it('never throws, whatever it is given [FLR-reference-never-throws]', () => {
    const line = fc.oneof(
      fc.constantFrom(
        '## A (1)',
        '### L (`n`)',
        '```yaml',
        '```',
        '````',
        '~~~',
        'version: 1',
        'type: T',
        '- [',
        '&a *a',
      ),
      fc.string({ maxLength: 20 }),
    );
    fc.assert(
      fc.property(fc.array(line, { maxLength: 40 }), (lines) => {
        const { nodes, issues } = parseReference(lines.join('\n'));
        expect(Array.isArray(nodes) && Array.isArray(issues)).toBe(true);
      }),
    );
    expect(parseReference(`## A\n### L (\`n\`)\n\`\`\`yaml\n${'['.repeat(5_000)}\n\`\`\``).issues).toHaveLength(1);
  });
});
