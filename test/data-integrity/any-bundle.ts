import fc from 'fast-check';
import type { FlowBundle } from '../../src/flows/index.ts';
import { sampleFlow } from '../support/flows.ts';

/** What breaks stores: the end of C strings, halves of characters, controls, marks, long and right-to-left text. */
const awkward = fc.constantFrom(
  '\u0000',
  '\ud800',
  '\udfff',
  '👩‍👩‍👧‍👦',
  'e\u0301',
  '\u202e',
  '\u2028',
  '\ufeff',
  '\\u0000',
  "'; drop table flows; --",
  '%s $1 ? :name',
  'ﷺ',
  '한국어',
);
const unit = fc.oneof(fc.string({ unit: 'binary', maxLength: 12 }), fc.string({ maxLength: 12 }), awkward);
const text = fc.array(unit, { maxLength: 6 }).map((parts) => parts.join(''));
const filled = text.map((value) => `${value}x`);
const name = filled.map((value) => value.slice(-64));
const handle = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 20 }).map((value) => `h${value.slice(0, 200)}`);
const tag = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 8 }).map((value) => value.slice(0, 64));

const step = fc.record({
  owned_job: filled,
  instruction: filled,
  trigger: filled,
  when_not_to_run: filled,
  requires: fc.array(fc.record({ kind: fc.constantFrom('vault_scope', 'tool', 'file', 'artifact'), id: handle })),
  boundaries: fc.array(text, { maxLength: 4 }),
  skill_refs: fc.array(fc.record({ kind: fc.constantFrom('mcp_prompt', 'cli', 'external_tool'), id: handle })),
  outputs: fc.array(fc.record({ name, type: name }), { maxLength: 3 }),
  output_shape: filled,
  verification: fc.record({
    kind: fc.constantFrom('human_review', 'value_match', 'agent_check'),
    evidence_required: fc.boolean(),
    description: filled,
  }),
  automatable: fc.constantFrom('manual', 'agent_assisted', 'automatable'),
});

/** The free parts of a flow and of one to four steps. */
export const content = fc.record({
  flow: fc.record({
    title: filled,
    scope: fc.constantFrom('personal', 'project', 'org'),
    summary: text,
    tags: fc.uniqueArray(tag, { maxLength: 5 }),
    inputs: fc.array(fc.record({ name, type: name, required: fc.boolean() }), { maxLength: 3 }),
    updated: fc
      .date({ noInvalidDate: true, min: new Date(0), max: new Date('9999-12-31') })
      .map((d) => d.toISOString()),
  }),
  steps: fc.array(step, { minLength: 1, maxLength: 4 }),
});

/** A flow with such content; the judge may still refuse it. */
export function bundleOf(flowId: string, { flow, steps }: { flow: object; steps: object[] }): FlowBundle {
  const sample = sampleFlow(flowId, { steps: steps.length });
  return {
    flow: { ...sample.flow, ...flow },
    steps: sample.steps.map((base, at) => ({ ...base, ...steps[at] })),
  } as FlowBundle;
}
