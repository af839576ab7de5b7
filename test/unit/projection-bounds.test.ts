import { describe, expect, it } from 'vitest';
import type { FlowBundle } from '../../src/flows/index.ts';
import { ACTIVE_HARNESSES, MAX_RENDERED_BYTES, projectFlow, readMarker } from '../../src/projection/index.ts';
import { sampleFlow } from '../support/flows.ts';

const bytes = (text: string) => Buffer.byteLength(text, 'utf8');
const headings = (text: string) => [...text.matchAll(/^## Step (\d+)/gm)].map(([, number]) => Number(number));
const at = (bundle: FlowBundle, index: number) => bundle.steps[index] as FlowBundle['steps'][0];

describe.each(ACTIVE_HARNESSES)('[FLR-projection-bounded] a %s that would be too large', (harness) => {
  it.each([
    ['plain letters', 'x'],
    ['letters of three bytes', '語'],
    ['letters of four bytes', '👍'],
    ['text that grows when it is made safe', '<'],
    ['control characters', '\u0001'],
  ])('of %s keeps the head and whole steps from the beginning, and says what is missing', (_what, letter) => {
    const { flow, steps } = sampleFlow('flow_large', { steps: 100, instruction: letter.repeat(1_000) });
    const { rendered, fidelity } = projectFlow(flow, steps, harness);
    expect(bytes(rendered)).toBeLessThanOrEqual(MAX_RENDERED_BYTES);
    expect(bytes(rendered)).toBeGreaterThan(MAX_RENDERED_BYTES - 8_000);
    const kept = headings(rendered);
    expect(kept).toEqual(kept.map((_, index) => index + 1));
    expect(kept.length).toBeGreaterThan(3);
    expect(kept.length).toBeLessThan(100);
    const missing = `steps ${kept.length + 1} to 100 of 100 are left out`;
    expect(fidelity.notes).toContain(missing);
    expect(rendered.split('\n').at(-2)).toContain(missing);
    expect(rendered.match(/\*\*Verification:\*\*/g), 'no half step').toHaveLength(kept.length);
    expect(readMarker(rendered)).toMatchObject({ flow_id: 'flow_large' });
    expect(rendered).toMatch(/[^\n]\n$/);
  });

  it('never leaves a hole: after the first step that does not fit, none follows', () => {
    const bundle = sampleFlow('flow_hole', { steps: 4 });
    at(bundle, 1).boundaries = Array.from({ length: 64 }, () => 'b'.repeat(2_000));
    const { rendered, fidelity } = projectFlow(bundle.flow, bundle.steps, harness);
    expect(headings(rendered)).toEqual([1]);
    expect(fidelity.notes).toContain('steps 2 to 4 of 4 are left out');
  });

  it('is whole again at the last byte', () => {
    const room = (size: number) => sampleFlow('flow_edge', { steps: 9, tags: [], instruction: 'x'.repeat(size) });
    const whole = (size: number) => {
      const { flow, steps } = room(size);
      return projectFlow(flow, steps, harness);
    };
    const size = 6_001 + Math.floor((MAX_RENDERED_BYTES - bytes(whole(6_000).rendered)) / 9);
    expect(bytes(whole(size - 1).rendered)).toBeGreaterThan(MAX_RENDERED_BYTES - 9);
    expect(bytes(whole(size - 1).rendered)).toBeLessThanOrEqual(MAX_RENDERED_BYTES);
    expect(headings(whole(size).rendered)).toHaveLength(8);
    expect(whole(size).fidelity.notes).toContain('step 9 of 9');
  });

  it('has no step at all when the first is too large, and stays within bounds with the largest head there can be', () => {
    const worst = '\u0001';
    const bundle = sampleFlow('flow_worst', { steps: 1, summary: worst.repeat(2_000), title: worst.repeat(200) });
    bundle.flow.tags = Array.from({ length: 32 }, (_, index) => `${index}`.padEnd(64, '語'));
    bundle.flow.inputs = Array.from({ length: 64 }, (_, index) => ({
      name: `${index}`.padEnd(64, worst),
      type: worst.repeat(64),
      required: true,
    }));
    at(bundle, 0).boundaries = Array.from({ length: 64 }, () => 'b'.repeat(8_000));
    const { rendered, fidelity } = projectFlow(bundle.flow, bundle.steps, harness);
    expect(bytes(rendered)).toBeLessThanOrEqual(MAX_RENDERED_BYTES);
    expect(headings(rendered)).toEqual([]);
    expect(fidelity.notes).toContain('step 1 of 1');
    expect(readMarker(rendered)).not.toBeNull();
  });
});

describe('[FLR-projection-bounded] a cursor_rule that is cut', () => {
  it('applies to every file, because what it is about may be in the part that is missing', () => {
    const { flow, steps } = sampleFlow('flow_large', { steps: 100, instruction: 'x'.repeat(1_000), tags: ['alpha'] });
    expect(projectFlow(flow, steps, 'cursor_rule').rendered).toContain('\nglobs: **/*\n');
    expect(projectFlow(flow, steps.slice(0, 1), 'cursor_rule').rendered).toContain('\nglobs: **/*alpha*\n');
  });

  it('keeps every step where it is the globs that make it too large', () => {
    const tags = Array.from({ length: 32 }, (_, index) => `${index}`.padEnd(64, 'x'));
    const { flow, steps } = sampleFlow('flow_globs', { steps: 9, tags, instruction: 'x'.repeat(7_000) });
    const { rendered, fidelity } = projectFlow(flow, steps, 'cursor_rule');
    expect(rendered).toContain('\nglobs: **/*\n');
    expect(headings(rendered)).toHaveLength(9);
    expect(fidelity.notes).toContain('front block is shortened');
  });
});

describe('a flow of which only the first steps were read', () => {
  it('says so', () => {
    const { flow, steps } = sampleFlow('flow_many');
    const { fidelity } = projectFlow({ ...flow, truncated: true }, steps, 'cli_runbook');
    expect(fidelity.notes).toMatch(/more steps/);
  });
});
