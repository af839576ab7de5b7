import { expect, it } from 'vitest';
import { flowStateId } from '../../src/flows/index.ts';
import { sampleFlow } from '../support/flows.ts';
import { compareFairly, describeComparison } from './measure.ts';

const ROUNDS = 25;
/** Linear work on four times the steps takes four times as long; quadratic work sixteen times. */
const LIMIT = 8;

it('[S002-9.6-performance] [S003-7-performance] a state id costs in proportion to the steps, not to their square', async () => {
  const instruction = 'Read the ticket, follow the checklist and write down what you changed. '.repeat(20);
  const [large, small] = [100, 25].map((steps) => sampleFlow('flow_hashed', { steps, instruction }));
  if (!large || !small) throw new Error('unreachable');
  const hash = ({ flow, steps }: typeof large) => {
    for (let again = 0; again < 2; again += 1) flowStateId(flow, steps);
  };
  const comparison = await compareFairly(
    LIMIT,
    ROUNDS,
    () => hash(large),
    () => hash(small),
  );
  const message = describeComparison('state id of 100 steps against 25', comparison);
  expect(comparison.ratio, message).toBeLessThanOrEqual(LIMIT);
});
