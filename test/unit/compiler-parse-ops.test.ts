import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { MAX_OPS } from '../../src/flowise/compiler/ops.ts';
import { parseOps } from '../../src/flowise/compiler/parse-ops.ts';

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
