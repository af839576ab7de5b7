import type { FlowBundle, FlowStep } from '../flows/index.ts';
import { jsonPointer } from '../operations/index.ts';
import type { ChangedStep, FlowChange, FlowDiff } from './change.ts';
import { flowChanges } from './flow-changes.ts';
import { IMPACT, impliedBy } from './impact.ts';
import { stepChanges } from './step-changes.ts';
import { pairSteps, sourceComparison } from './step-pairing.ts';
import { bumpBetween, type Class, nextVersion, rankOf } from './version-class.ts';

/** Of a job, as much as tells which step is meant. */
const MAX_JOB = 200;

/** A step and its place in the bundle that was given. */
interface Placed {
  at: number;
  step: FlowStep;
}

/**
 * How two versions of a flow differ. Null stands for a flow that is not there, so that a first version and a retirement
 * are differences too. Pure; the same two versions always give the same list. Number, time and ids of a version are not
 * content, nor is the number of a step: only its place among the others.
 */
export function diffFlows(before: FlowBundle | null, after: FlowBundle | null): FlowDiff {
  const changes = changesBetween(before, after);
  const implied = impliedBy(changes);
  const declared = bumpBetween(before?.flow.version, after?.flow.version);
  return { changes, implied, declared, advice: adviceOn(implied, declared, before, after) };
}

function changesBetween(before: FlowBundle | null, after: FlowBundle | null): FlowChange[] {
  if (before && after) return [...flowChanges(before.flow, after.flow), ...stepwiseChanges(before, after)];
  if (after) {
    const impact = IMPACT.flow_added;
    const added: FlowChange = { kind: 'flow_added', path: '/flow', after: after.flow, impact };
    return [added, ...inOrder(after).map((step) => stepAdded(step, impact))];
  }
  if (before) {
    const impact = IMPACT.flow_retired;
    const retired: FlowChange = { kind: 'flow_retired', path: '/flow', before: before.flow, impact };
    return [retired, ...inOrder(before).map((step) => stepRemoved(step, impact))];
  }
  return [];
}

/** In the order of the newer version; a removed step comes where it used to be. */
function stepwiseChanges(before: FlowBundle, after: FlowBundle): FlowChange[] {
  const [older, newer] = [inOrder(before), inOrder(after)];
  const [oldSteps, newSteps] = [older, newer].map((placed) => placed.map(({ step }) => step)) as [
    FlowStep[],
    FlowStep[],
  ];
  const pairing = pairSteps(oldSteps, newSteps);
  const isSameSource = sourceComparison(oldSteps, newSteps, pairing);
  const origin = new Map(pairing.pairs.map((pair) => [pair.after, pair]));
  const gone = pairing.removed.map((at) => ({ at, placed: older[at] as Placed }));
  const changes: FlowChange[] = [];
  const removeUpTo = (position: number): void => {
    while (gone[0] && gone[0].at < position) changes.push(stepRemoved((gone.shift() as (typeof gone)[0]).placed));
  };
  newer.forEach((placed, position) => {
    const pair = origin.get(position);
    if (!pair) {
      changes.push(stepAdded(placed));
      return;
    }
    if (!pair.moved) removeUpTo(pair.before);
    const old = older[pair.before] as Placed;
    const step = placeOf(old, placed);
    if (pair.moved) {
      changes.push({ kind: 'step_moved', path: pathOf(placed), step, impact: IMPACT.step_moved });
    }
    const both = { before: old.step, after: placed.step, beforeAt: old.at, afterAt: placed.at };
    changes.push(...stepChanges({ ...both, step, isSameSource }));
  });
  removeUpTo(older.length);
  return changes;
}

function stepAdded(placed: Placed, impact: Class = addedImpact(placed.step)): FlowChange {
  return { kind: 'step_added', path: pathOf(placed), step: placeOf(null, placed), after: placed.step, impact };
}

function stepRemoved(placed: Placed, impact: Class = IMPACT.step_removed): FlowChange {
  return { kind: 'step_removed', path: pathOf(placed), step: placeOf(placed, null), before: placed.step, impact };
}

/** A step that needs no evidence may be passed over: that is what makes it optional. */
function addedImpact({ verification }: FlowStep): Class {
  return IMPACT.step_added[verification.evidence_required ? 'evidence required' : 'evidence not required'];
}

function inOrder({ steps }: FlowBundle): Placed[] {
  return steps.map((step, at) => ({ at, step })).sort((left, right) => left.step.ordinal - right.step.ordinal);
}

function placeOf(before: Placed | null, after: Placed | null): ChangedStep {
  const job = (after ?? before)?.step.owned_job ?? '';
  return {
    before_ordinal: before?.step.ordinal ?? null,
    after_ordinal: after?.step.ordinal ?? null,
    owned_job: job.length > MAX_JOB ? `${[...job.slice(0, MAX_JOB)].slice(0, -1).join('')}…` : job,
  };
}

function pathOf({ at }: Placed): string {
  return jsonPointer(['steps', at]);
}

function adviceOn(
  implied: Class,
  declared: Class | null,
  before: FlowBundle | null,
  after: FlowBundle | null,
): string | null {
  if (!before || !after || !declared || implied === 'none' || rankOf(declared) >= rankOf(implied)) return null;
  const [old, current] = [before.flow.version, after.flow.version];
  return `The changes ask for a ${implied} version, and ${old} → ${current} is a ${declared} one: consider ${nextVersion(old, implied)}.`;
}
