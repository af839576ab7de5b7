import type { FlowStep } from '../flows/index.ts';

/** The texts of a step that can be reworded, in wire order. */
export const STEP_TEXTS = [
  'owned_job',
  'instruction',
  'trigger',
  'when_not_to_run',
  'output_shape',
  'verification.description',
] as const;
export type StepText = (typeof STEP_TEXTS)[number];

export function stepText(step: FlowStep, field: StepText): string {
  return field === 'verification.description' ? step.verification.description : step[field];
}
