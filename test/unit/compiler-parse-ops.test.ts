import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ZodError } from 'zod';
import { MAX_OPS, PatchOps } from '../../src/flowise/compiler/ops.ts';
import { parseOps } from '../../src/flowise/compiler/parse-ops.ts';
import { issuesOf } from '../../src/operations/index.ts';

const OPS = [{ op_type: 'set_label', node_id: 'llmChain_0', label: 'Answer' }];

describe('reading operations', () => {
  it('takes a value, JSON text, and text inside a code fence [FLR-ops-fence]', () => {
    const text = JSON.stringify(OPS);
    for (const input of [OPS, text, `\`\`\`json\n${text}\n\`\`\``, `\n\`\`\`\n${text}\`\`\`\n`]) {
      expect(parseOps(input)).toEqual({ ops: OPS, errors: [], warnings: [] });
    }
  });

  it('refuses what is no list, or too long a one [FLR-ops-list]', () => {
    for (const input of ['{}', 'add a node', '', '```json', null, 7, { ops: OPS }]) {
      const { ops, errors } = parseOps(input);
      expect(ops).toEqual([]);
      expect(errors[0]).toMatchObject({ path: '/ops' });
    }
    const many = Array.from({ length: MAX_OPS + 1 }, () => OPS[0]);
    expect(parseOps(many).errors[0]).toMatchObject({ code: 'too_big' });
  });

  it('names an unknown op_type and what was meant [FLR-ops-unknown-type]', () => {
    const { errors } = parseOps([{ op_type: 'AddNode' }, { op_type: 'conect' }, { op_type: 4 }, 'add']);
    expect(errors.map(({ path }) => path)).toEqual(['/ops/0/op_type', '/ops/1/op_type', '/ops/2/op_type', '/ops/3']);
    expect(errors[0]?.message).toContain('did you mean add_node');
    expect(errors[1]?.message).toContain('connect');
  });

  it('says so at every door, where the schema is all that reads them [FLR-ops-unknown-type]', () => {
    const said = (value: unknown) =>
      issuesOf(PatchOps.safeParse(value).error as ZodError).map(({ message }) => message);
    expect(said([{ op_type: 'ad_node' }])).toEqual([
      expect.stringMatching(
        /^There is no operation ad_node \(did you mean add_node\?\); there are add_node, remove_node,/,
      ),
    ]);
    expect(said([{ op_type: 'setParam' }])[0]).toContain('did you mean set_param');
    expect(said([{ node_id: 'x' }])[0]).toMatch(/^is missing; it is one of add_node,/);
    expect(said([{ op_type: 4 }])[0]).toMatch(/^must be one of add_node,/);
    const secret = ['ghp', 'aB3dE6gH9k'.repeat(4)].join('_');
    expect(said([{ op_type: secret }])[0]).not.toContain('gH9kaB');
  });

  it('names the operation, the field and what was there instead [FLR-ops-wrong-field]', () => {
    const op = { op_type: 'add_node', node_name: 3, node_id: ['a'], position: { x: '1', y: 2 }, params: [1] };
    const wrong = PatchOps.safeParse([op]).error?.issues.map(({ path, message }) => [path.slice(1).join('.'), message]);
    expect(wrong).toEqual([
      ['node_name', 'must be text in quotes, not a number (add_node)'],
      ['node_id', 'must be text in quotes, not a list (add_node)'],
      ['position.x', 'must be a number, not a string (add_node)'],
      ['params', 'must be an object of values by parameter name, not a list (add_node)'],
    ]);
    const { errors } = parseOps([op, { op_type: 'connect' }]);
    expect(errors.every(({ message }) => /\((?:add_node|connect)\)$/.test(message))).toBe(true);
    expect(errors.at(-1)?.message).toBe('is missing (connect)');
  });

  it('keeps a secret to itself that stands where a key belongs [FLR-issues-secrets]', () => {
    const secret = ['ghp', 'aB3dE6gH9k'.repeat(4)].join('_');
    const { warnings } = parseOps([{ ...OPS[0], [secret]: 1 }]);
    expect(warnings).toHaveLength(1);
    expect(JSON.stringify(warnings)).not.toContain('gH9kaB');
  });

  it('passes over unknown keys and says so, and tells every place that is wrong [FLR-ops-extra-keys]', () => {
    const { ops, warnings } = parseOps([{ ...OPS[0], reason: 'because' }]);
    expect(ops).toEqual(OPS);
    expect(warnings).toMatchObject([{ code: 'key_ignored', path: '/ops/0/reason' }]);
    const { errors } = parseOps([
      { op_type: 'add_node', node_name: 'llmChain', node_id: 'a-b' },
      { op_type: 'connect', source_node_id: 'a' },
    ]);
    expect(errors.map(({ path }) => path)).toEqual([
      '/ops/0/node_id',
      '/ops/1/source_anchor',
      '/ops/1/target_node_id',
      '/ops/1/target_anchor',
    ]);
  });

  it('never throws, whatever it is given [FLR-ops-never-throws]', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.json(), fc.anything()), (input) => {
        const parsed = parseOps(input);
        expect(parsed.errors.length === 0 || parsed.ops.length === 0).toBe(true);
      }),
    );
  });
});
