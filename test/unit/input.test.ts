import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { FlowrightError, type Issue } from '../../src/kernel/errors.ts';
import { type AnyOperation, baseType, decodeText, defineOperation, unwrap } from '../../src/operations/index.ts';
import { parseInput } from '../../src/operations/input.ts';
import { operations as planOperations } from '../../src/plans/operations.ts';

const input = z.strictObject({
  limit: z.int().min(1).max(200).optional(),
  on: z.boolean().default(false),
  words: z.array(z.string()).nullable().optional(),
  rows: z.array(z.strictObject({ name: z.string() })).optional(),
  tag: z.string().min(1).optional(),
  scope: z.enum(['personal', 'project']).optional(),
});

function operation(effect: 'read' | 'write') {
  return defineOperation({
    name: 'test.act',
    summary: 'Test',
    input,
    output: z.strictObject({}),
    access: { can: 'read' },
    effect,
    http: { method: 'GET', path: '/test', tag: 'Test' },
    handle: () => ({}),
  });
}

function issuesFrom(raw: unknown, effect: 'read' | 'write' = 'read'): Issue[] {
  try {
    parseInput(operation(effect), raw);
  } catch (error) {
    if (error instanceof FlowrightError && error.code === 'BAD_REQUEST') return error.details.errors as Issue[];
    throw error;
  }
  return [];
}

describe('decoding text', () => {
  it.each([
    [{ limit: '5' }, { limit: 5 }],
    [{ limit: '-5' }, { limit: -5 }],
    [{ on: 'true' }, { on: true }],
    [{ on: 'false' }, { on: false }],
    [{ words: 'a, b,c' }, { words: ['a', 'b', 'c'] }],
    [{ words: '["a, b", "c"]' }, { words: ['a, b', 'c'] }],
    [{ words: '[draft], b' }, { words: ['[draft]', 'b'] }],
    [{ rows: '[{"name":"QA, too"}]' }, { rows: [{ name: 'QA, too' }] }],
    [{ rows: '[{"name":' }, { rows: '[{"name":' }],
    [{ tag: '["a"]' }, { tag: '["a"]' }],
    [{ tag: '5' }, { tag: '5' }],
    [{ tag: 'true' }, { tag: 'true' }],
    [{ scope: 'personal' }, { scope: 'personal' }],
  ])('%j becomes %j', (texts, values) => {
    expect({ ...decodeText(input, texts) }).toEqual(values);
  });

  it.each([
    { limit: 'many' },
    { limit: '5.5' },
    { limit: '' },
    { limit: ' 5' },
    { limit: '0x10' },
    { limit: '1e2' },
    { limit: '9007199254740993' },
    { limit: ['1', '2'] },
    { on: 'yes' },
    { on: '1' },
    { unknown: '5' },
  ])('%j stays as it is, for the schema to refuse', (texts) => {
    expect({ ...decodeText(input, texts) }).toEqual(texts);
  });

  it.each(['constructor', 'toString', 'hasOwnProperty', '__proto__'])(
    '[FLR-bad-input] a field named %s is unknown like any other',
    (name) => {
      const decoded = decodeText(input, JSON.parse(`{${JSON.stringify(name)}: "1"}`));
      expect(Object.keys(decoded)).toEqual([name]);
      expect(issuesFrom(decoded)).toEqual([expect.objectContaining({ code: 'unknown_key', path: `/${name}` })]);
    },
  );

  it('takes the stages of a plan from a command line', () => {
    const create = planOperations.find(({ name }) => name === 'plan.create') as AnyOperation;
    const texts = { name: 'Release', stages: '[{"name":"QA","tasks":[{"name":"Smoke, then fire"}]}]' };
    expect(parseInput(create, decodeText(create.input as z.ZodObject, texts))).toMatchObject({
      stages: [{ name: 'QA', tasks: [{ name: 'Smoke, then fire' }] }],
    });
  });

  it('sees through optional, nullable and default', () => {
    expect(Object.entries(input.shape).map(([key, field]) => `${key} ${baseType(field)}`)).toEqual([
      'limit number',
      'on boolean',
      'words array',
      'rows array',
      'tag string',
      'scope enum',
    ]);
    expect(unwrap(undefined)).toBeUndefined();
  });
});

describe('[FLR-bad-input] checking an input', () => {
  it('fills in defaults', () => {
    expect(parseInput(operation('write'), { limit: 3 })).toEqual({ limit: 3, on: false });
  });

  it('takes an empty text in a read for a field left out', () => {
    expect(parseInput(operation('read'), { scope: '', tag: '', limit: 3 })).toEqual({ limit: 3, on: false });
  });

  it('takes an empty text in a write for what it is', () => {
    expect(issuesFrom({ tag: '' }, 'write')).toEqual([expect.objectContaining({ code: 'too_small', path: '/tag' })]);
  });

  it('leaves the given object as it was', () => {
    const raw = { scope: '', limit: 3 };
    parseInput(operation('read'), raw);
    expect(raw).toEqual({ scope: '', limit: 3 });
  });

  it('reports every problem with its place', () => {
    const issues = issuesFrom({ limit: 0, scope: 'galaxy', 'a/b~c': 1, words: [1] });
    expect(issues.map(({ path }) => path).sort()).toEqual(['/a~1b~0c', '/limit', '/scope', '/words/0']);
  });

  it.each([null, undefined, 'text', 5, [], true])('refuses %j as a whole', (raw) => {
    expect(issuesFrom(raw)).toEqual([expect.objectContaining({ code: 'invalid_type', path: '' })]);
  });
});
