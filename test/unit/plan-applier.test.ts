import { describe, expect, it } from 'vitest';
import { applyPlanPatch, keyOf, type Plan, PlanPatchError, type StoreMode } from '../../src/plans/index.ts';

const THEN = '2026-01-01T00:00:00.000Z';
const NOW = '2026-02-02T00:00:00.000Z';

const row = (id: number, name: string, position: number) => ({
  id,
  name,
  position,
  description: null,
  completed_at: null,
  created_at: THEN,
  updated_at: THEN,
});

/** The plan of the worked examples. */
function example(): Plan {
  return {
    ...row(5, 'Release', 1),
    vault_id: 'default',
    description: 'How we ship',
    stages: [
      { ...row(1, 'Build it', 1), tasks: [row(11, 'Write code', 1), row(12, 'Test', 2)] },
      { ...row(2, 'Ship', 2), tasks: [row(21, 'Test', 1)] },
    ],
  };
}

const apply = (mode: StoreMode, patch: unknown, plan = example()) => applyPlanPatch(plan, mode, patch, NOW);
const counts = (created: number, updated: number, replaced: number, skipped_missing: number) => ({
  created,
  updated,
  replaced,
  skipped_missing,
});
const codes = ({ warnings }: { warnings: { code: string }[] }) => warnings.map(({ code }) => code);

function failure(mode: StoreMode, patch: unknown, plan?: Plan): PlanPatchError {
  try {
    apply(mode, patch, plan);
  } catch (thrown) {
    if (thrown instanceof PlanPatchError) return thrown;
    throw thrown;
  }
  throw new Error('the patch was applied');
}

describe('[S004-plan-examples] the worked examples', () => {
  it('[S004-plan-update] a task by its id', () => {
    const { plan, operation_counts, touched } = apply('update', { tasks: [{ task_id: 11, completed: true }] });
    expect(operation_counts).toEqual(counts(0, 1, 0, 0));
    expect(touched).toEqual({
      stage_ids: [1],
      task_ids: [11],
      stages: [{ id: 1, name: 'Build it', stage_key: 'build_it' }],
      tasks: [{ id: 11, plan_stage_id: 1, name: 'Write code', stage_key: 'build_it', task_key: 'write_code' }],
    });
    expect(plan.stages[0]?.tasks[0]).toMatchObject({ completed_at: NOW, updated_at: NOW });
  });

  it('[S004-plan-ambiguous] a key that two tasks have', () => {
    const { code, message, path } = failure('update', { tasks: [{ task_key: 'test', completed: true }] });
    expect(code).toBe('ambiguous_target');
    expect(message).toContain('12, 21');
    expect(path).toBe('/tasks/0');
  });

  it('[S004-plan-id-first] the same key within a stage, whatever its case', () => {
    const patch = { tasks: [{ stage_key: 'SHIP', task_key: 'test', completed: true }] };
    const { operation_counts, touched } = apply('update', patch);
    expect(operation_counts).toEqual(counts(0, 1, 0, 0));
    expect(touched).toMatchObject({ stage_ids: [2], task_ids: [21] });
  });

  it('[S004-plan-missing] a stage that is not there', () => {
    const { operation_counts, warnings } = apply('update', { stages: [{ stage_key: 'deploy', completed: true }] });
    expect(operation_counts).toEqual(counts(0, 0, 0, 1));
    expect(warnings).toEqual([
      {
        code: 'missing_target',
        message: expect.stringContaining('deploy'),
        details: { resolution: 'stage_key', stage_id: null, stage_key: 'deploy', path: '/stages/0' },
      },
    ]);
  });

  it('[S004-plan-update] a stage without id or key', () => {
    expect(failure('update', { stages: [{ name: 'X' }] })).toMatchObject({
      code: 'target_required',
      path: '/stages/0',
    });
    expect(failure('update', { tasks: [{ name: 'X' }] })).toMatchObject({ code: 'target_required', path: '/tasks/0' });
  });

  it('[FLR-plan-counts] a change to what it is already', () => {
    const before = example();
    const { plan, operation_counts, touched } = apply('update', { tasks: [{ task_id: 11, name: 'Write code' }] });
    expect(operation_counts).toEqual(counts(0, 0, 0, 0));
    expect(touched.task_ids).toEqual([]);
    expect(plan).toEqual(before);
  });

  it('[S004-plan-append] a stage that is there under another spelling, with a new and an old task', () => {
    const patch = { stages: [{ name: 'build  IT!', tasks: [{ name: 'Docs' }, { name: 'test' }] }] };
    const result = apply('append', patch);
    expect(result.operation_counts).toEqual(counts(1, 0, 0, 0));
    expect(codes(result)).toEqual(['existing_target', 'existing_target']);
    expect(result.plan.stages.map(({ name }) => name)).toEqual(['Build it', 'Ship']);
    expect(result.plan.stages[0]?.tasks.map(({ name, position }) => [name, position])).toEqual([
      ['Write code', 1],
      ['Test', 2],
      ['Docs', 3],
    ]);
    expect(result.touched).toMatchObject({ stage_ids: [1], tasks: [{ name: 'Docs', plan_stage_id: 1 }] });
  });

  it('[S004-plan-append] a new stage with a task that is done', () => {
    const { plan, operation_counts } = apply('append', {
      stages: [{ name: 'QA', tasks: [{ name: 'Smoke', completed: true }] }],
    });
    expect(operation_counts).toEqual(counts(2, 0, 0, 0));
    expect(plan.stages[2]).toMatchObject({ name: 'QA', position: 3, completed_at: null });
    expect(plan.stages[2]?.tasks).toMatchObject([{ name: 'Smoke', position: 1, completed_at: NOW }]);
  });

  it('[S004-plan-missing] a stage that is not there, with tasks', () => {
    const result = apply('append', { stages: [{ stage_id: 9, tasks: [{ name: 'A' }] }] });
    expect(result.operation_counts).toEqual(counts(0, 0, 0, 1));
    expect(result.plan).toEqual(example());
  });

  it('[S004-plan-append] tasks outside a stage', () => {
    const result = apply('append', { tasks: [{ name: 'A' }] });
    expect(codes(result)).toEqual(['invalid_payload']);
    expect(result.operation_counts).toEqual(counts(0, 0, 0, 0));
  });

  it("[S004-plan-append] the plan's own fields", () => {
    const { plan, operation_counts } = apply('append', { name: 'New name', completed: true });
    expect(operation_counts).toEqual(counts(0, 2, 0, 0));
    expect(plan).toMatchObject({ name: 'New name', completed_at: NOW, updated_at: NOW });
  });

  it('[S004-plan-replace] the whole structure', () => {
    const result = apply('replace', { stages: [{ name: 'Only', tasks: [{ name: 'One' }] }] });
    expect(result.operation_counts).toEqual(counts(2, 0, 5, 0));
    expect(result.action_results).toHaveLength(1);
    expect(result.plan.stages).toMatchObject([{ name: 'Only', position: 1, tasks: [{ name: 'One', position: 1 }] }]);
  });

  it('[S004-plan-replace] tasks outside a stage', () => {
    expect(failure('replace', { tasks: [{ name: 'A' }] })).toMatchObject({ code: 'tasks_not_allowed' });
  });

  it('[S004-plan-replace] without stages nothing is wiped', () => {
    expect(failure('replace', { description: null })).toMatchObject({ code: 'stages_required', path: '/stages' });
    expect(apply('replace', { stages: [] })).toMatchObject({
      operation_counts: counts(0, 0, 5, 0),
      plan: { stages: [] },
    });
  });
});

describe('[S004-plan-id-first] how rows are found', () => {
  it('an id beats keys that say something else, and a task id beats its stage', () => {
    const patch = {
      tasks: [{ task_id: 21, task_key: 'write_code', stage_id: 1, stage_key: 'build_it', name: 'Last' }],
    };
    expect(apply('update', patch).plan.stages[1]?.tasks).toMatchObject([{ id: 21, name: 'Last' }]);
  });

  it('a missing id is not made up for by a key', () => {
    const result = apply('update', { stages: [{ stage_id: 99, stage_key: 'ship', name: 'X' }] });
    expect(result.operation_counts).toEqual(counts(0, 0, 0, 1));
    expect(result.warnings).toMatchObject([{ details: { resolution: 'stage_id', stage_id: 99 } }]);
  });

  it('a task of a missing stage is a missing target', () => {
    const result = apply('update', { tasks: [{ stage_key: 'nowhere', task_key: 'test', completed: true }] });
    expect(result.warnings).toMatchObject([
      { code: 'missing_target', details: { resolution: 'task_key', task_key: 'test', stage_key: 'nowhere' } },
    ]);
  });

  it('a task key inside a stage means that stage only', () => {
    const result = apply('update', { stages: [{ stage_id: 2, tasks: [{ task_key: 'TEST', name: 'Verify' }] }] });
    expect(result.plan.stages.flatMap(({ tasks }) => tasks).map(({ name }) => name)).toEqual([
      'Write code',
      'Test',
      'Verify',
    ]);
  });

  it('[S004-plan-ambiguous] two stages of one key are refused in append too, and nothing is changed', () => {
    const plan = example();
    plan.stages[1] = { ...(plan.stages[1] as Plan['stages'][number]), name: 'build-it' };
    const before = structuredClone(plan);
    expect(failure('append', { name: 'Changed', stages: [{ name: 'Build it' }] }, plan).message).toContain('1, 2');
    expect(plan).toEqual(before);
  });

  it.each([
    ['Build it', 'build_it'],
    ['  --Write   CODE!! ', 'write_code'],
    ['Übung №1', 'übung_no1'],
    ['計画', '計画'],
    ['!!!', '!!!'],
  ])('the key of %j is %j', (name, key) => expect(keyOf(name)).toBe(key));
});

describe('[FLR-plan-tree] within one patch', () => {
  it('new rows get places of their own', () => {
    const { plan } = apply('append', { stages: [{ name: 'A' }, { name: 'B' }, { name: 'C', position: 1 }] });
    expect(plan.stages.map(({ name, position }) => [name, position])).toEqual([
      ['Build it', 1],
      ['Ship', 2],
      ['A', 3],
      ['B', 4],
      ['C', 5],
    ]);
  });

  it('a name that comes twice is made once', () => {
    const result = apply('append', {
      stages: [
        { name: 'QA', tasks: [{ name: 'Smoke' }] },
        { name: 'qa', tasks: [{ name: 'SMOKE' }, { name: 'Load' }] },
      ],
    });
    expect(result.operation_counts).toEqual(counts(3, 0, 0, 0));
    expect(codes(result)).toEqual(['existing_target', 'existing_target']);
    expect(result.plan.stages[2]?.tasks.map(({ name }) => name)).toEqual(['Smoke', 'Load']);
  });

  it('replace keeps twins as they were given, and says that their key means neither', () => {
    const result = apply('replace', {
      stages: [
        { name: 'A', position: 2 },
        { name: 'a', position: 2 },
      ],
    });
    expect(result.plan.stages.map(({ position }) => position)).toEqual([2, 3]);
    expect(codes(result)).toEqual(['invalid_payload']);
  });

  it('who stands where a row is moved to makes room', () => {
    const { plan, operation_counts } = apply('update', { stages: [{ stage_id: 2, position: 1 }] });
    expect(plan.stages.map(({ id, position }) => [id, position])).toEqual([
      [2, 1],
      [1, 2],
    ]);
    expect(operation_counts.updated).toBe(2);
  });

  it('the plan that was given stays as it was', () => {
    const plan = example();
    apply('replace', { name: 'X', stages: [] }, plan);
    apply('update', { stages: [{ stage_id: 1, name: 'Y', tasks: [{ task_id: 12, completed: true }] }] }, plan);
    expect(plan).toEqual(example());
  });
});

describe('[S004-plan-patch-keys] what a patch may say', () => {
  it('null and blank clear a description; completion keeps its first time', () => {
    const done = apply('update', { completed: true, description: ' ' }).plan;
    expect(done).toMatchObject({ description: null, completed_at: NOW });
    const later = applyPlanPatch(done, 'update', { completed: 'yes' }, '2027-01-01T00:00:00.000Z');
    expect(later.operation_counts.updated).toBe(0);
    expect(applyPlanPatch(done, 'append', { completed: false }, NOW).plan.completed_at).toBeNull();
  });

  it('other keys are ignored, and it says so', () => {
    expect(apply('update', { complete: true, name: 'N' }).warnings).toEqual([
      { code: 'invalid_payload', message: expect.any(String), details: { keys: ['complete'] } },
    ]);
  });

  it.each<[string, unknown, string]>([
    ['no object', [], ''],
    ['no object', 'text', ''],
    ['a blank name', { name: '  ' }, '/name'],
    ['a name of two lines', { name: 'a\nb' }, '/name'],
    ['a name that is too long', { name: 'x'.repeat(256) }, '/name'],
    ['stages that are no list', { stages: {} }, '/stages'],
    ['tasks that are no list', { tasks: 'x' }, '/tasks'],
    ['a stage that is no object', { stages: ['x'] }, '/stages/0'],
    ['a stage without a name', { stages: [{}] }, '/stages/0/name'],
    ['a task without a name', { stages: [{ stage_id: 1, tasks: [{}] }] }, '/stages/0/tasks/0/name'],
    ['an id that is none', { stages: [{ stage_id: -1 }] }, '/stages/0/stage_id'],
    ['a key that is no text', { stages: [{ stage_key: 7 }] }, '/stages/0/stage_key'],
    ['a place before the first', { stages: [{ name: 'A', position: 0 }] }, '/stages/0/position'],
    ['half a place', { stages: [{ name: 'A', position: 1.5 }] }, '/stages/0/position'],
    ['a completion that is neither yes nor no', { completed: 'maybe' }, '/completed'],
    ['a description that is no text', { description: 5 }, '/description'],
    ['NUL in a description', { description: 'a\0b' }, '/description'],
  ])('%s is refused, with its place', (_, patch, path) => expect(failure('append', patch).path).toBe(path));

  it('a plan does not grow without end', () => {
    const stages = Array.from({ length: 199 }, (_, at) => ({ name: `Stage ${at}` }));
    expect(failure('append', { stages })).toMatchObject({ code: 'plan_too_large', path: '/stages/198' });
    const tasks = Array.from({ length: 1_998 }, (_, at) => ({ name: `Task ${at}` }));
    expect(failure('append', { stages: [{ stage_id: 2, tasks }] })).toMatchObject({ code: 'plan_too_large' });
  });
});
