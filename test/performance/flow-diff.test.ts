import { describe, expect, it } from 'vitest';
import { diffFlows } from '../../src/diff/diff-flows.ts';
import { renderFlowDiff } from '../../src/diff/index.ts';
import { type FlowBundle, flowStateId } from '../../src/flows/index.ts';
import { stateIdOfAnswer } from '../../src/flows/versions.ts';
import { sampleFlow } from '../support/flows.ts';
import { compareFairly, describeComparison } from './measure.ts';

const STEPS = 100;
const CHARACTERS = 8_000;
const ROUNDS = 3;

/** A flow of that many steps, every text that long, of words that another seed seldom shares. */
function wordy(seed: number, steps: number, characters: number): FlowBundle {
  let state = seed;
  const text = (): string => {
    let words = '';
    while (words.length < characters) {
      state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
      words += `${(state >>> 8).toString(36)} `;
    }
    return words.slice(0, characters);
  };
  const bundle = sampleFlow('flow_wordy', { steps });
  for (const step of bundle.steps) {
    Object.assign(step, { owned_job: text(), instruction: text(), trigger: text() });
    Object.assign(step, { when_not_to_run: text(), output_shape: text() });
    step.verification.description = text();
  }
  return bundle;
}

/** Every text of it with a word more, and the steps in the opposite order: nothing is equal, all is alike. */
function reversed({ flow, steps }: FlowBundle): FlowBundle {
  const turned = [...steps].reverse().map((step, at) => ({
    ...step,
    ordinal: at + 1,
    step_id: `${flow.flow_id}#${at + 1}`,
    instruction: `Anew ${step.instruction}`,
    trigger: `Anew ${step.trigger}`,
  }));
  return { flow, steps: turned };
}

const [large, other] = [wordy(1, STEPS, CHARACTERS), wordy(2, STEPS, CHARACTERS)];
const alike = reversed(large);
const expectWithin = async (limit: number, what: string, work: () => unknown, measure: () => unknown) => {
  const comparison = await compareFairly(limit, ROUNDS, work, measure);
  expect(comparison.ratio, describeComparison(what, comparison)).toBeLessThanOrEqual(limit);
};

describe('[FLR-diff] comparing 100 steps with 100 steps of 8,000-character texts', () => {
  it('finds every step again, or none', () => {
    const kinds = (after: FlowBundle) => new Set(diffFlows(large, after).changes.map(({ kind }) => kind));
    expect(kinds(alike)).toEqual(new Set(['step_moved', 'field_reworded']));
    expect(kinds(other)).toEqual(new Set(['step_removed', 'step_added']));
  });

  it.each([
    ['nothing in common', other],
    ['everything moved and reworded', alike],
  ])('with %s costs no more than three times what hashing the two costs', async (what, after) => {
    const hashBoth = () => [flowStateId(large.flow, large.steps), flowStateId(after.flow, after.steps)];
    await expectWithin(3, what, () => diffFlows(large, after), hashBoth);
  });

  it('costs in proportion to the length of the texts', async () => {
    const [short, shortOther] = [wordy(1, STEPS, CHARACTERS / 4), wordy(2, STEPS, CHARACTERS / 4)];
    await expectWithin(
      5,
      'texts of 8,000 against 2,000 characters',
      () => diffFlows(large, other),
      () => diffFlows(short, shortOther),
    );
  });

  it('costs at most eight times as much, not sixteen, for four times the steps', async () => {
    const [few, fewOthers] = [wordy(1, STEPS / 4, CHARACTERS), wordy(2, STEPS / 4, CHARACTERS)];
    await expectWithin(
      8,
      '100 steps against 25',
      () => diffFlows(large, other),
      () => diffFlows(few, fewOthers),
    );
  });

  it('is shown at a bounded cost for each text, however much was rewritten', async () => {
    const named = (before: FlowBundle, after: FlowBundle) => {
      return { flow_id: 'flow_wordy', from: '1.0.0', to: '1.0.1', proposal_id: null, ...diffFlows(before, after) };
    };
    const rewrite = (bundle: FlowBundle, steps: number): FlowBundle => ({
      ...bundle,
      steps: bundle.steps
        .slice(0, steps)
        .map((step, at) => ({ ...step, instruction: other.steps[at]?.instruction ?? '' })),
    });
    const many = named({ ...large, steps: large.steps.slice(0, 40) }, rewrite(large, 40));
    const few = named({ ...large, steps: large.steps.slice(0, 10) }, rewrite(large, 10));
    await expectWithin(
      6,
      '40 rewritten texts against 10',
      () => renderFlowDiff(many, { colour: true }),
      () => renderFlowDiff(few, { colour: true }),
    );
  });
});

it('[FLR-versions] the token of an answer that is kept ready is computed once', async () => {
  const answer = { schema: 'knowtation.flow_get/v0' as const, vault_id: 'default', ...large };
  expect(stateIdOfAnswer(answer)).toBe(flowStateId(large.flow, large.steps));
  await expectWithin(
    0.01,
    'asking again',
    () => stateIdOfAnswer(answer),
    () => flowStateId(large.flow, large.steps),
  );
});
