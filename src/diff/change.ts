import * as z from 'zod';
import {
  AUTOMATABLE_KINDS,
  FlowSchema,
  type FlowStep,
  FlowStepSchema,
  ScopeSchema,
  VERIFICATION_KINDS,
} from '../flows/index.ts';
import { STEP_TEXTS } from './step-text.ts';
import { type Bump, CLASSES, type Class } from './version-class.ts';

export const ClassSchema = z.enum(CLASSES).describe('What it asks of the version number');

/** Built when it is first needed: most commands never look at a change, and there are many kinds. */
function buildFlowChange() {
  const path = z.string().describe('JSON pointer into the newer bundle {flow, steps}; into the older for what is gone');
  const StepPlace = z.strictObject({
    before_ordinal: z.int().nullable().describe('Place in the older version; null when it is new'),
    after_ordinal: z.int().nullable().describe('Place in the newer version; null when it is gone'),
    owned_job: z.string().describe('The job of the step, shortened where it is long'),
  });

  /** Of the flow, and of one of its steps. */
  const whole = { path, impact: ClassSchema };
  const stepwise = { path, step: StepPlace, impact: ClassSchema };

  const Ref = z.strictObject({ kind: z.string(), id: z.string() });
  const Input = z.strictObject({ name: z.string(), type: z.string(), required: z.boolean() });
  const StepInput = z.strictObject({ name: z.string(), from: z.string() });
  const StepOutput = z.strictObject({ name: z.string(), type: z.string() });
  const Proof = z.strictObject({ kind: z.enum(VERIFICATION_KINDS), evidence_required: z.boolean() });
  const text = z.string();
  const automatable = z.enum(AUTOMATABLE_KINDS);

  return z.discriminatedUnion('kind', [
    z.strictObject({ kind: z.literal('flow_added'), after: FlowSchema, ...whole }),
    z.strictObject({ kind: z.literal('flow_retired'), before: FlowSchema, ...whole }),
    z.strictObject({ kind: z.enum(['title_reworded', 'summary_reworded']), before: text, after: text, ...whole }),
    z.strictObject({ kind: z.literal('tag_added'), after: text, ...whole }),
    z.strictObject({ kind: z.literal('tag_removed'), before: text, ...whole }),
    z.strictObject({
      kind: z.literal('scope_changed'),
      direction: z.enum(['widened', 'narrowed']).describe('Widened: to a higher tier, personal < project < org'),
      before: ScopeSchema,
      after: ScopeSchema,
      ...whole,
    }),
    z.strictObject({ kind: z.literal('input_added'), after: Input, ...whole }),
    z.strictObject({ kind: z.literal('input_removed'), before: Input, ...whole }),
    z.strictObject({ kind: z.literal('input_changed'), before: Input, after: Input, ...whole }),
    z.strictObject({
      kind: z.literal('mirror_path_changed'),
      before: text.nullable(),
      after: text.nullable(),
      ...whole,
    }),
    z.strictObject({ kind: z.literal('step_added'), after: FlowStepSchema, ...stepwise }),
    z.strictObject({ kind: z.literal('step_removed'), before: FlowStepSchema, ...stepwise }),
    z.strictObject({ kind: z.literal('step_moved'), ...stepwise }),
    z.strictObject({
      kind: z.literal('field_reworded'),
      field: z.enum(STEP_TEXTS),
      before: text,
      after: text,
      ...stepwise,
    }),
    z.strictObject({ kind: z.literal('boundary_added'), after: text, ...stepwise }),
    z.strictObject({ kind: z.literal('boundary_removed'), before: text, ...stepwise }),
    z.strictObject({ kind: z.literal('boundary_reworded'), before: text, after: text, ...stepwise }),
    z.strictObject({ kind: z.enum(['requires_added', 'skill_ref_added']), after: Ref, ...stepwise }),
    z.strictObject({ kind: z.enum(['requires_removed', 'skill_ref_removed']), before: Ref, ...stepwise }),
    z.strictObject({ kind: z.literal('step_input_added'), after: StepInput, ...stepwise }),
    z.strictObject({ kind: z.literal('step_input_removed'), before: StepInput, ...stepwise }),
    z.strictObject({ kind: z.literal('step_input_changed'), before: StepInput, after: StepInput, ...stepwise }),
    z.strictObject({ kind: z.literal('step_output_added'), after: StepOutput, ...stepwise }),
    z.strictObject({ kind: z.literal('step_output_removed'), before: StepOutput, ...stepwise }),
    z.strictObject({ kind: z.literal('step_output_changed'), before: StepOutput, after: StepOutput, ...stepwise }),
    z.strictObject({
      kind: z.enum(['verification_tightened', 'verification_loosened', 'verification_changed']),
      before: Proof,
      after: Proof,
      ...stepwise,
    }),
    z.strictObject({ kind: z.literal('automatable_changed'), before: automatable, after: automatable, ...stepwise }),
    z.strictObject({
      kind: z.literal('list_reordered').describe('The same items in another order; path names the list'),
      path,
      step: StepPlace.nullable().describe('Null for a list of the flow itself'),
      impact: ClassSchema,
    }),
  ]);
}

/** One difference between two versions. Changes are data: everything a reader, a renderer or a rule needs of it. */
export const FlowChangeSchema = z.lazy(buildFlowChange);

export type FlowChange = z.output<typeof FlowChangeSchema>;
export type ChangeKind = FlowChange['kind'];
export type ChangedStep = Extract<FlowChange, { kind: 'step_moved' }>['step'];
export type Proof = Pick<FlowStep['verification'], 'kind' | 'evidence_required'>;

/** How two versions differ, what that asks of the version number, and what was done about it. */
export interface FlowDiff {
  changes: FlowChange[];
  /** The greatest impact of any change. Advice, never enforced. */
  implied: Class;
  /** The step that the version number took; null when it took none forward. */
  declared: Bump | null;
  /** A sentence when the number took a smaller step than the changes imply. */
  advice: string | null;
}
