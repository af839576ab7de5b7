import { sampleFlow } from './flows.ts';

type Loose = Record<string, unknown>;

/** Each mistake of the spoilt draft: the code of its issue and the JSON pointer to it. */
export const THIRTY_MISTAKES: readonly string[] = [
  'invalid_format /flow/title',
  'invalid_format /flow/version',
  'invalid_value /flow/scope',
  'invalid_type /flow/summary',
  'duplicate /flow/tags/1',
  'too_small /flow/tags/2',
  'invalid_type /flow/inputs/0/required',
  'invalid_format /flow/vault_mirror_path',
  'invalid_format /flow/updated',
  'invalid_type /flow/truncated',
  'unknown_key /flow/colour',
  'step_order /flow/steps',
  'step_id_mismatch /steps/0/step_id',
  'invalid_type /steps/0/trigger',
  'invalid_format /steps/0/when_not_to_run',
  'invalid_type /steps/0/output_shape',
  'invalid_type /steps/0/verification',
  'invalid_value /steps/0/automatable',
  'invalid_type /steps/0/boundaries',
  'invalid_value /steps/0/requires/0/kind',
  'custom /steps/0/skill_refs/0/id',
  'flow_id_mismatch /steps/1/flow_id',
  'ordinal_gap /steps/1/ordinal',
  'too_big /steps/1/instruction',
  'invalid_value /steps/1/verification/kind',
  'invalid_type /steps/1/verification/evidence_required',
  'unresolved_reference /steps/1/inputs/0/from',
  'unknown_key /steps/1/skill_refs/0/token',
  'unknown_key /auto_approve',
  'intent_missing /intent',
];

/** A draft with thirty mistakes of every sort, none of which hides another. */
export function spoiltDraft(): Loose {
  const { flow, steps } = sampleFlow('flow_spoilt') as unknown as { flow: Loose; steps: [Loose, Loose] };
  const [first, second] = steps;
  const { truncated: _, ...whole } = flow;
  const { trigger: _trigger, output_shape: _shape, verification: _verification, ...torso } = first;
  return {
    flow: {
      ...whole,
      title: ' ',
      version: '1.0',
      scope: 'galaxy',
      summary: 7,
      tags: ['twice', 'twice', ''],
      inputs: [{ name: 'note', type: 'string', required: 'yes' }],
      vault_mirror_path: 'inbox/elsewhere.md',
      updated: 'yesterday',
      colour: 'red',
      steps: ['flow_spoilt#1', 'flow_spoilt#3'],
    },
    steps: [
      {
        ...torso,
        step_id: 'flow_spoilt#9',
        when_not_to_run: '',
        automatable: 'robot',
        boundaries: 'none',
        requires: [{ kind: 'magic', id: 'wand' }],
        skill_refs: [{ kind: 'cli', id: `ghp_${'a1B2'.repeat(9)}` }],
      },
      {
        ...second,
        flow_id: 'flow_other',
        step_id: 'flow_spoilt#3',
        ordinal: 3,
        instruction: 'x'.repeat(8_001),
        verification: { kind: 'magic', evidence_required: 'no', description: 'Seen.' },
        inputs: [{ name: 'from_nowhere', from: 'flow_spoilt#2.outputs.nothing' }],
        skill_refs: [{ kind: 'cli', id: 'make', token: 'x' }],
      },
    ],
    auto_approve: true,
  };
}
