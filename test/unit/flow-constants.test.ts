import { describe, expect, it } from 'vitest';
import {
  buildFlowStepId,
  FLOW_ID_RE,
  FLOW_RUN_ID_RE,
  FLOW_STEP_ID_RE,
  FLOW_STORE_FILENAME,
  MAX_FLOW_SUMMARIES,
  MAX_STEPS_PER_FLOW,
  SEMVER_RE,
  STARTER_FLOWS_DIRNAME,
} from '../../src/flows/index.ts';

describe('[S002-1.1-constants] the pinned constants', () => {
  it('are as the contract writes them', () => {
    expect(FLOW_STORE_FILENAME).toBe('hub_flow_store.json');
    expect(STARTER_FLOWS_DIRNAME).toBe('flows/starter');
    expect(MAX_FLOW_SUMMARIES).toBe(200);
    expect(MAX_STEPS_PER_FLOW).toBe(100);
  });
});

describe('[S002-1.3-ids] ids', () => {
  it('have the pinned patterns', () => {
    expect(FLOW_ID_RE).toEqual(/^flow_[a-z0-9_]{1,64}$/);
    expect(FLOW_STEP_ID_RE).toEqual(/^flow_[a-z0-9_]{1,64}#[1-9][0-9]*$/);
    expect(FLOW_RUN_ID_RE).toEqual(/^run_[a-z0-9_]{1,48}$/);
    expect(SEMVER_RE).toEqual(/^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)$/);
  });

  it.each(['flow_a', 'flow_9', 'flow__', `flow_${'a'.repeat(64)}`])('%s names a flow', (id) => {
    expect(FLOW_ID_RE.test(id)).toBe(true);
  });

  it.each([
    'flow_',
    'Flow_a',
    'flow_A',
    'flow-a',
    'flow_a-b',
    'flow_a#1',
    'flow_é',
    'flow_a\n',
    `flow_${'a'.repeat(65)}`,
  ])('%j names no flow', (id) => {
    expect(FLOW_ID_RE.test(id)).toBe(false);
  });

  it.each(['flow_a#1', 'flow_a#10', 'flow_a#100'])('%s names a step', (id) => {
    expect(FLOW_STEP_ID_RE.test(id)).toBe(true);
  });

  it.each(['flow_a', 'flow_a#', 'flow_a#0', 'flow_a#01', 'flow_a#-1', 'flow_a#1.5', 'flow_a#1\n', 'a#1'])(
    '%j names no step',
    (id) => {
      expect(FLOW_STEP_ID_RE.test(id)).toBe(false);
    },
  );

  it.each(['run_', 'run_A', 'run-1', `run_${'a'.repeat(49)}`])('%j names no run', (id) => {
    expect(FLOW_RUN_ID_RE.test(id)).toBe(false);
    expect(FLOW_RUN_ID_RE.test('run_0123456789abcdef')).toBe(true);
  });

  it('of steps are the flow, a hash sign and the ordinal', () => {
    expect(buildFlowStepId('flow_overseer_handover', 3)).toBe('flow_overseer_handover#3');
    expect(buildFlowStepId('flow_a', 100)).toMatch(FLOW_STEP_ID_RE);
  });
});
