import { describe, expect, it } from 'vitest';
import { flowDefinitionForClient } from '../../src/flows/client-view.ts';
import type { Flow, FlowStep } from '../../src/flows/flow-schema.ts';
import { ABSENT_FLOW_STATE_ID, flowContentSha256, flowStateId } from '../../src/flows/state-id.ts';
import { stableStringify } from '../../src/kernel/canonical-json.ts';
import { sha256Hex } from '../../src/kernel/hash.ts';
import { sampleFlow } from '../support/flows.ts';

const FLOW: Flow = {
  schema: 'knowtation.flow/v0',
  flow_id: 'flow_demo',
  title: 'Demo',
  version: '1.0.0',
  scope: 'personal',
  summary: 'One step.',
  tags: ['t1'],
  steps: ['flow_demo#1'],
  inputs: [],
  vault_mirror_path: null,
  updated: '2026-01-01T00:00:00Z',
  truncated: false,
};

const STEP: FlowStep = {
  schema: 'knowtation.flow_step/v0',
  step_id: 'flow_demo#1',
  flow_id: 'flow_demo',
  ordinal: 1,
  owned_job: 'Do it',
  instruction: 'Do the thing.',
  trigger: 'On request',
  when_not_to_run: 'Never mind',
  requires: [],
  boundaries: ['No network'],
  skill_refs: [],
  inputs: [],
  outputs: [],
  output_shape: 'A line',
  verification: { kind: 'human_review', evidence_required: true, description: 'Someone looked' },
  automatable: 'manual',
};

describe('[FLR-state-id-vectors] the state id of a flow', () => {
  it('reproduces the known token from 696 bytes', () => {
    const text = stableStringify(flowDefinitionForClient(FLOW, [STEP]));
    expect(Buffer.byteLength(text, 'utf8')).toBe(696);
    expect(flowStateId(FLOW, [STEP])).toBe('flowst1_83f3841df4ee5c94');
  });

  it('has a value for a flow that is not there', () => {
    expect(ABSENT_FLOW_STATE_ID).toBe('flowst1_af63bd4c8601b7df');
  });

  it('is the same whatever order steps and keys came in', () => {
    const { flow, steps } = sampleFlow('flow_order', { steps: 3 });
    const turned = Object.fromEntries(Object.entries(flow).reverse()) as Flow;
    expect(flowStateId(turned, [...steps].reverse())).toBe(flowStateId(flow, steps));
  });

  it('is the same with optional parts left out as with them empty', () => {
    const { tags: _tags, inputs: _inputs, vault_mirror_path: _path, ...flow } = { ...FLOW, tags: [] };
    const { requires: _requires, skill_refs: _refs, inputs: _from, outputs: _outputs, ...step } = STEP;
    expect(flowStateId(flow as Flow, [step as FlowStep])).toBe(flowStateId({ ...FLOW, tags: [] }, [STEP]));
  });

  it('does not count what never reaches the wire', () => {
    const stored = { ...STEP, flow_version: '1.0.0' };
    expect(flowStateId(FLOW, [stored])).toBe(flowStateId(FLOW, [STEP]));
  });

  it('moves with any text of the flow or a step', () => {
    const ids = [
      flowStateId(FLOW, [STEP]),
      flowStateId({ ...FLOW, summary: 'One step!' }, [STEP]),
      flowStateId(FLOW, [{ ...STEP, instruction: 'Do the other thing.' }]),
      flowStateId(FLOW, [{ ...STEP, boundaries: [] }]),
      flowStateId({ ...FLOW, vault_mirror_path: 'meta/flows/demo.md' }, [STEP]),
    ];
    expect(new Set(ids).size).toBe(ids.length);
  });

  it('has a SHA-256 of the same text beside it', () => {
    const text = stableStringify(flowDefinitionForClient(FLOW, [STEP]));
    expect(flowContentSha256(FLOW, [STEP])).toBe(sha256Hex(text));
  });
});
