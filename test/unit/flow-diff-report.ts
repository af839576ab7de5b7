import type { FlowBundle, FlowStep } from '../../src/flows/index.ts';
import { sampleFlow } from '../support/flows.ts';

export const JOBS = [
  ['Collect the week', 'Read every note of the week and list what was decided, with a link to each.'],
  ['Draft the report', 'Write one page: what was done, what was not, what is asked of the reader.'],
  ['Have it read', 'Send the draft to somebody who was there and wait for their corrections.'],
  ['Publish', 'Move the page to the shared folder and tell the channel that it is there.'],
] as const;

/** What a test does to the flow. */
export type Change = (bundle: FlowBundle) => unknown;

/** A flow whose four steps say different things; what a test is about can be changed on it. */
export function report(change: Change = () => {}, version = '1.0.0'): FlowBundle {
  const bundle = sampleFlow('flow_report', { steps: JOBS.length, version });
  bundle.steps.forEach((step, at) => {
    [step.owned_job, step.instruction] = JOBS[at] as [string, string];
  });
  change(bundle);
  return renumbered(bundle);
}

/** Gives the steps, in the order they stand, their numbers; references follow. */
export function renumbered({ flow, steps }: FlowBundle): FlowBundle {
  const place = new Map(steps.map(({ ordinal }, at) => [ordinal, at + 1]));
  const moved = steps.map((step, at) => ({
    ...step,
    ordinal: at + 1,
    step_id: `${flow.flow_id}#${at + 1}`,
    inputs: step.inputs.map(({ name, from }) => {
      return { name, from: from.replace(/#(\d+)/, (_, ordinal) => `#${place.get(Number(ordinal)) ?? ordinal}`) };
    }),
  }));
  return { flow: { ...flow, steps: moved.map(({ step_id }) => step_id) }, steps: moved };
}

/** A step that shares little with those of the report. */
export function newStep(words: string): FlowStep {
  const [step] = sampleFlow('flow_report', { steps: 1, instruction: `Something about ${words}.` }).steps as [FlowStep];
  return { ...step, owned_job: `Look after ${words}`, ordinal: 99 };
}

export function stepOf(bundle: FlowBundle, ordinal: number): FlowStep {
  return bundle.steps[ordinal - 1] as FlowStep;
}

export const onFlow =
  (fields: Partial<FlowBundle['flow']>): Change =>
  ({ flow }) =>
    Object.assign(flow, fields);

export const onStep =
  (ordinal: number, fields: Partial<FlowStep>): Change =>
  (bundle) =>
    Object.assign(stepOf(bundle, ordinal), fields);

export const onProof =
  (ordinal: number, fields: Partial<FlowStep['verification']>): Change =>
  (bundle) =>
    Object.assign(stepOf(bundle, ordinal).verification, fields);
