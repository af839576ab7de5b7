import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parse, stringify } from 'yaml';
import { editDocument, nextPatch, raisedVersion, readEditDocument } from '../../src/authoring/edit-document.ts';
import { type FlowBundle, validateFlowBundle } from '../../src/flows/index.ts';
import { sampleFlow } from '../support/flows.ts';
import { anyFlow } from './any-flow.ts';

const NOW = '2026-02-03T04:05:06.000Z';

interface EditStep {
  step?: number | string;
  owned_job: string;
  inputs: { name: string; from: string }[];
  [field: string]: unknown;
}
interface EditDocument {
  intent: string;
  flow: Record<string, unknown>;
  steps: EditStep[];
}

/** What an editor program gets and gives: bytes of a file. */
const throughFile = (text: string) => Buffer.from(text, 'utf8').toString('utf8');
const read = async (text: string, base: FlowBundle) => readEditDocument(throughFile(text), base, NOW);
async function edited(base: FlowBundle, change: (document: EditDocument) => void) {
  const document = parse(editDocument(base)) as EditDocument;
  change(document);
  const result = await read(stringify(document, { aliasDuplicateObjects: false }), base);
  if (!result) throw new Error('the document counts as empty');
  return result;
}

/** Three steps; the second and third take what the first makes. */
function chained(): FlowBundle {
  const { flow, steps } = sampleFlow('flow_chain', { steps: 3 });
  const [first, second, third] = steps as [FlowBundle['steps'][0], FlowBundle['steps'][0], FlowBundle['steps'][0]];
  return {
    flow: { ...flow, inputs: [{ name: 'topic', type: 'string', required: true }] },
    steps: [
      { ...first, inputs: [{ name: 'topic', from: 'flow.inputs.topic' }], outputs: [{ name: 'draft', type: 'text' }] },
      {
        ...second,
        inputs: [{ name: 'text', from: 'flow_chain#1.outputs.draft' }],
        outputs: [{ name: 'draft', type: 'text' }],
      },
      {
        ...third,
        inputs: [
          { name: 'first', from: 'flow_chain#1.outputs.draft' },
          { name: 'second', from: 'flow_chain#2.outputs.draft' },
        ],
      },
    ],
  };
}

describe('[FLR-flow-edit] a flow as people edit it', () => {
  it('comes back unchanged, but for its version and time, whatever its texts', async () => {
    await fc.assert(
      fc.asyncProperty(anyFlow, async (bundle) => {
        const back = await read(editDocument(bundle), bundle);
        expect(back).toEqual({
          intent: '',
          flow: { ...bundle.flow, version: nextPatch(bundle.flow.version), updated: NOW },
          steps: bundle.steps,
        });
        expect(validateFlowBundle({ flow: back?.flow, steps: back?.steps }).ok).toBe(true);
      }),
      { numRuns: 150 },
    );
  });

  it('leaves out what follows from the order, and tells what to do', async () => {
    const text = editDocument(chained());
    expect(text).toMatch(/^# flow_chain 1\.0\.0\n#\s*Say why under intent/);
    const document = parse(text) as EditDocument;
    expect(Object.keys(document)).toEqual(['intent', 'flow', 'steps']);
    expect(Object.keys(document.flow)).toEqual([
      'title',
      'version',
      'scope',
      'summary',
      'tags',
      'inputs',
      'vault_mirror_path',
    ]);
    expect(document.flow.version).toBe('1.0.1');
    expect(document.steps.map(({ step }) => step)).toEqual([1, 2, 3]);
    for (const step of document.steps) {
      for (const key of ['schema', 'step_id', 'flow_id', 'ordinal']) expect(step).not.toHaveProperty(key);
    }
  });

  it('keeps its references when its steps are moved, wherever to', async () => {
    await fc.assert(
      fc.asyncProperty(anyFlow, fc.array(fc.integer(), { minLength: 7, maxLength: 7 }), async (bundle, ranks) => {
        const order = bundle.steps.map((_, at) => at).sort((a, b) => (ranks[a] ?? 0) - (ranks[b] ?? 0) || a - b);
        const moved = await edited(bundle, (document) => {
          document.steps = order.map((at) => document.steps[at] as EditStep);
        });
        const placeOf = new Map(order.map((at, place) => [at + 1, place + 1]));
        const expected = order.map((at, place) => {
          const step = bundle.steps[at] as FlowBundle['steps'][0];
          const inputs = step.inputs.map(({ name, from }) => ({
            name,
            from: from.replace(
              /^(flow_any#)(\d+)/,
              (_, before: string, old: string) => before + placeOf.get(Number(old)),
            ),
          }));
          return { ...step, step_id: `flow_any#${place + 1}`, ordinal: place + 1, inputs };
        });
        expect(moved.steps).toEqual(expected);
        expect(moved.flow.steps).toEqual(expected.map(({ step_id }) => step_id));
      }),
      { numRuns: 100 },
    );
  });

  it('takes a new step under a number that nobody has, and references to it', async () => {
    const base = chained();
    const result = await edited(base, ({ steps }) => {
      const added = { ...(steps[1] as EditStep), step: 70, owned_job: 'New', inputs: [] };
      steps.splice(1, 0, added);
      (steps[3] as EditStep).inputs = [{ name: 'new', from: 'flow_chain#70.outputs.draft' }];
    });
    expect(result.steps.map(({ owned_job }) => owned_job)).toEqual(['Part 1', 'New', 'Part 2', 'Part 3']);
    expect(result.steps[3]?.inputs).toEqual([{ name: 'new', from: 'flow_chain#2.outputs.draft' }]);
    expect(validateFlowBundle({ flow: result.flow, steps: result.steps }).ok).toBe(true);
  });

  it('never lets a reference to a removed step pass for one to another step', async () => {
    const outcome = await edited(chained(), ({ steps }) => {
      (steps[1] as EditStep).inputs = [];
      (steps[2] as EditStep).inputs = [{ name: 'text', from: 'flow_chain#1.outputs.draft' }];
      steps.splice(0, 1);
    }).then(
      ({ flow, steps }) => validateFlowBundle({ flow, steps }),
      (error: { code?: string }) => ({ ok: false, code: error.code }),
    );
    expect(outcome.ok, 'step 3 took the draft of step 1, which is gone; that of step 2 is another').toBe(false);
  });

  it('does not follow references to other flows or to inputs', async () => {
    const base = chained();
    const result = await edited(base, ({ steps }) => {
      steps.reverse();
      (steps[0] as EditStep).inputs = [
        { name: 'a', from: 'flow.inputs.topic' },
        { name: 'b', from: 'flow_chain_too#1.outputs.draft' },
      ];
    });
    expect(result.steps[0]?.inputs).toEqual([
      { name: 'a', from: 'flow.inputs.topic' },
      { name: 'b', from: 'flow_chain_too#1.outputs.draft' },
    ]);
  });

  it('carries the intent', async () => {
    const { intent } = await edited(chained(), (document) => {
      document.intent = 'Clearer\nwords';
    });
    expect(intent).toBe('Clearer\nwords');
  });

  it.each(['', '\n\n', '# only\n# comments\n', '   \n#x\n'])('that was emptied (%o) is given up', async (text) => {
    expect(await read(text, chained())).toBeNull();
  });

  it.each([
    ['broken YAML', 'flow: [unclosed'],
    ['a tab for indentation', 'flow:\n\ttitle: x'],
    ['a bomb of aliases', 'a: &a [x]\nflow: [*a, *a]'],
  ])('that is %s is refused with a reason in one line', async (_, text) => {
    await expect(read(text, chained())).rejects.toMatchObject({ code: 'FLOW_DRAFT_INVALID' });
    const error = (await read(text, chained()).catch((thrown: unknown) => thrown)) as Error;
    expect(error.message).not.toContain('\n');
  });

  it.each<[string, (number | string | undefined)[]]>([
    ['two steps of one number', [1, 1, 3]],
    ['two of one number, once as text', [1, '1', 3]],
    ['two steps without a number', [undefined, undefined, 3]],
  ])('with %s is refused', async (_, numbers) => {
    const change = ({ steps }: EditDocument) =>
      numbers.forEach((step, at) => {
        Object.assign(steps[at] as EditStep, { step });
      });
    await expect(edited(chained(), change)).rejects.toMatchObject({ code: 'FLOW_DRAFT_INVALID' });
  });

  it.each([
    'just words',
    '- a\n- b',
    '42',
    'flow: 7\nsteps: 7',
    'steps: [1]',
    'intent: {}\nflow: null',
    'steps:\n  - step: 1\n    inputs: [1, null, {from: 7}]',
  ])('that is something else altogether (%o) is left to the hub to refuse', async (text) => {
    const result = await read(text, chained());
    expect(result).not.toBeNull();
    expect(validateFlowBundle({ flow: result?.flow, steps: result?.steps }).ok).toBe(false);
  });

  it('cannot rename the flow, nor give its steps other ids, unnoticed', async () => {
    const base = chained();
    const renamed = await edited(base, ({ flow }) => void Object.assign(flow, { flow_id: 'flow_other' }));
    expect(validateFlowBundle({ flow: renamed.flow, steps: renamed.steps }).ok).toBe(false);
    const renumbered = await edited(base, ({ steps }) => void Object.assign(steps[0] as EditStep, { ordinal: 9 }));
    expect(validateFlowBundle({ flow: renumbered.flow, steps: renumbered.steps }).ok).toBe(false);
  });
});

describe('the version after an edit', () => {
  it.each([
    ['1.0.0', '1.0.1'],
    ['0.9.9', '0.9.10'],
    ['1.2.9007199254740993', '1.2.9007199254740994'],
  ])('of %s is %s', (version, next) => {
    expect(nextPatch(version)).toBe(next);
  });

  it.each([
    ['1.0.0', '1.0.0', '1.0.1'],
    ['0.9.0', '1.0.0', '1.0.1'],
    ['1.0.1', '1.0.0', '1.0.1'],
    ['1.10.0', '1.9.0', '1.10.0'],
    ['2.0.0', '1.9.9', '2.0.0'],
  ])('%s over %s is raised to %s', (version, base, expected) => {
    expect(raisedVersion(version, base)).toBe(expected);
  });

  it('that is no text is left for the validator', () => {
    for (const version of [undefined, null, 7]) expect(raisedVersion(version, '1.0.0')).toBe(version);
  });
});
