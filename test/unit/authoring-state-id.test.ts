import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ABSENT_FLOW_STATE_ID, type Flow, type FlowBundle, type FlowStep, flowStateId } from '../../src/flows/index.ts';
import { flowContentSha256 } from '../../src/flows/state-id.ts';
import { anyBundle } from './flow-diff-bundles.ts';

/** The same value with the keys of every object in the order that the numbers give. */
function rekeyed<T>(value: T, order: readonly number[]): T {
  if (Array.isArray(value)) return value.map((item) => rekeyed(item, order)) as T;
  if (value === null || typeof value !== 'object') return value;
  const entries = Object.entries(value).map(([key, inner], at) => ({
    key,
    inner,
    rank: order[at % order.length] ?? 0,
  }));
  entries.sort((left, right) => left.rank - right.rank);
  return Object.fromEntries(entries.map(({ key, inner }) => [key, rekeyed(inner, order)])) as T;
}
const order = fc.array(fc.integer(), { minLength: 3, maxLength: 16 });

describe('[S003-4-state-id] the token of a flow', () => {
  it('is the same whatever order keys and steps are in, and how often it is asked', () => {
    fc.assert(
      fc.property(anyBundle, order, ({ flow, steps }, numbers) => {
        const token = flowStateId(flow, steps);
        expect(token).toMatch(/^flowst1_[0-9a-f]{16}$/);
        expect(flowStateId(flow, steps)).toBe(token);
        expect(flowStateId(rekeyed(flow, numbers), [...rekeyed(steps, numbers)].reverse())).toBe(token);
        expect(flowStateId(...parts(JSON.parse(JSON.stringify({ flow, steps }))))).toBe(token);
      }),
      { numRuns: 200 },
    );
  });

  it('is another one as soon as any field of the flow or of a step is', () => {
    fc.assert(
      fc.property(anyBundle, fc.nat(), ({ flow, steps }, pick) => {
        const token = flowStateId(flow, steps);
        const at = pick % steps.length;
        const variants: [Flow, FlowStep[]][] = [
          [{ ...flow, title: `${flow.title}.` }, steps],
          [{ ...flow, version: '9.9.9' }, steps],
          [{ ...flow, summary: `${flow.summary}.` }, steps],
          [{ ...flow, tags: [...flow.tags, 'more'] }, steps],
          [{ ...flow, updated: '2026-01-01T00:00:01Z' }, steps],
          [{ ...flow, scope: flow.scope === 'org' ? 'personal' : 'org' }, steps],
          [flow, steps.with(at, { ...(steps[at] as FlowStep), instruction: 'Another.' })],
          [flow, steps.with(at, { ...(steps[at] as FlowStep), boundaries: ['Another.'] })],
        ];
        for (const [changedFlow, changedSteps] of variants) {
          expect(flowStateId(changedFlow, changedSteps)).not.toBe(token);
          expect(flowContentSha256(changedFlow, changedSteps)).not.toBe(flowContentSha256(flow, steps));
        }
      }),
      { numRuns: 100 },
    );
  });

  it('of a flow that is not there is fixed, and that of no flow', () => {
    expect(ABSENT_FLOW_STATE_ID).toBe('flowst1_af63bd4c8601b7df');
    fc.assert(
      fc.property(anyBundle, ({ flow, steps }) => {
        expect(flowStateId(flow, steps)).not.toBe(ABSENT_FLOW_STATE_ID);
      }),
      { numRuns: 50 },
    );
  });
});

function parts({ flow, steps }: FlowBundle): [Flow, FlowStep[]] {
  return [flow, steps];
}
