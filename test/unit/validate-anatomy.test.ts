import { describe, expect, it } from 'vitest';
import { readStarterBundles, validateFlowBundle } from '../../src/flows/index.ts';
import { sampleFlow } from '../support/flows.ts';
import { bundleWith, complaints, type LooseBundle } from './loose-bundle.ts';

const FLOW_REQUIRED = ['schema', 'flow_id', 'title', 'version', 'scope', 'summary', 'steps', 'updated', 'truncated'];
const FLOW_OPTIONAL = ['tags', 'inputs', 'vault_mirror_path'];
const STEP_REQUIRED = [
  'schema',
  'step_id',
  'flow_id',
  'ordinal',
  'owned_job',
  'instruction',
  'trigger',
  'when_not_to_run',
  'boundaries',
  'output_shape',
  'verification',
  'automatable',
];
const STEP_OPTIONAL = ['requires', 'skill_refs', 'inputs', 'outputs'];
const PROSE = ['owned_job', 'instruction', 'trigger', 'when_not_to_run', 'output_shape'];

const flowWith = (key: string, value: unknown) => bundleWith(({ flow }) => Object.assign(flow, { [key]: value }));
const stepWith = (key: string, value: unknown) => bundleWith(({ steps }) => Object.assign(steps[1]!, { [key]: value }));
const verificationWith = (key: string, value: unknown) =>
  bundleWith(({ steps }) => Object.assign(steps[1]!.verification as object, { [key]: value }));

describe('a valid flow', () => {
  it.each(readStarterBundles({}).map((bundle) => ({ id: bundle.flow.flow_id, bundle })))(
    '$id comes through the validator as it is',
    ({ bundle }) => {
      expect(validateFlowBundle(JSON.parse(JSON.stringify(bundle)))).toEqual({ ok: true, bundle });
    },
  );

  it('is given what it may leave out', () => {
    const bare = bundleWith(({ flow, steps }) => {
      for (const key of FLOW_OPTIONAL) delete flow[key];
      for (const step of steps) for (const key of STEP_OPTIONAL) delete step[key];
    });
    const verdict = validateFlowBundle(bare);
    expect(verdict).toMatchObject({
      ok: true,
      bundle: {
        flow: { tags: [], inputs: [], vault_mirror_path: null },
        steps: [1, 2].map(() => ({ requires: [], skill_refs: [], inputs: [], outputs: [] })),
      },
    });
  });

  it('is not changed in place', () => {
    const bundle = sampleFlow('flow_sample');
    const before = structuredClone(bundle);
    validateFlowBundle(bundle);
    expect(bundle).toEqual(before);
  });
});

describe('a flow is refused', () => {
  it.each(FLOW_REQUIRED)('without %s', (key) => {
    const bundle = bundleWith(({ flow }) => void delete flow[key]);
    expect(complaints(bundle)).toContainEqual(expect.stringMatching(new RegExp(` /flow/${key}$`)));
  });

  it.each(STEP_REQUIRED)('with a step without %s', (key) => {
    const bundle = bundleWith(({ steps }) => void delete steps[1]![key]);
    expect(complaints(bundle)).toContainEqual(expect.stringMatching(new RegExp(` /steps/1/${key}$`)));
  });

  it.each(['kind', 'evidence_required', 'description'])('with a verification without %s', (key) => {
    const bundle = bundleWith(({ steps }) => void delete (steps[0]!.verification as Record<string, unknown>)[key]);
    expect(complaints(bundle)).toEqual([expect.stringMatching(new RegExp(` /steps/0/verification/${key}$`))]);
  });

  it.each(PROSE)('with a blank %s', (key) => {
    expect(complaints(stepWith(key, ' \n\t '))).toEqual([`invalid_format /steps/1/${key}`]);
  });

  it('with a blank title or proof', () => {
    expect(complaints(flowWith('title', '  '))).toEqual(['invalid_format /flow/title']);
    expect(complaints(verificationWith('description', ' '))).toEqual([
      'invalid_format /steps/1/verification/description',
    ]);
  });

  it.each([
    ['/flow/schema', flowWith('schema', 'knowtation.flow/v1')],
    ['/flow/scope', flowWith('scope', 'galaxy')],
    ['/steps/1/schema', stepWith('schema', 'knowtation.flow/v0')],
    ['/steps/1/automatable', stepWith('automatable', 'always')],
    ['/steps/1/verification/kind', verificationWith('kind', 'trust_me')],
    ['/steps/1/requires/0/kind', stepWith('requires', [{ kind: 'wish', id: 'a' }])],
    ['/steps/1/skill_refs/0/kind', stepWith('skill_refs', [{ kind: 'tool', id: 'a' }])],
  ])('with a word at %s that is not one of its own', (path, bundle) => {
    expect(complaints(bundle)).toEqual([`invalid_value ${path}`]);
  });

  it.each<[string, (bundle: LooseBundle) => void]>([
    ['/extra', (bundle) => Object.assign(bundle, { extra: 1 })],
    ['/flow/graph', ({ flow }) => Object.assign(flow, { graph: {} })],
    ['/steps/0/flow_version', ({ steps }) => Object.assign(steps[0]!, { flow_version: '1.0.0' })],
    [
      '/steps/1/verification/oauth_ref',
      ({ steps }) => Object.assign(steps[1]!.verification as object, { oauth_ref: 'x' }),
    ],
    [
      '/steps/1/requires/0/secret',
      ({ steps }) => Object.assign(steps[1]!, { requires: [{ kind: 'tool', id: 'a', secret: 'x' }] }),
    ],
    [
      '/flow/inputs/0/default',
      ({ flow }) => Object.assign(flow, { inputs: [{ name: 'a', type: 'b', required: true, default: 1 }] }),
    ],
  ])('with the unknown key %s', (path, change) => {
    expect(complaints(bundleWith(change))).toEqual([`unknown_key ${path}`]);
  });

  it.each([
    ['evidence_required as text', verificationWith('evidence_required', 'true')],
    ['truncated as text', flowWith('truncated', 'false')],
    ['boundaries as text', stepWith('boundaries', 'none')],
    ['an ordinal as text', stepWith('ordinal', '2')],
    ['tags as text', flowWith('tags', 'a,b')],
    ['inputs as an object', stepWith('inputs', {})],
  ])('with %s', (_, bundle) => {
    expect(complaints(bundle)).toEqual([expect.stringMatching(/^invalid_type /)]);
  });
});
