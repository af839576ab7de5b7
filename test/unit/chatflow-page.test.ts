import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { compile, EMPTY_FLOW, PatchOp, PatchOps } from '../../src/flowise/index.ts';
import { recordedSchemas } from '../support/compiler-scene.ts';
import { ROOT } from '../support/program.ts';

const page = readFileSync(join(ROOT, 'docs', 'chatflows.md'), 'utf8');
const examples = [...page.matchAll(/```json\n([\s\S]*?)```/g)].map(([, text]) => JSON.parse(text as string));

describe('[FLR-operations-page] docs/chatflows.md', () => {
  it.each(PatchOp.options.map(({ shape }) => [shape.op_type.value, Object.keys(shape)] as const))(
    'tells %s with each of its fields',
    (name, fields) => {
      const row = page.split('\n').find((line) => line.startsWith(`| \`${name}\` `)) ?? '';
      const told = name === 'disconnect' ? row.replace('the same four', FOUR) : row;
      const missing = fields.filter((field) => field !== 'op_type' && !told.includes(`\`${field}\``));
      expect([row === '', missing]).toEqual([false, []]);
    },
  );

  it('has examples that compile, one after the other', () => {
    const ops = PatchOps.parse(examples.flat());
    const { errors, tools } = compile(EMPTY_FLOW, ops, recordedSchemas(), { incomplete: 'warn' });
    expect(errors).toEqual([]);
    expect(tools.map(({ tool_ref }) => tool_ref)).toEqual(['weather']);
  });
});

const FOUR = '`source_node_id`, `source_anchor`, `target_node_id`, `target_anchor`';
