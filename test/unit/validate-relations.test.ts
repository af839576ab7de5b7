import { describe, expect, it } from 'vitest';
import { validateFlowBundle } from '../../src/flows/index.ts';
import { verdictReason } from '../../src/flows/validate.ts';
import { sampleFlow } from '../support/flows.ts';
import { bundleWith, complaints } from './loose-bundle.ts';

const fromOf = (from: string, at = 1) =>
  bundleWith(({ flow, steps }) => {
    flow.inputs = [{ name: 'topic', type: 'string', required: true }];
    steps[0]!.outputs = [{ name: 'first', type: 'text' }];
    steps[1]!.outputs = [{ name: 'second', type: 'text' }];
    steps[at]!.inputs = [{ name: 'given', from }];
  });

describe('what holds between the parts of a flow', () => {
  it('is not the order in which steps are written', () => {
    expect(complaints(bundleWith(({ steps }) => void steps.reverse(), 3))).toEqual([]);
  });

  it('[S002-1.3-ids] a step id is the flow id and the ordinal', () => {
    const bundle = bundleWith(({ steps }) => Object.assign(steps[1]!, { step_id: 'flow_other#2' }));
    expect(complaints(bundle)).toEqual(['step_id_mismatch /steps/1/step_id', 'step_order /flow/steps']);
  });

  it('a step belongs to the flow', () => {
    const bundle = bundleWith(({ steps }) => Object.assign(steps[1]!, { flow_id: 'flow_other' }));
    expect(complaints(bundle)).toEqual(['flow_id_mismatch /steps/1/flow_id']);
  });

  it('ordinals have no gap', () => {
    const bundle = bundleWith(({ flow, steps }) => {
      Object.assign(steps[1]!, { ordinal: 3, step_id: 'flow_sample#3' });
      flow.steps = ['flow_sample#1', 'flow_sample#3'];
    });
    expect(complaints(bundle)).toEqual(['ordinal_gap /steps/1/ordinal']);
  });

  it('ordinals do not start late', () => {
    const bundle = bundleWith(({ flow, steps }) => {
      Object.assign(steps[0]!, { ordinal: 2, step_id: 'flow_sample#2' });
      flow.steps = ['flow_sample#2'];
    }, 1);
    expect(complaints(bundle)).toEqual(['ordinal_gap /steps/0/ordinal']);
  });

  it('ordinals do not repeat', () => {
    const bundle = bundleWith(({ flow, steps }) => {
      Object.assign(steps[1]!, { ordinal: 1, step_id: 'flow_sample#1' });
      flow.steps = ['flow_sample#1', 'flow_sample#1'];
    });
    expect(complaints(bundle)).toEqual(['ordinal_gap /steps/1/ordinal']);
  });

  it.each([0, -1])('the ordinal %i is none', (ordinal) => {
    const bundle = bundleWith(({ steps }) => Object.assign(steps[0]!, { ordinal: ordinal }));
    expect(complaints(bundle)).toContain('too_small /steps/0/ordinal');
  });

  it.each([
    ['turned around', ['flow_sample#2', 'flow_sample#1']],
    ['too short', ['flow_sample#1']],
    ['too long', ['flow_sample#1', 'flow_sample#2', 'flow_sample#3']],
    ['with a stranger', ['flow_sample#1', 'flow_other#2']],
  ])('the list of steps is not %s', (_, steps) => {
    expect(complaints(bundleWith(({ flow }) => Object.assign(flow, { steps: steps })))).toEqual([
      'step_order /flow/steps',
    ]);
  });

  it.each([
    ['flow.inputs.topic', 0],
    ['flow.inputs.topic', 1],
    ['flow_sample#1.outputs.first', 1],
  ])('a step may read %s at place %i', (from, at) => {
    expect(complaints(fromOf(from, at))).toEqual([]);
  });

  it.each([
    ['an input that the flow does not have', 'flow.inputs.other', 1],
    ['an output that the step does not have', 'flow_sample#1.outputs.other', 1],
    ['its own output', 'flow_sample#2.outputs.second', 1],
    ['an output of a later step', 'flow_sample#2.outputs.second', 0],
    ['a step of another flow', 'flow_other#1.outputs.first', 1],
    ['a place that is none', 'somewhere', 1],
    ['what every object has', 'flow.inputs.constructor', 1],
  ])('a step may not read %s', (_, from, at) => {
    expect(complaints(fromOf(from, at))).toEqual([`unresolved_reference /steps/${at}/inputs/0/from`]);
  });

  it('tags do not repeat', () => {
    expect(complaints(sampleFlow('flow_sample', { tags: ['a', 'b', 'a'] }))).toEqual(['duplicate /flow/tags/2']);
  });
});

describe('the verdict on a bad flow', () => {
  const bundle = bundleWith(({ flow, steps }) => {
    flow.scope = 'galaxy';
    flow.title = '';
    flow['a/b'] = 1;
    delete steps[0]!.trigger;
    delete steps[0]!.verification;
    steps[0]!.inputs = [{ name: 'x', from: 'nowhere' }];
    steps[1]!.ordinal = 4;
  });

  it('names every problem at once, each with its place', () => {
    expect(complaints(bundle)).toEqual([
      'invalid_format /flow/title',
      'invalid_type /steps/0/trigger',
      'invalid_type /steps/0/verification',
      'invalid_value /flow/scope',
      'ordinal_gap /steps/1/ordinal',
      'step_id_mismatch /steps/1/step_id',
      'unknown_key /flow/a~1b',
      'unresolved_reference /steps/0/inputs/0/from',
    ]);
  });

  it('is one sentence for the log', () => {
    const verdict = validateFlowBundle({ flow: sampleFlow('flow_a').flow, steps: [], more: 1 });
    const reason = verdict.ok ? '' : verdictReason(verdict.issues);
    expect(reason).toMatch(/^\/steps: .+; \/more: is not a known key$/);
  });
});
