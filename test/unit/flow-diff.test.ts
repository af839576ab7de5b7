import { describe, expect, it } from 'vitest';
import { diffFlows } from '../../src/diff/diff-flows.ts';
import type { FlowBundle, FlowStep } from '../../src/flows/index.ts';
import { sampleFlow } from '../support/flows.ts';
import { type Change, JOBS, newStep, onStep, renumbered, report, stepOf } from './flow-diff-report.ts';

const kindsOf = (before: FlowBundle | null, after: FlowBundle | null) =>
  diffFlows(before, after).changes.map(({ kind }) => kind);

describe('[FLR-diff] steps are recognised by what they say', () => {
  it('a new first step is one step added and nothing else', () => {
    const after = report(({ steps }) => steps.unshift(newStep('the weather')));
    const { changes } = diffFlows(report(), after);
    expect(changes).toEqual([
      {
        kind: 'step_added',
        path: '/steps/0',
        step: { before_ordinal: null, after_ordinal: 1, owned_job: 'Look after the weather' },
        after: stepOf(after, 1),
        impact: 'major',
      },
    ]);
  });

  it('a removed first step is one step removed and nothing else', () => {
    const before = report();
    const after = report(({ steps }) => steps.shift());
    expect(diffFlows(before, after).changes).toEqual([
      {
        kind: 'step_removed',
        path: '/steps/0',
        step: { before_ordinal: 1, after_ordinal: null, owned_job: 'Collect the week' },
        before: stepOf(before, 1),
        impact: 'major',
      },
    ]);
  });

  it('only the step that left its place has moved', () => {
    const after = report(({ steps }) => steps.push(...steps.splice(0, 1)));
    expect(diffFlows(report(), after).changes).toEqual([
      {
        kind: 'step_moved',
        path: '/steps/3',
        step: { before_ordinal: 1, after_ordinal: 4, owned_job: 'Collect the week' },
        impact: 'major',
      },
    ]);
  });

  it('an insertion does not make those behind it moved', () => {
    const after = report(({ steps }) => {
      steps.splice(1, 0, newStep('the weather'));
      steps.unshift(...steps.splice(4, 1));
    });
    expect(diffFlows(report(), after).changes.map(({ kind, path }) => `${kind} ${path}`)).toEqual([
      'step_moved /steps/0',
      'step_added /steps/2',
    ]);
  });

  it('a step that moved and was reworded is still that step', () => {
    const after = report(({ steps }) => {
      const [first] = steps.splice(0, 1) as [FlowStep];
      first.owned_job = 'Collect what the week brought';
      first.instruction = 'Read every note of the last week and list what was decided, with a link to each one.';
      steps.push(first);
    });
    const { changes } = diffFlows(report(), after);
    expect(changes.map((change) => [change.kind, 'field' in change ? change.field : null])).toEqual([
      ['step_moved', null],
      ['field_reworded', 'owned_job'],
      ['field_reworded', 'instruction'],
    ]);
  });

  it('the same job with all else rewritten is still that step', () => {
    const words = { instruction: 'Entirely other words, none of them shared.', trigger: 'At dawn.' };
    expect(kindsOf(report(), report(onStep(2, words)))).toEqual(['field_reworded', 'field_reworded']);
  });

  it('one step that goes and another that comes elsewhere are not one', () => {
    const after = report(({ steps }) => {
      steps.shift();
      steps.push(newStep('the weather'));
    });
    expect(kindsOf(report(), after)).toEqual(['step_removed', 'step_added']);
    const parts = (from: number) => {
      const bundle = sampleFlow('flow_report', { steps: 5 });
      return renumbered({ flow: bundle.flow, steps: bundle.steps.slice(from, from + 3) });
    };
    expect(kindsOf(parts(0), parts(1))).toEqual(['step_removed', 'step_added']);
  });

  it('of equal steps, those that come or go are the ones counted', () => {
    const same = (steps: number) =>
      renumbered({
        ...report(),
        steps: Array.from({ length: steps }, () => stepOf(report(), 1)),
      });
    expect(kindsOf(same(2), same(3))).toEqual(['step_added']);
    expect(kindsOf(same(5), same(3))).toEqual(['step_removed', 'step_removed']);
  });

  it('a removed step is told where it used to be', () => {
    const after = report(({ steps }) => {
      Object.assign(steps[3] as FlowStep, { trigger: 'On Friday.' });
      steps.splice(1, 1);
      steps.unshift(newStep('the weather'));
    });
    expect(diffFlows(report(), after).changes.map(({ kind, path }) => `${kind} ${path}`)).toEqual([
      'step_added /steps/0',
      'step_removed /steps/1',
      'field_reworded /steps/3/trigger',
    ]);
  });

  it('steps in a script without spaces are compared letter by letter', () => {
    const before = report(onStep(2, { owned_job: '核对本周记录', instruction: '逐条阅读本周所有笔记并列出决定' }));
    const after = report(onStep(2, { owned_job: '核对上周记录', instruction: '逐条阅读上周所有笔记并列出全部决定' }));
    expect(kindsOf(before, after)).toEqual(['field_reworded', 'field_reworded']);
  });

  it('a long job is shortened where it only names the step', () => {
    const long = (tail: string) => report(onStep(2, { owned_job: `${'Write 😀 '.repeat(200)}${tail}` }));
    const [change] = diffFlows(long(''), long('more')).changes;
    expect(change).toMatchObject({ kind: 'field_reworded', after: expect.stringMatching(/more$/) });
    const { owned_job } = (change as { step: { owned_job: string } }).step;
    expect(owned_job.length).toBeLessThanOrEqual(200);
    expect(owned_job).toMatch(/^Write 😀 .*…$/u);
    expect(owned_job).not.toMatch(/\p{Cs}/u);
  });

  it('a flow that comes or goes is told whole', () => {
    expect(kindsOf(null, report())).toEqual(['flow_added', ...JOBS.map(() => 'step_added')]);
    expect(kindsOf(report(), null)).toEqual(['flow_retired', ...JOBS.map(() => 'step_removed')]);
    expect(diffFlows(null, null)).toEqual({ changes: [], implied: 'none', declared: null, advice: null });
  });
});

describe('[FLR-diff] references follow the step they mean', () => {
  const list = { name: 'list', type: 'string' };
  const linked = (change: Change = () => {}) =>
    report((bundle) => {
      stepOf(bundle, 1).outputs = [list];
      stepOf(bundle, 2).outputs = [list];
      stepOf(bundle, 3).inputs = [{ name: 'what', from: 'flow_report#1.outputs.list' }];
      change(bundle);
    });

  it('a reference that follows a renumbering is no change', () => {
    const after = linked(({ steps }) => steps.unshift(newStep('the weather')));
    expect(stepOf(after, 4).inputs).toEqual([{ name: 'what', from: 'flow_report#2.outputs.list' }]);
    expect(kindsOf(linked(), after)).toEqual(['step_added']);
  });

  it('a reference that keeps its number while another step got it is a change', () => {
    const after = linked(({ steps }) => steps.unshift({ ...newStep('the weather'), outputs: [list] }));
    stepOf(after, 4).inputs = [{ name: 'what', from: 'flow_report#1.outputs.list' }];
    expect(kindsOf(linked(), after)).toEqual(['step_added', 'step_input_changed']);
  });

  it.each(['flow_report#2.outputs.list', 'flow.inputs.list'])('a reference to %s instead is a change', (from) => {
    expect(diffFlows(linked(), linked(onStep(3, { inputs: [{ name: 'what', from }] }))).changes).toMatchObject([
      {
        kind: 'step_input_changed',
        path: '/steps/2/inputs/0',
        before: { name: 'what', from: 'flow_report#1.outputs.list' },
        after: { name: 'what', from },
        impact: 'minor',
      },
    ]);
  });
});
