import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { diffFlows } from '../../src/diff/diff-flows.ts';
import type { FlowDiff } from '../../src/diff/index.ts';
import type { FlowBundle } from '../../src/flows/index.ts';
import { anyBundle, anyTwoVersions } from './flow-diff-bundles.ts';
import { expectExplained } from './flow-diff-oracle.ts';

const OPPOSITE: Record<string, string> = {
  added: 'removed',
  removed: 'added',
  tightened: 'loosened',
  loosened: 'tightened',
};

/** What a kind is called from the other side. */
const opposite = (kind: string): string =>
  kind.replace(/(added|removed|tightened|loosened)$/, (word) => OPPOSITE[word] ?? word);

const kindsOf = ({ changes }: FlowDiff): string[] => changes.map(({ kind }) => kind).sort();

describe('[FLR-diff] for any two versions', () => {
  // A version does not differ from itself, whatever its number and its time.
  it('there is nothing to say about a flow and itself', () => {
    fc.assert(
      fc.property(anyBundle, fc.constantFrom('0.0.1', '9.9.9'), (bundle, version) => {
        const again = structuredClone(bundle);
        again.flow = { ...again.flow, version, updated: '2030-01-01T00:00:00Z', truncated: true };
        expect(diffFlows(bundle, again)).toMatchObject({ changes: [], implied: 'none', advice: null });
      }),
    );
  });

  // Carrying out the changes on the older version gives the newer one: nothing is left out or made up.
  it('the changes explain every difference', () => {
    fc.assert(
      fc.property(anyTwoVersions, ([before, after]) => expectExplained(before, after, diffFlows(before, after))),
      { numRuns: 1_000 },
    );
  });

  // What is added one way is removed the other way, and the rest is the same.
  it('swapping the two turns added into removed and tightened into loosened', () => {
    fc.assert(
      fc.property(anyTwoVersions, ([before, after]) => {
        const there = kindsOf(diffFlows(before, after)).map(opposite).sort();
        expect(kindsOf(diffFlows(after, before))).toEqual(there);
      }),
      { numRuns: 1_000 },
    );
  });

  it('a first version and a retirement mirror each other', () => {
    fc.assert(
      fc.property(anyBundle, (bundle) => {
        const added = diffFlows(null, bundle);
        const retired = diffFlows(bundle, null);
        expect(kindsOf(added)).toEqual(['flow_added', ...bundle.steps.map(() => 'step_added')]);
        expect(kindsOf(retired)).toEqual(['flow_retired', ...bundle.steps.map(() => 'step_removed')]);
        expect([added.implied, retired.implied]).toEqual(['minor', 'major']);
        expect([added.declared, added.advice, retired.declared, retired.advice]).toEqual([null, null, null, null]);
      }),
    );
  });

  it('the same question has the same answer, in whatever order the steps and keys are given', () => {
    fc.assert(
      fc.property(anyTwoVersions, ([before, after]) => {
        const diff = diffFlows(before, after);
        expect(JSON.stringify(diffFlows(before, after))).toBe(JSON.stringify(diff));
        const shuffled = diffFlows(turnedAround(before), turnedAround(after));
        expect(withoutPaths(shuffled)).toEqual(withoutPaths(diff));
      }),
    );
  });
});

/** The same flow, its steps and the keys of each listed from the end. */
function turnedAround({ flow, steps }: FlowBundle): FlowBundle {
  const keysReversed = <T extends object>(record: T): T => Object.fromEntries(Object.entries(record).reverse()) as T;
  return { flow: keysReversed(flow), steps: [...steps].reverse().map(keysReversed) };
}

function withoutPaths({ changes }: FlowDiff): unknown[] {
  return changes.map(({ path: _, ...change }) => change);
}
