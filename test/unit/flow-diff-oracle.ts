import { expect } from 'vitest';
import type { FlowChange, FlowDiff } from '../../src/diff/index.ts';
import type { FlowBundle, FlowStep } from '../../src/flows/index.ts';

/**
 * Reads a diff as a list of instructions, carries them out on the older version by other means than the code under
 * test, and expects the newer one: so nothing that differs is missing from the list, and nothing in it is made up.
 */
export function expectExplained(before: FlowBundle, after: FlowBundle, { changes }: FlowDiff): void {
  for (const change of changes) expectPointsAtItsValue(before, after, change);
  expectFlowExplained(before, after, changes);
  const successor = successors(before, after, changes);
  for (const [old, current] of successor) {
    const own = changes.filter((change) => 'step' in change && change.step?.after_ordinal === current);
    const older = before.steps.find(({ ordinal }) => ordinal === old) as FlowStep;
    const newer = after.steps.find(({ ordinal }) => ordinal === current) as FlowStep;
    for (const change of own) {
      if ('step' in change) expect(change.step?.before_ordinal).toBe(old);
    }
    expectStepExplained(older, newer, own, successor);
  }
}

/** Which step became which, as the diff tells: those it does not name kept their order. */
function successors(before: FlowBundle, after: FlowBundle, changes: FlowChange[]): Map<number, number> {
  const moved = new Map<number, number>();
  const [gone, fresh] = [new Set<number | null>(), new Set<number | null>()];
  for (const change of changes) {
    if (change.kind === 'step_removed') gone.add(change.step.before_ordinal);
    if (change.kind === 'step_added') fresh.add(change.step.after_ordinal);
    if (change.kind !== 'step_moved') continue;
    moved.set(change.step.before_ordinal as number, change.step.after_ordinal as number);
    gone.add(change.step.before_ordinal);
    fresh.add(change.step.after_ordinal);
  }
  const rest = before.steps.map(({ ordinal }) => ordinal).filter((ordinal) => !gone.has(ordinal));
  const places = after.steps.map(({ ordinal }) => ordinal).filter((ordinal) => !fresh.has(ordinal));
  expect(rest).toHaveLength(places.length);
  return new Map([...moved, ...rest.map((ordinal, at) => [ordinal, places[at]] as [number, number])]);
}

function expectFlowExplained(before: FlowBundle, after: FlowBundle, changes: FlowChange[]): void {
  const own = changes.filter((change) => change.path.startsWith('/flow'));
  const [old, current] = [before.flow, after.flow];
  expectOneIfDifferent(own, 'title_reworded', old.title, current.title);
  expectOneIfDifferent(own, 'summary_reworded', old.summary, current.summary);
  expectOneIfDifferent(own, 'scope_changed', old.scope, current.scope);
  expectOneIfDifferent(own, 'mirror_path_changed', old.vault_mirror_path, current.vault_mirror_path);
  expectListExplained(own, '/flow/tags', old.tags, current.tags);
  expectListExplained(own, '/flow/inputs', old.inputs, current.inputs);
}

function expectStepExplained(
  before: FlowStep,
  after: FlowStep,
  own: FlowChange[],
  successor: ReadonlyMap<number, number>,
): void {
  const texts = {
    owned_job: [before.owned_job, after.owned_job],
    instruction: [before.instruction, after.instruction],
    trigger: [before.trigger, after.trigger],
    when_not_to_run: [before.when_not_to_run, after.when_not_to_run],
    output_shape: [before.output_shape, after.output_shape],
    'verification.description': [before.verification.description, after.verification.description],
  };
  for (const [field, [old, current]] of Object.entries(texts)) {
    const reworded = own.filter((change) => change.kind === 'field_reworded' && change.field === field);
    expectOneIfDifferent(reworded, 'field_reworded', old, current);
  }
  const proof = ({ verification: { kind, evidence_required } }: FlowStep) => ({ kind, evidence_required });
  expectOneIfDifferent(own, /^verification_/, proof(before), proof(after));
  expectOneIfDifferent(own, 'automatable_changed', before.automatable, after.automatable);
  const place = `/steps/${after.ordinal - 1}`;
  expectListExplained(own, `${place}/requires`, before.requires, after.requires);
  expectListExplained(own, `${place}/boundaries`, before.boundaries, after.boundaries);
  expectListExplained(own, `${place}/skill_refs`, before.skill_refs, after.skill_refs);
  expectListExplained(own, `${place}/outputs`, before.outputs, after.outputs);
  // A reference means a step: in the older version it is written with the number that the step has now.
  const followed = (from: string): string =>
    from.replace(/#(\d+)\./, (_, ordinal) => `#${successor.get(Number(ordinal)) ?? 'gone'}.`);
  const follow = <T extends { from: string }>(input: T): T => ({ ...input, from: followed(input.from) });
  const inputs = own.map((change) =>
    'before' in change && /^step_input/.test(change.kind)
      ? ({ ...change, before: follow(change.before as { from: string }) } as FlowChange)
      : change,
  );
  expectListExplained(inputs, `${place}/inputs`, before.inputs.map(follow), after.inputs);
}

function expectOneIfDifferent(own: FlowChange[], kind: string | RegExp, before: unknown, after: unknown): void {
  const found = own.filter((change) => (typeof kind === 'string' ? change.kind === kind : kind.test(change.kind)));
  if (JSON.stringify(before) === JSON.stringify(after)) expect(found).toEqual([]);
  else expect(found).toEqual([expect.objectContaining({ before, after })]);
}

/** Taking out what went, at its place, and leaving out what came leaves the same items; in the same order, or it says so. */
function expectListExplained(own: FlowChange[], path: string, before: unknown[], after: unknown[]): void {
  const list = path.split('/').at(-1) as string;
  const concerned = own.filter((change) => change.path.split('/').includes(list));
  const placeOf = ({ path: own }: FlowChange): number => Number(own.split('/').at(-1));
  const [gone, came, replaced] = [new Set<number>(), new Set<number>(), [] as string[]];
  for (const change of concerned) {
    if (change.kind === 'list_reordered') continue;
    if ('after' in change) came.add(placeOf(change));
    else gone.add(placeOf(change));
    if ('after' in change && 'before' in change) replaced.push(JSON.stringify(change.before));
  }
  const kept = before.filter((_, at) => !gone.has(at)).map((item) => JSON.stringify(item));
  const stayed = after.filter((_, at) => !came.has(at)).map((item) => JSON.stringify(item));
  for (const item of replaced) {
    expect(kept, 'what was changed was there').toContain(item);
    kept.splice(kept.indexOf(item), 1);
  }
  expect([...kept].sort()).toEqual([...stayed].sort());
  const isReordered = concerned.some(({ kind }) => kind === 'list_reordered');
  if (replaced.length === 0) expect(isReordered).toBe(JSON.stringify(kept) !== JSON.stringify(stayed));
  if (JSON.stringify(before) === JSON.stringify(after)) expect(concerned).toEqual([]);
  else expect(concerned).not.toEqual([]);
}

/** What is gone stands in the older bundle, everything else in the newer one. */
function expectPointsAtItsValue(before: FlowBundle, after: FlowBundle, change: FlowChange): void {
  const bundle = 'after' in change || change.kind === 'step_moved' || change.kind === 'list_reordered' ? after : before;
  const parts = change.path.split('/').slice(1);
  const target = parts.reduce<unknown>((value, part) => (value as Record<string, unknown>)?.[part], bundle);
  expect(target, change.path).toBeDefined();
  if (/^verification_/.test(change.kind)) expect(target).toMatchObject((change as { after: object }).after);
  else if ('after' in change) expect(target).toEqual(change.after);
  else if ('before' in change) expect(target).toEqual(change.before);
}
