import { describe, expect, it } from 'vitest';
import { diffFlows } from '../../src/diff/diff-flows.ts';
import type { FlowStep } from '../../src/flows/index.ts';
import { type Change, newStep, onFlow, onProof, onStep, report, stepOf } from './flow-diff-report.ts';

/** A flow with something of everything. */
const base = (change: Change = () => {}) =>
  report((bundle) => {
    bundle.flow.inputs = [{ name: 'a', type: 'string', required: false }];
    Object.assign(stepOf(bundle, 2), {
      requires: [{ kind: 'file', id: 'x' }],
      skill_refs: [{ kind: 'cli', id: 'x' }],
      inputs: [{ name: 'in', from: 'flow.inputs.a' }],
      outputs: [{ name: 'page', type: 'string' }],
      automatable: 'agent_assisted',
    });
    onProof(3, { kind: 'test_pass', evidence_required: false })(bundle);
    onProof(4, { kind: 'value_match' })(bundle);
    change(bundle);
  });

const input = (name: string, required: boolean, type = 'string') => ({ name, type, required });
const withoutEvidence = (step: FlowStep): FlowStep => ({
  ...step,
  verification: { ...step.verification, evidence_required: false },
});

/** A change of the flow; the kind and the place it is told with; what it asks of the version number. */
const CASES: [string, Change, string, string, string][] = [
  ['another title', onFlow({ title: 'Other' }), 'title_reworded', '/flow/title', 'patch'],
  ['another summary', onFlow({ summary: 'Other' }), 'summary_reworded', '/flow/summary', 'patch'],
  ['a tag more', onFlow({ tags: ['test', 'more'] }), 'tag_added', '/flow/tags/1', 'patch'],
  ['a tag less', onFlow({ tags: [] }), 'tag_removed', '/flow/tags/0', 'patch'],
  ['a higher scope', onFlow({ scope: 'org' }), 'scope_changed', '/flow/scope', 'major'],
  [
    'a required input more',
    onFlow({ inputs: [input('a', false), input('b', true)] }),
    'input_added',
    '/flow/inputs/1',
    'major',
  ],
  [
    'an optional input more',
    onFlow({ inputs: [input('b', false), input('a', false)] }),
    'input_added',
    '/flow/inputs/0',
    'minor',
  ],
  ['an input less', onFlow({ inputs: [] }), 'input_removed', '/flow/inputs/0', 'major'],
  ['an input now required', onFlow({ inputs: [input('a', true)] }), 'input_changed', '/flow/inputs/0', 'major'],
  [
    'an input of another type',
    onFlow({ inputs: [input('a', false, 'number')] }),
    'input_changed',
    '/flow/inputs/0',
    'major',
  ],
  [
    'another mirror',
    onFlow({ vault_mirror_path: 'meta/flows/x.md' }),
    'mirror_path_changed',
    '/flow/vault_mirror_path',
    'patch',
  ],
  ['a step more', ({ steps }) => steps.push(newStep('the weather')), 'step_added', '/steps/4', 'major'],
  [
    'a step without evidence more',
    ({ steps }) => steps.push(withoutEvidence(newStep('the weather'))),
    'step_added',
    '/steps/4',
    'minor',
  ],
  ['a step less', ({ steps }) => steps.pop(), 'step_removed', '/steps/3', 'major'],
  ['a step elsewhere', ({ steps }) => steps.push(...steps.splice(1, 1)), 'step_moved', '/steps/3', 'major'],
  ['another job', onStep(2, { owned_job: 'Draft a report' }), 'field_reworded', '/steps/1/owned_job', 'patch'],
  ['another instruction', onStep(2, { instruction: 'Other.' }), 'field_reworded', '/steps/1/instruction', 'patch'],
  ['another trigger', onStep(2, { trigger: 'Other.' }), 'field_reworded', '/steps/1/trigger', 'patch'],
  ['another bar', onStep(2, { when_not_to_run: 'Other.' }), 'field_reworded', '/steps/1/when_not_to_run', 'patch'],
  ['another output', onStep(2, { output_shape: 'Other.' }), 'field_reworded', '/steps/1/output_shape', 'patch'],
  [
    'another description of the proof',
    onProof(2, { description: 'Other.' }),
    'field_reworded',
    '/steps/1/verification/description',
    'patch',
  ],
  [
    'a boundary more',
    onStep(2, { boundaries: ['Stay inside.', 'Never on Sundays'] }),
    'boundary_added',
    '/steps/1/boundaries/1',
    'major',
  ],
  ['a boundary less', onStep(2, { boundaries: [] }), 'boundary_removed', '/steps/1/boundaries/0', 'minor'],
  [
    'a boundary in other words',
    onStep(2, { boundaries: ['Stay well inside.'] }),
    'boundary_reworded',
    '/steps/1/boundaries/0',
    'patch',
  ],
  [
    'something more required',
    onStep(2, {
      requires: [
        { kind: 'tool', id: 'x' },
        { kind: 'file', id: 'x' },
      ],
    }),
    'requires_added',
    '/steps/1/requires/0',
    'major',
  ],
  ['something less required', onStep(2, { requires: [] }), 'requires_removed', '/steps/1/requires/0', 'minor'],
  [
    'a skill more',
    onStep(1, { skill_refs: [{ kind: 'cli', id: 'x' }] }),
    'skill_ref_added',
    '/steps/0/skill_refs/0',
    'minor',
  ],
  ['a skill less', onStep(2, { skill_refs: [] }), 'skill_ref_removed', '/steps/1/skill_refs/0', 'minor'],
  [
    'an input of a step more',
    onStep(1, { inputs: [{ name: 'in', from: 'flow.inputs.a' }] }),
    'step_input_added',
    '/steps/0/inputs/0',
    'minor',
  ],
  ['an input of a step less', onStep(2, { inputs: [] }), 'step_input_removed', '/steps/1/inputs/0', 'minor'],
  [
    'an output more',
    onStep(1, { outputs: [{ name: 'page', type: 'string' }] }),
    'step_output_added',
    '/steps/0/outputs/0',
    'minor',
  ],
  ['an output less', onStep(2, { outputs: [] }), 'step_output_removed', '/steps/1/outputs/0', 'major'],
  [
    'an output of another type',
    onStep(2, { outputs: [{ name: 'page', type: 'number' }] }),
    'step_output_changed',
    '/steps/1/outputs/0',
    'major',
  ],
  [
    'a machine instead of a person',
    onProof(2, { kind: 'artifact_exists' }),
    'verification_loosened',
    '/steps/1/verification',
    'minor',
  ],
  [
    'evidence no longer required',
    onProof(2, { evidence_required: false }),
    'verification_loosened',
    '/steps/1/verification',
    'minor',
  ],
  [
    'evidence from now on',
    onProof(3, { evidence_required: true }),
    'verification_tightened',
    '/steps/2/verification',
    'major',
  ],
  [
    'a person instead of a machine',
    onProof(3, { kind: 'human_review' }),
    'verification_tightened',
    '/steps/2/verification',
    'major',
  ],
  [
    'a person, but no evidence',
    onProof(4, { kind: 'human_review', evidence_required: false }),
    'verification_changed',
    '/steps/3/verification',
    'major',
  ],
  [
    'more done by agents',
    onStep(2, { automatable: 'automatable' }),
    'automatable_changed',
    '/steps/1/automatable',
    'minor',
  ],
  ['less done by agents', onStep(2, { automatable: 'manual' }), 'automatable_changed', '/steps/1/automatable', 'major'],
];

describe('[FLR-diff] each kind of change', () => {
  it.each(CASES)('%s', (_what, change, kind, path, impact) => {
    const diff = diffFlows(base(), base(change));
    expect(diff.changes).toEqual([expect.objectContaining({ kind, path, impact })]);
    expect(diff.implied).toBe(impact);
  });

  it.each([
    ['a lower scope', onFlow({ scope: 'personal' }), onFlow({ scope: 'org' }), 'scope_changed', 'minor'],
    [
      'an input no longer required',
      onFlow({ inputs: [input('a', false)] }),
      onFlow({ inputs: [input('a', true)] }),
      'input_changed',
      'minor',
    ],
    [
      'tags in another order',
      onFlow({ tags: ['b', 'c', 'a'] }),
      onFlow({ tags: ['a', 'b', 'c'] }),
      'list_reordered',
      'patch',
    ],
    [
      'boundaries in another order',
      onStep(2, { boundaries: ['Two', 'One'] }),
      onStep(2, { boundaries: ['One', 'Two'] }),
      'list_reordered',
      'patch',
    ],
  ] as const)('%s', (_what, after, before, kind, impact) => {
    expect(diffFlows(base(before), base(after)).changes).toEqual([expect.objectContaining({ kind, impact })]);
  });

  it('the greatest impact of any change is what all of them imply', () => {
    const after = base((bundle) => {
      onFlow({ title: 'Other', tags: [] })(bundle);
      onProof(2, { evidence_required: false })(bundle);
    });
    expect(diffFlows(base(), after)).toMatchObject({ implied: 'minor', changes: { length: 3 } });
  });
});

describe('[FLR-diff] the version number', () => {
  const removal = (from: string, to: string) =>
    diffFlows(
      report(undefined, from),
      report(({ steps }) => steps.pop(), to),
    );

  it.each([
    ['1.0.0', '2.0.0', 'major'],
    ['1.0.0', '1.1.0', 'minor'],
    ['1.1.9', '1.1.10', 'patch'],
    ['1.9.9', '10.0.0', 'major'],
    ['0.1.0', '0.2.0', 'minor'],
    ['1.0.0', '1.0.0', null],
    ['2.0.0', '1.0.0', null],
  ])('from %s to %s says %s', (from, to, declared) => {
    expect(removal(from, to).declared).toBe(declared);
  });

  it('gives advice when the number says less than the changes', () => {
    expect(removal('1.4.2', '1.4.3').advice).toBe(
      'The changes ask for a major version, and 1.4.2 → 1.4.3 is a patch one: consider 2.0.0.',
    );
    expect(removal('99999999999999999999.0.0', '99999999999999999999.0.1').advice).toContain(
      'consider 100000000000000000000.0.0.',
    );
    expect(removal('1.4.2', '2.0.0').advice).toBeNull();
    expect(removal('2.0.0', '1.4.2').advice).toBeNull();
    const minor = diffFlows(report(), report(onStep(1, { automatable: 'automatable' }), '1.0.1'));
    expect(minor.advice).toContain('consider 1.1.0.');
  });

  it('says nothing about a number that goes further than it must', () => {
    const reworded = diffFlows(report(), report(onFlow({ title: 'Other' }), '5.0.0'));
    expect(reworded).toMatchObject({ implied: 'patch', declared: 'major', advice: null });
  });
});
