import fc from 'fast-check';
import { type FlowBundle, type FlowStep, validateFlowBundle } from '../../src/flows/index.ts';
import { anyBundle } from './flow-diff-bundles.ts';

/** Texts that YAML, JSON, Markdown or a terminal might take for something else. */
const TRICKY = [
  'yes',
  'null',
  '~',
  '1.0',
  '0x1f',
  '2026-01-01',
  '2026-01-01T00:00:00Z',
  '- item',
  '? key',
  'a: b',
  'a #b',
  '#comment',
  '---',
  '...',
  '---\nflow: {}\n...',
  '|',
  '>-',
  '&anchor',
  '*alias',
  '!!js/function x',
  '<<: *base',
  '%YAML 1.2',
  '"quoted"',
  "it's",
  '{{braces}} \u0024{dollars}',
  ' leading',
  'trailing ',
  'trailing\n',
  '\n\nblank lines first',
  'line\n\n\nline',
  'tab\tinside',
  '\ttab first',
  'crlf\r\ninside',
  'cr\rinside',
  'nel\u0085inside',
  'separator\u2028inside',
  'bom\ufeffinside',
  '\ufeffbom first',
  'nul\u0000inside',
  'escape\u001b[31m',
  'right\u202eleft',
  '😀 書 é',
  'word '.repeat(60),
  `${'x'.repeat(150)} ${'y'.repeat(150)}`,
  '\n```json\n{}\n```\n',
];

const filled = fc
  .oneof(
    fc.constantFrom(...TRICKY),
    fc.string({ unit: 'grapheme', maxLength: 40 }),
    fc.string({ unit: 'binary', maxLength: 20 }),
  )
  .filter((text) => /\S/.test(text));
const line = filled
  .map((text) => text.replace(/[\p{Cc}\u2028\u2029]/gu, ' ').slice(0, 60))
  .filter((text) => /\S/.test(text));

/** Any flow that the library accepts, its texts as nasty as may be. */
export const anyFlow: fc.Arbitrary<FlowBundle> = fc
  .tuple(anyBundle, fc.array(filled, { minLength: 12, maxLength: 12 }), fc.array(line, { minLength: 3, maxLength: 3 }))
  .map(([{ flow, steps }, texts, lines]) => {
    const text = (at: number) => texts[at % texts.length] as string;
    const inputs = [{ name: lines[0] as string, type: lines[1] as string, required: true }];
    return {
      flow: { ...flow, title: text(0).slice(0, 200), summary: text(1), inputs },
      steps: steps.map((step, at) => nasty(step, (field) => text(at * 5 + field), inputs[0]?.name as string)),
    };
  })
  .filter((bundle) => validateFlowBundle(bundle).ok);

function nasty(step: FlowStep, text: (field: number) => string, input: string): FlowStep {
  return {
    ...step,
    owned_job: text(0),
    instruction: text(1),
    trigger: text(2),
    when_not_to_run: text(3),
    output_shape: text(4),
    boundaries: [text(5), '', text(6)],
    verification: { ...step.verification, description: text(7) },
    inputs: step.inputs.map(({ name, from }) => ({
      name,
      from: from.startsWith('flow.') ? `flow.inputs.${input}` : from,
    })),
  };
}
