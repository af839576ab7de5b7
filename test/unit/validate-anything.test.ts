import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readStarterBundles, validateFlowBundle } from '../../src/flows/index.ts';

/** Neither text nor number can be made of it, though it is plain JSON. */
const UNSPEAKABLE = '{"toString":1,"valueOf":1}';
const DEEP = `${'['.repeat(50_000)}${']'.repeat(50_000)}`;

/** Every place in a value, as a path. */
function places(value: unknown, path: string[] = []): string[][] {
  if (value === null || typeof value !== 'object') return [path];
  return [path, ...Object.entries(value).flatMap(([key, item]) => places(item, [...path, key]))];
}

function replaced(value: unknown, [key, ...rest]: string[], replacement: unknown): unknown {
  if (key === undefined) return replacement;
  const copy: Record<string, unknown> = Array.isArray(value) ? ([...value] as never) : { ...(value as object) };
  copy[key] = replaced(copy[key], rest, replacement);
  return copy;
}

const starter = readStarterBundles({}).find(({ flow }) => flow.flow_id === 'flow_capture_to_note');
const strayValue = fc.oneof(fc.jsonValue({ maxDepth: 3 }), fc.constant(JSON.parse(UNSPEAKABLE)));

describe('the validator, given anything', () => {
  // Whatever JSON comes in, a verdict comes out; a refusal always says why.
  it('never throws on arbitrary JSON', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 5 }), (value) => {
        const verdict = validateFlowBundle(value);
        expect(verdict.ok).toBe(false);
        if (!verdict.ok) expect(verdict.issues.length).toBeGreaterThan(0);
      }),
    );
  });

  // A good flow with one place spoilt is judged, never thrown at; what passes is a fixed point.
  it('never throws on a good flow with one stray value', () => {
    fc.assert(
      fc.property(fc.constantFrom(...places(starter)), strayValue, (place, stray) => {
        const verdict = validateFlowBundle(replaced(starter, place, stray));
        if (verdict.ok) expect(validateFlowBundle(verdict.bundle)).toEqual(verdict);
        else expect(verdict.issues.length).toBeGreaterThan(0);
      }),
      { numRuns: 500 },
    );
  });

  it.each([undefined, null, 0, '', 'text', true, [], {}, () => 1, Symbol('x'), new Map()])('refuses %s', (value) => {
    expect(validateFlowBundle(value).ok).toBe(false);
  });

  it.each([
    ['the name of a flow input', `{"flow":{"inputs":[{"name":${UNSPEAKABLE}}]},"steps":[]}`],
    ['the flow id', `{"flow":{"flow_id":${UNSPEAKABLE}},"steps":[{}]}`],
    ['an ordinal', `{"flow":{},"steps":[{"ordinal":${UNSPEAKABLE}}]}`],
    ['a step id', `{"flow":{},"steps":[{"step_id":${UNSPEAKABLE},"outputs":[{"name":"a"}]}]}`],
    ['the name of an output', `{"flow":{},"steps":[{"step_id":"a","outputs":[{"name":${UNSPEAKABLE}}]}]}`],
    ['a source', `{"flow":{},"steps":[{"inputs":[{"name":"a","from":${UNSPEAKABLE}}]}]}`],
  ])('[FLR-bad-input] refuses what cannot be put into words as %s', (_, text) => {
    expect(validateFlowBundle(JSON.parse(text)).ok).toBe(false);
  });

  it.each([
    ['the flow id', `{"flow":{"flow_id":${DEEP}},"steps":[{}]}`],
    ['an ordinal', `{"flow":{},"steps":[{"ordinal":${DEEP}}]}`],
    ['a tag', `{"flow":{"tags":[${DEEP}]},"steps":[]}`],
    ['an unknown key', `{"flow":{"other":${DEEP}},"steps":[]}`],
  ])('[FLR-bad-input] refuses a bottomless nesting as %s', (_, text) => {
    expect(validateFlowBundle(JSON.parse(text)).ok).toBe(false);
  });
});
