import type { FlowStep } from '../flows/index.ts';
import { jsonPointer } from '../operations/index.ts';
import type { ChangedStep, FlowChange, Proof } from './change.ts';
import { IMPACT } from './impact.ts';
import { likeness, type Sample, sampleOf } from './likeness.ts';
import { type ListWords, listChanges } from './list-changes.ts';
import type { Resemblance } from './pairing.ts';
import { compareProof } from './proof.ts';
import type { SameSource } from './step-pairing.ts';
import { STEP_TEXTS, stepText } from './step-text.ts';

/** Least work for agents first. */
const BY_AGENTS: readonly FlowStep['automatable'][] = ['manual', 'agent_assisted', 'automatable'];

const BY_WORDS: Resemblance<string, Sample> = { traitsOf: sampleOf, between: likeness };

type Ref = FlowStep['requires'][number] | FlowStep['skill_refs'][number];

/** A step before and after, and the places of the two in their bundles. */
export interface StepPair {
  before: FlowStep;
  after: FlowStep;
  beforeAt: number;
  afterAt: number;
  step: ChangedStep;
  isSameSource: SameSource;
}

/** What differs inside one step, in wire order. */
export function stepChanges(pair: StepPair): FlowChange[] {
  return [
    ...rewordings(pair),
    ...refChanges(pair, 'requires', 'requires'),
    ...boundaryChanges(pair),
    ...refChanges(pair, 'skill_refs', 'skill_ref'),
    ...inputChanges(pair),
    ...outputChanges(pair),
    ...proofChanges(pair),
    ...automatableChanges(pair),
  ];
}

function rewordings({ before, after, afterAt, step }: StepPair): FlowChange[] {
  return STEP_TEXTS.filter((field) => stepText(before, field) !== stepText(after, field)).map((field) => ({
    kind: 'field_reworded',
    path: jsonPointer(['steps', afterAt, ...field.split('.')]),
    step,
    field,
    before: stepText(before, field),
    after: stepText(after, field),
    impact: IMPACT.field_reworded,
  }));
}

function refChanges(pair: StepPair, list: 'requires' | 'skill_refs', noun: 'requires' | 'skill_ref'): FlowChange[] {
  const { step } = pair;
  return listChanges<Ref, FlowChange>(pair.before[list], pair.after[list], {
    keyOf: ({ kind, id }) => `${kind}:${id}`,
    removed: (ref, at) => {
      const kind = `${noun}_removed` as const;
      return { kind, path: oldPlace(pair, list, at), step, before: ref, impact: IMPACT[kind] };
    },
    added: (ref, at) => {
      const kind = `${noun}_added` as const;
      return { kind, path: newPlace(pair, list, at), step, after: ref, impact: IMPACT[kind] };
    },
    changed: () => null,
    reordered: () => reordered(pair, list),
  });
}

function boundaryChanges(pair: StepPair): FlowChange[] {
  const { step } = pair;
  const list = 'boundaries';
  const words: ListWords<string, FlowChange> = {
    keyOf: (text) => text,
    removed: (before, at) => {
      return {
        kind: 'boundary_removed',
        path: oldPlace(pair, list, at),
        step,
        before,
        impact: IMPACT.boundary_removed,
      };
    },
    added: (after, at) => {
      return { kind: 'boundary_added', path: newPlace(pair, list, at), step, after, impact: IMPACT.boundary_added };
    },
    changed: (before, after, at) => {
      if (before === after) return null;
      const path = newPlace(pair, list, at);
      return { kind: 'boundary_reworded', path, step, before, after, impact: IMPACT.boundary_reworded };
    },
    reordered: () => reordered(pair, list),
  };
  return listChanges(pair.before.boundaries, pair.after.boundaries, words, BY_WORDS);
}

function inputChanges(pair: StepPair): FlowChange[] {
  const { step } = pair;
  return listChanges<FlowStep['inputs'][number], FlowChange>(pair.before.inputs, pair.after.inputs, {
    keyOf: ({ name }) => name,
    removed: (before, at) => {
      const path = oldPlace(pair, 'inputs', at);
      return { kind: 'step_input_removed', path, step, before, impact: IMPACT.step_input_removed };
    },
    added: (after, at) => {
      const path = newPlace(pair, 'inputs', at);
      return { kind: 'step_input_added', path, step, after, impact: IMPACT.step_input_added };
    },
    changed: (before, after, at) => {
      if (pair.isSameSource(before.from, after.from)) return null;
      const path = newPlace(pair, 'inputs', at);
      return { kind: 'step_input_changed', path, step, before, after, impact: IMPACT.step_input_changed };
    },
    reordered: () => reordered(pair, 'inputs'),
  });
}

function outputChanges(pair: StepPair): FlowChange[] {
  const { step } = pair;
  return listChanges<FlowStep['outputs'][number], FlowChange>(pair.before.outputs, pair.after.outputs, {
    keyOf: ({ name }) => name,
    removed: (before, at) => {
      const path = oldPlace(pair, 'outputs', at);
      return { kind: 'step_output_removed', path, step, before, impact: IMPACT.step_output_removed };
    },
    added: (after, at) => {
      const path = newPlace(pair, 'outputs', at);
      return { kind: 'step_output_added', path, step, after, impact: IMPACT.step_output_added };
    },
    changed: (before, after, at) => {
      if (before.type === after.type) return null;
      const path = newPlace(pair, 'outputs', at);
      return { kind: 'step_output_changed', path, step, before, after, impact: IMPACT.step_output_changed };
    },
    reordered: () => reordered(pair, 'outputs'),
  });
}

function proofChanges({ before, after, afterAt, step }: StepPair): FlowChange[] {
  const [old, current] = [before, after].map(({ verification: { kind, evidence_required } }) => {
    return { kind, evidence_required };
  }) as [Proof, Proof];
  const verdict = compareProof(old, current);
  if (verdict === 'same') return [];
  const kind = `verification_${verdict}` as const;
  const path = jsonPointer(['steps', afterAt, 'verification']);
  return [{ kind, path, step, before: old, after: current, impact: IMPACT[kind] }];
}

function automatableChanges({ before, after, afterAt, step }: StepPair): FlowChange[] {
  const [old, current] = [before.automatable, after.automatable];
  if (old === current) return [];
  const isMore = BY_AGENTS.indexOf(current) > BY_AGENTS.indexOf(old);
  const impact = IMPACT.automatable_changed[isMore ? 'more by agents' : 'less by agents'];
  const path = jsonPointer(['steps', afterAt, 'automatable']);
  return [{ kind: 'automatable_changed', path, step, before: old, after: current, impact }];
}

function reordered(pair: StepPair, list: string): FlowChange {
  const path = jsonPointer(['steps', pair.afterAt, list]);
  return { kind: 'list_reordered', path, step: pair.step, impact: IMPACT.list_reordered };
}

function oldPlace({ beforeAt }: StepPair, list: string, at: number): string {
  return jsonPointer(['steps', beforeAt, list, at]);
}

function newPlace({ afterAt }: StepPair, list: string, at: number): string {
  return jsonPointer(['steps', afterAt, list, at]);
}
