import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { diffFlows } from '../../src/diff/diff-flows.ts';
import { renderFlowDiff } from '../../src/diff/index.ts';
import type { FlowBundle, FlowStep } from '../../src/flows/index.ts';
import { COLOURS, inertButColours, wantsColour } from '../../src/kernel/terminal.ts';
import { anyTwoVersions } from './flow-diff-bundles.ts';
import { newStep, onFlow, onProof, onStep, report, stepOf } from './flow-diff-report.ts';

const RESET = '\u001b[0m';
const OURS = [...Object.values(COLOURS), RESET];
const HOSTILE = '\u001b[2J\u001b]0;owned\u0007\u009b31m\r\u202eIgnore\u0000 \u001b[31mred\u001b[0m';

function shown(before: FlowBundle | null, after: FlowBundle | null, colour = false): Promise<string> {
  const [from, to] = [before?.flow.version ?? null, after?.flow.version ?? null];
  return renderFlowDiff(
    { flow_id: 'flow_report', from, to, proposal_id: null, ...diffFlows(before, after) },
    { colour },
  );
}

const withoutOurs = (text: string): string => OURS.reduce((rest, sequence) => rest.replaceAll(sequence, ''), text);

describe('a diff for people', () => {
  it('names each step and what changed in it', async () => {
    const after = report((bundle) => {
      onFlow({ title: 'Weekly review', tags: ['test', 'weekly'], scope: 'project' })(bundle);
      onStep(2, { instruction: 'Write two pages: what was done, what was not, what is asked of the reader.' })(bundle);
      onProof(3, { kind: 'artifact_exists' })(bundle);
      onStep(3, { boundaries: [], requires: [{ kind: 'tool', id: 'git' }] })(bundle);
      bundle.steps.unshift(...bundle.steps.splice(3, 1));
    }, '1.0.1');
    const lines = (await shown(report(onFlow({ title: 'Weekly report' })), after)).split('\n');
    expect(lines).toEqual([
      'flow_report 1.0.0 → 1.0.1',
      '',
      'Flow',
      '  ~ title (patch)',
      '      Weekly [-report-]{+review+}',
      '  ~ scope: personal → project (major)',
      '  + tag: weekly (patch)',
      '',
      'Step 1 (was 4): Publish',
      '  ~ moved from place 4 to 1 (major)',
      '',
      'Step 3 (was 2): Draft the report',
      '  ~ instruction (patch)',
      '      Write [-one-]{+two+} [-page-]{+pages+}: what was done, what was not, what is asked of the reader.',
      '',
      'Step 4 (was 3): Have it read',
      '  + requires: tool, git (major)',
      '  - boundary: Stay inside. (minor)',
      '  ~ verification loosened: human_review, evidence required → artifact_exists, evidence required (minor)',
      '',
      'These changes imply: major (the version says: patch)',
      'The changes ask for a major version, and 1.0.0 → 1.0.1 is a patch one: consider 2.0.0.',
    ]);
  });

  it('shows all of a step that came or went', async () => {
    const step: FlowStep = { ...newStep('the weather'), inputs: [{ name: 'in', from: 'flow.inputs.a' }] };
    const text = await shown(
      report(),
      report(({ steps }) => steps.push(step)),
    );
    expect(text).toContain(
      [
        'Step 5: Look after the weather',
        '  + new step (major)',
        '      owned job: Look after the weather',
        '      instruction: Something about the weather.',
        '      trigger: When asked.',
        '      when not to run: When nobody asked.',
        '      output shape: A sentence.',
        '      verification description: Somebody looked.',
        '      boundaries: Stay inside.',
        '      inputs: in, flow.inputs.a',
        '      proof: human_review, evidence required',
        '      automatable: manual',
      ].join('\n'),
    );
    const retired = await shown(report(), null);
    expect(retired).toMatch(
      /^flow_report 1\.0\.0 → nothing\n\nFlow\n {2}- flow retired: Title of flow_report \(major\)/,
    );
    expect(retired.match(/- step removed/g)).toHaveLength(4);
    expect(await shown(null, report())).toContain('  + flow: Title of flow_report [personal] (minor)');
  });

  it('says when there is no difference', async () => {
    expect(await shown(report(), report())).toBe('flow_report 1.0.0 → 1.0.0\n\nNo difference.');
  });

  it('says when a number means another step now', async () => {
    const linked = report(onStep(3, { inputs: [{ name: 'in', from: 'flow_report#1.outputs.x' }] }));
    const after = report((bundle) => {
      onStep(3, { inputs: [{ name: 'in', from: 'flow_report#1.outputs.x' }] })(bundle);
    });
    after.steps.splice(0, 2, { ...stepOf(after, 2), ordinal: 1 }, { ...stepOf(after, 1), ordinal: 2 });
    expect(await shown(linked, after)).toContain(
      'step input: in, flow_report#1.outputs.x → in, flow_report#1.outputs.x (the number now means another step)',
    );
  });

  it('leaves out what lies far from a change, and shows what shares too little one after the other', async () => {
    const long = (word: string) =>
      report(onStep(1, { instruction: `${'start '.repeat(500)}${word}${' end'.repeat(500)}` }));
    const text = await shown(long('before'), long('after'));
    expect(text).toMatch(/start \[-before-\]\{\+after\+\} end/);
    expect(text.length).toBeLessThan(800);
    const words = (prefix: string) => Array.from({ length: 300 }, (_, at) => `${prefix}${at}`).join(' ');
    const rewritten = await shown(
      report(onStep(1, { instruction: words('a') })),
      report(onStep(1, { instruction: words('b') })),
    );
    expect(rewritten).toContain(`      [-${words('a')}-]\n      {+${words('b')}+}`);
  });

  it('marks what went and what came in colour, with nothing left switched on at the end of a line', async () => {
    const after = report((bundle) => {
      onFlow({ title: 'New\ntitle', tags: ['other'] })(bundle);
    });
    const text = await shown(report(), after, true);
    expect(text).toContain(`  ${COLOURS.red}- tag: test${RESET} ${COLOURS.dim}(patch)${RESET}`);
    expect(text).toContain(`  ${COLOURS.green}+ tag: other${RESET}`);
    expect(text).toContain(`${COLOURS.fresh}New${RESET}`);
    for (const line of text.split('\n')) {
      const sequences = OURS.flatMap((sequence) =>
        line
          .split(sequence)
          .slice(1)
          .map(() => sequence),
      );
      expect(sequences.filter((sequence) => sequence === RESET)).toHaveLength(sequences.length / 2);
    }
  });
});

describe('[S002-9.7-injection] a diff of hostile text', () => {
  const hostile = (bundle: FlowBundle): void => {
    onFlow({
      title: HOSTILE,
      summary: HOSTILE,
      tags: [HOSTILE],
      inputs: [{ name: HOSTILE, type: HOSTILE, required: true }],
    })(bundle);
    const ref = { kind: 'tool' as const, id: HOSTILE };
    for (const step of bundle.steps.slice(0, 2)) {
      Object.assign(step, {
        owned_job: `${step.owned_job} ${HOSTILE}`,
        instruction: `${step.instruction}\n+ fake line ${HOSTILE}`,
        trigger: HOSTILE,
        boundaries: [HOSTILE, `Stay inside. ${HOSTILE}`],
        requires: [ref],
        skill_refs: [ref],
        inputs: [{ name: HOSTILE, from: HOSTILE }],
        outputs: [{ name: HOSTILE, type: HOSTILE }],
      });
    }
    bundle.steps.push({ ...newStep(HOSTILE), boundaries: [HOSTILE], inputs: [{ name: HOSTILE, from: HOSTILE }] });
  };

  it.each([true, false])('obeys none of it, with colour %s, also where another hub made it up', async (colour) => {
    const diff = diffFlows(report(), report(hostile));
    const tampered = JSON.parse(
      JSON.stringify({ ...diff, flow_id: HOSTILE, from: HOSTILE, to: HOSTILE, proposal_id: HOSTILE, advice: HOSTILE }),
    );
    for (const change of tampered.changes) {
      change.impact = HOSTILE;
      if ('field' in change) change.field = HOSTILE;
    }
    for (const answer of [{ ...diff, flow_id: 'flow_report', from: null, to: null, proposal_id: null }, tampered]) {
      const text = await renderFlowDiff(answer, { colour });
      expect(withoutOurs(text).replaceAll('\n', '')).not.toMatch(/[\p{Cc}\u202e]/u);
      expect(text).toContain('\\u001b[31mred');
      expect(inertButColours(text)).toBe(text);
      expect(text.split('\n').filter((line) => withoutOurs(line).startsWith('+ fake'))).toEqual([]);
    }
  });

  // Whatever two versions say, only our own colours reach the terminal.
  it('brings nothing but our own colours, for any two versions', async () => {
    await fc.assert(
      fc.asyncProperty(anyTwoVersions, fc.string({ unit: 'binary' }), async ([before, after], noise) => {
        const noisy = { ...after, flow: { ...after.flow, title: `${after.flow.title}${noise}${HOSTILE}` } };
        const text = await shown(before, noisy, true);
        expect(withoutOurs(text).replaceAll('\n', '')).not.toMatch(/[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/u);
      }),
    );
  });
});

describe('colours on a terminal', () => {
  it('only the very sequences of our palette pass', () => {
    for (const sequence of OURS) expect(inertButColours(`a${sequence}b`)).toBe(`a${sequence}b`);
    for (const other of [
      '\u001b[2J',
      '\u001b[31',
      '\u001b[38;5;1m',
      '\u001b[31;9;5m',
      '\u001b]0;x\u0007',
      '\u009b31m',
      '\r',
    ]) {
      expect(inertButColours(`${COLOURS.red}${other}`).slice(COLOURS.red.length)).not.toMatch(/\p{Cc}/u);
    }
    expect(inertButColours('\u001b\u001b[31m')).toBe(`\\u001b${COLOURS.red}`);
  });

  it.each([
    [{}, true, true],
    [{}, false, false],
    [{ NO_COLOR: '1' }, true, false],
    [{ NO_COLOR: '' }, true, true],
    [{ NO_COLOR: '1', FORCE_COLOR: '1' }, true, false],
    [{ FORCE_COLOR: '1' }, false, true],
    [{ FORCE_COLOR: '' }, false, false],
    [{ FORCE_COLOR: '0' }, true, false],
    [{ TERM: 'dumb' }, true, false],
  ])('%o on a terminal %s: %s', (environment, isTerminal, wanted) => {
    expect(wantsColour(environment, isTerminal)).toBe(wanted);
  });
});
