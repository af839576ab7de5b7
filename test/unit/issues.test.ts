import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { issuesOf, jsonPointer, plainText } from '../../src/operations/index.ts';

describe('a JSON pointer', () => {
  it.each([
    [[], ''],
    [['steps', 0, 'trigger'], '/steps/0/trigger'],
    [['a/b', 'c~d', '~1'], '/a~1b/c~0d/~01'],
    [[''], '/'],
  ])('of %j is %j', (path, pointer) => {
    expect(jsonPointer(path)).toBe(pointer);
  });
});

describe('the issues of a schema', () => {
  it('give each unknown key a line of its own', () => {
    const { error } = z.strictObject({ a: z.strictObject({}) }).safeParse({ a: { 'x"y': 1, z: 2 } });
    expect(issuesOf(error!)).toEqual([
      { code: 'unknown_key', message: 'is not a known key', path: '/a/x"y' },
      { code: 'unknown_key', message: 'is not a known key', path: '/a/z' },
    ]);
  });

  it.each([
    ['a missing field', z.string(), undefined, 'is missing'],
    ['a wrong type', z.string(), 5, 'must be of type string'],
    ['a wrong word', z.enum(['a', 'b']), 'c', 'must be "a" or "b"'],
    ['a large number', z.int().max(200), 201, 'must be at most 200'],
    ['a small number', z.int().min(1), 0, 'must be at least 1'],
    ['a long text', z.string().max(2), 'abc', 'must have at most 2 characters'],
    ['a long list', z.array(z.int()).max(2), [1, 2, 3], 'must have at most 2 items'],
    ['a pattern of our own', z.string().regex(/a/, 'must look like a'), 'b', 'must look like a'],
  ])('say in plain words what is wrong with %s', (_, schema, value, message) => {
    const { error } = z.strictObject({ field: schema }).safeParse({ field: value });
    expect(issuesOf(error!)).toEqual([{ code: expect.any(String), message, path: '/field' }]);
  });
});

describe('plain text', () => {
  it.each(['', 'review', 'Grüße 世界 😀', 'a b'])('can be %j', (text) => {
    expect(plainText(64).safeParse(text).success).toBe(true);
  });

  it.each(['a\nb', 'a\u0000', '\u001b[2J', 'a\u2028b', '\ud800', 'a\udfff', 'x'.repeat(65)])('cannot be %j', (text) => {
    expect(plainText(64).safeParse(text).success).toBe(false);
  });
});
