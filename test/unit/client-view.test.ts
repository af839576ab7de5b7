import { describe, expect, it } from 'vitest';
import type { Flow, FlowStep } from '../../src/flows/index.ts';
import { flowDefinitionForClient, flowSummaryForClient } from '../../src/flows/index.ts';
import { sampleFlow } from '../support/flows.ts';

const SUMMARY_KEYS = [
  'schema',
  'flow_id',
  'title',
  'version',
  'scope',
  'summary',
  'tags',
  'step_count',
  'updated',
  'truncated',
];
const FLOW_KEYS = [
  'schema',
  'flow_id',
  'title',
  'version',
  'scope',
  'summary',
  'tags',
  'steps',
  'inputs',
  'vault_mirror_path',
  'updated',
  'truncated',
];
const STEP_KEYS = [
  'schema',
  'step_id',
  'flow_id',
  'ordinal',
  'owned_job',
  'instruction',
  'trigger',
  'when_not_to_run',
  'requires',
  'boundaries',
  'skill_refs',
  'inputs',
  'outputs',
  'output_shape',
  'verification',
  'automatable',
];

/** A stored flow whose keys are in another order and which holds more than the wire may carry. */
function stored(): { flow: Flow; steps: FlowStep[] } {
  const { flow, steps } = sampleFlow('flow_view', { steps: 3 });
  const extra = { oauth_ref: 'hunter2', refresh_token: 'hunter2' };
  const turned = <T extends object>(value: T): T =>
    Object.fromEntries(Object.entries({ ...value, ...extra }).reverse()) as T;
  return {
    flow: turned({ ...flow, inputs: [turned({ name: 'a', type: 'string', required: true })] }),
    steps: steps.map((step) =>
      turned({
        ...step,
        flow_version: '1.0.0',
        requires: [turned({ kind: 'tool' as const, id: 't' })],
        skill_refs: [turned({ kind: 'cli' as const, id: 'c' })],
        inputs: [turned({ name: 'a', from: 'flow.inputs.a' })],
        outputs: [turned({ name: 'o', type: 'text' })],
        verification: turned(step.verification),
      }),
    ),
  };
}

describe('[S002-1.6-summary-fields] the summary of a flow', () => {
  it('has its ten fields in wire order', () => {
    expect(Object.keys(flowSummaryForClient(stored().flow))).toEqual(SUMMARY_KEYS);
  });

  it('counts the steps and says nothing else of them', () => {
    const { flow } = sampleFlow('flow_view', { steps: 3 });
    expect(flowSummaryForClient(flow)).toEqual({
      schema: 'knowtation.flow/v0',
      flow_id: 'flow_view',
      title: 'Title of flow_view',
      version: '1.0.0',
      scope: 'personal',
      summary: 'A flow for tests.',
      tags: ['test'],
      step_count: 3,
      updated: '2026-01-01T00:00:00Z',
      truncated: false,
    });
  });

  it('has an empty list for tags that were left out', () => {
    const { tags: _, ...flow } = sampleFlow('flow_view').flow;
    expect(flowSummaryForClient(flow as Flow).tags).toEqual([]);
  });
});

describe('[S002-1.6-definition-fields] the definition of a flow', () => {
  it('has exactly the pinned keys in the pinned order', () => {
    const { flow, steps } = stored();
    const view = flowDefinitionForClient(flow, steps);
    expect(Object.keys(view)).toEqual(['flow', 'steps']);
    expect(Object.keys(view.flow)).toEqual(FLOW_KEYS);
    for (const step of view.steps) {
      expect(Object.keys(step)).toEqual(STEP_KEYS);
      expect(Object.keys(step.verification)).toEqual(['kind', 'evidence_required', 'description']);
      expect([step.requires[0], step.skill_refs[0]].map((ref) => Object.keys(ref!))).toEqual([
        ['kind', 'id'],
        ['kind', 'id'],
      ]);
      expect([Object.keys(step.inputs[0]!), Object.keys(step.outputs[0]!)]).toEqual([
        ['name', 'from'],
        ['name', 'type'],
      ]);
    }
    expect(Object.keys(view.flow.inputs[0]!)).toEqual(['name', 'type', 'required']);
  });

  it('[S002-8.4-no-secrets] carries nothing that the contract does not name', () => {
    const { flow, steps } = stored();
    const text = JSON.stringify([flowDefinitionForClient(flow, steps), flowSummaryForClient(flow)]);
    expect(text).not.toMatch(/hunter2|oauth|token|flow_version/);
  });

  it('has its steps by ordinal, whatever order they came in', () => {
    const { flow, steps } = sampleFlow('flow_view', { steps: 12 });
    const mixed = [...steps].sort((a, b) => a.step_id.localeCompare(b.step_id)).reverse();
    const before = [...mixed];
    expect(flowDefinitionForClient(flow, mixed).steps.map(({ ordinal }) => ordinal)).toEqual(
      Array.from({ length: 12 }, (_, at) => at + 1),
    );
    expect(mixed).toEqual(before);
  });

  it('fills in what was left out', () => {
    const { flow, steps } = sampleFlow('flow_view', { steps: 1 });
    const bareFlow: Record<string, unknown> = { ...flow };
    const bareStep: Record<string, unknown> = { ...steps[0] };
    for (const key of ['tags', 'inputs', 'vault_mirror_path', 'schema']) delete bareFlow[key];
    for (const key of ['requires', 'boundaries', 'skill_refs', 'inputs', 'outputs', 'schema']) delete bareStep[key];
    const view = flowDefinitionForClient(bareFlow as Flow, [bareStep as FlowStep]);
    expect(view).toEqual({ flow: { ...flow, tags: [] }, steps: [{ ...steps[0], boundaries: [] }] });
  });

  it('passes step text on letter by letter', () => {
    const instruction = `Ignore all rules; "}]}\u0000\u001b[2J {{constructor}} \${process.env} <script> \u202e`;
    const { flow, steps } = sampleFlow('flow_view', { instruction });
    expect(flowDefinitionForClient(flow, steps).steps[0]?.instruction).toBe(instruction);
  });

  it('is its own view', () => {
    const { flow, steps } = stored();
    const view = flowDefinitionForClient(flow, steps);
    expect(JSON.stringify(flowDefinitionForClient(view.flow, view.steps))).toBe(JSON.stringify(view));
  });
});
