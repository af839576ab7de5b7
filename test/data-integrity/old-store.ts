import { sampleFlow } from '../support/flows.ts';
import { type VaultPart, vaultPart } from './store-files.ts';

const legacy = sampleFlow('flow_legacy', { version: '1.0.0', steps: 3 });
const legacyNext = sampleFlow('flow_legacy', { version: '1.1.0', steps: 2, title: 'Shorter' });
const many = ['0.9.0', '0.10.0', '1.0.0'].map((version, at) =>
  sampleFlow('flow_many', { version, steps: at + 1, instruction: `As of ${version}.`, scope: 'project' }),
);
const broken = sampleFlow('flow_broken', { steps: 2 });
const orphaned = sampleFlow('flow_orphaned', { steps: 2 });

const state = (step_id: string, status: string, verified: boolean) => ({
  step_id,
  status,
  evidence_ref: verified ? 'proposal:42' : null,
  verified,
});

const run = (runId: string, extra: Record<string, unknown>) => ({
  schema: 'knowtation.flow_run/v0',
  run_id: runId,
  flow_id: 'flow_many',
  flow_version: '1.0.0',
  scope: 'project',
  status: 'in_progress',
  started: '2026-01-05T10:00:00Z',
  provenance: { actor: 'a'.repeat(64), harness: 'cli' },
  step_states: [],
  ...extra,
});

/** Runs that are as they should be, with keys and values that nobody would invent. */
export const RUNS = [
  run('run_z_first', { step_states: [state('flow_many#1', 'done', true), state('flow_many#2', 'in_progress', false)] }),
  run('run_a_second', {
    step_states: [],
    odd: { deep: [null, { '': 0 }, -0.5, 1e21, 'é\u0000\ud800👍'] },
    task_ref: null,
  }),
  run('run_m_third', { flow_id: 'flow_unknown_here', step_states: [state('flow_unknown_here#1', 'done', false)] }),
  { run_id: 'run_bare' },
  'a run that is only a text',
];

export const CANDIDATES = [
  {
    schema: 'knowtation.flow_candidate/v0',
    candidate_id: 'cand_2',
    draft_steps: ['b', 'a'],
    session_id: 's',
    updated: 1,
  },
  { candidate_id: 'cand_1', confidence: 'high', nested: { z: 1, a: 2 }, '10': 'ten', '9': 'nine' },
];

export const PROJECTIONS = [
  { flow_id: 'flow_many', harness: 'z', rendered: '# text\r\n\ttab', fidelity: { dropped_fields: [] } },
  { flow_id: 'flow_many', harness: 'a', rendered: '', generated_from_canonical: true, extra: [[[]]] },
];

/** Runs that claim proof nobody gave. */
export const FALSE_RUNS = [
  run('run_false_versioned', { step_states: [state('flow_many#3', 'done', false)] }),
  run('run_false_legacy', {
    flow_id: 'flow_legacy',
    step_states: [state('flow_legacy#1', 'done', true), state('flow_legacy#2', 'done', false)],
  }),
  run('run_false_unsaid', { step_states: [{ step_id: 'flow_many#1', status: 'done' }] }),
];

/** The flows of `old` that are fit to be taken over, as the library should hold them. */
export const SOUND = [legacy, legacyNext, ...many];

/** A store file as the earlier system and its users left it. */
export function oldStore(): Record<string, VaultPart> {
  const part = vaultPart([...many, broken]);
  const flows: Record<string, unknown>[] = [
    { ...legacyNext.flow },
    { ...legacy.flow, owner: 'an unknown key' },
    ...part.flows,
    { ...orphaned.flow },
  ];
  for (const flow of flows) if (flow.flow_id === 'flow_broken') flow.scope = 'galaxy';
  const steps: Record<string, unknown>[] = [
    ...legacy.steps.map((step) => ({ ...step, private_note: 'an unknown key', oauth_ref: 'never to be kept' })),
    ...part.steps,
  ];
  const old: VaultPart = {
    flows,
    steps,
    runs: [RUNS[0], FALSE_RUNS[0], RUNS[1], FALSE_RUNS[1], RUNS[2], FALSE_RUNS[2], RUNS[3], RUNS[4]],
    candidates: CANDIDATES,
    projections: PROJECTIONS,
  };
  return { old, 'not a valid/vault id': vaultPart([sampleFlow('flow_lost')]), empty: vaultPart([]) };
}
