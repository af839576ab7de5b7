import type { FlowStep } from '../flows/index.ts';
import { stableStringify } from '../kernel/canonical-json.ts';
import { likeness, type Sample, sampleOf } from './likeness.ts';
import { type Pairing, pairUp, type Resemblance } from './pairing.ts';
import { STEP_TEXTS, type StepText, stepText } from './step-text.ts';

/** `<flow_id>#<ordinal>.outputs.<name>`: what a step takes from an earlier one. */
const STEP_SOURCE = /^flow_[a-z0-9_]{1,64}#([1-9][0-9]*)\.outputs\.(.*)$/s;

/** How much each text says about which step it is. */
const WEIGHTS: Record<StepText, number> = {
  owned_job: 3,
  instruction: 4,
  trigger: 1,
  when_not_to_run: 1,
  output_shape: 1,
  'verification.description': 1,
};
const TOTAL_WEIGHT = Object.values(WEIGHTS).reduce((sum, weight) => sum + weight, 0);

interface Traits {
  job: string;
  samples: Sample[];
}

/** Steps are recognised by what they say. The same job in the same words is the same step, whatever else changed. */
const BY_CONTENT: Resemblance<FlowStep, Traits> = {
  traitsOf: (step) => ({ job: step.owned_job, samples: STEP_TEXTS.map((field) => sampleOf(stepText(step, field))) }),
  between: (left, right) => {
    const score = STEP_TEXTS.reduce((sum, field, at) => {
      const [a, b] = [left.samples[at], right.samples[at]];
      return a && b ? sum + WEIGHTS[field] * likeness(a, b) : sum;
    }, 0);
    const alike = score / TOTAL_WEIGHT;
    return left.job === right.job ? (1 + alike) / 2 : alike;
  },
};

/** What became of each step; both lists in order of their ordinals. */
export function pairSteps(before: readonly FlowStep[], after: readonly FlowStep[]): Pairing {
  return pairUp(before, after, contentOf, BY_CONTENT);
}

/** All that a step says, without its number and the numbers it refers to: those move when a neighbour comes or goes. */
function contentOf(step: FlowStep): string {
  const { schema: _, step_id: __, flow_id: ___, ordinal: ____, ...content } = step;
  const inputs = step.inputs.map(({ name, from }) => ({ name, from: from.replace(STEP_SOURCE, '#.outputs.$2') }));
  return stableStringify({ ...content, inputs });
}

/** Do two `from` mean the same source? A step is meant by what it is, not by its number. */
export type SameSource = (before: string, after: string) => boolean;

export function sourceComparison(
  before: readonly FlowStep[],
  after: readonly FlowStep[],
  { pairs }: Pairing,
): SameSource {
  const oldOrdinals = new Set(before.map(({ ordinal }) => ordinal));
  const newOrdinals = new Set(after.map(({ ordinal }) => ordinal));
  const successor = new Map(pairs.map((pair) => [before[pair.before]?.ordinal, after[pair.after]?.ordinal]));
  return (old, current) => {
    const [from, to] = [STEP_SOURCE.exec(old), STEP_SOURCE.exec(current)];
    if (!from || !to) return old === current;
    const [source, target] = [Number(from[1]), Number(to[1])];
    if (!oldOrdinals.has(source) && !newOrdinals.has(target)) return old === current;
    return from[2] === to[2] && successor.get(source) === target;
  };
}
