import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { applyPlanPatch, type Plan, PlanPatchError, type StoreMode } from '../../src/plans/index.ts';

const THEN = '2026-01-01T00:00:00.000Z';
const NOW = '2026-02-02T00:00:00.000Z';
/** Few, so that names meet. */
const anyName = fc.constantFrom('Build', 'build!', 'Test', 'Ship it', 'ship-it', 'Docs', '計画', 'Übung', '!');
const anyTime = fc.constantFrom(null, THEN);

const anyPlan: fc.Arbitrary<Plan> = fc
  .array(fc.tuple(anyName, anyTime, fc.array(fc.tuple(anyName, anyTime), { maxLength: 4 })), { maxLength: 4 })
  .map((stages) => {
    let id = 0;
    const row = (name: string, completed_at: string | null, at: number) => {
      id += 1;
      return { id, name, description: null, position: at + 1, completed_at, created_at: THEN, updated_at: THEN };
    };
    return {
      ...row('Plan', null, 0),
      vault_id: 'default',
      stages: stages.map(([name, time, tasks], at) => ({
        ...row(name, time, at),
        tasks: tasks.map(([taskName, taskTime], place) => row(taskName, taskTime, place)),
      })),
    };
  });

const anyFields = fc.record(
  {
    name: anyName,
    description: fc.constantFrom(null, 'text', 'other'),
    position: fc.integer({ min: 1, max: 6 }),
    completed: fc.boolean(),
  },
  { requiredKeys: [] },
);
const anyTarget = (what: string) =>
  fc.oneof(
    { weight: 8, arbitrary: fc.integer({ min: 1, max: 12 }).map((id) => ({ [`${what}_id`]: id })) },
    { weight: 3, arbitrary: anyName.map((key) => ({ [`${what}_key`]: key })) },
    { weight: 1, arbitrary: fc.constant({}) },
  );
const anyEntry = (what: string) =>
  fc.tuple(anyTarget(what), anyFields).map(([target, fields]) => ({ ...target, ...fields }));
const anyTasks = fc.array(anyEntry('task'), { maxLength: 3 });
const anyPatch = fc.record(
  {
    name: anyName,
    description: fc.constantFrom(null, 'text'),
    completed: fc.boolean(),
    stages: fc.array(
      fc.tuple(anyEntry('stage'), anyTasks).map(([stage, tasks]) => ({ ...stage, tasks })),
      { maxLength: 4 },
    ),
    tasks: anyTasks,
  },
  { requiredKeys: [] },
);

function tryApply(plan: Plan, mode: StoreMode, patch: unknown) {
  try {
    return applyPlanPatch(plan, mode, patch, NOW);
  } catch (thrown) {
    if (thrown instanceof PlanPatchError) return null;
    throw thrown;
  }
}

type Rows = Map<number, { name: string; description: string | null; position: number; completed_at: string | null }>;

/** Every stage and task by its id, without what only tells when it changed. */
function rowsOf(plan: Plan): Rows {
  const rows = plan.stages.flatMap(({ tasks, ...stage }) => [stage, ...tasks]);
  return new Map(rows.map(({ created_at: _, updated_at: __, ...row }) => [row.id, row]));
}

const runs = { numRuns: 2_000 };

describe('[FLR-plan-counts] for any plan and any patch', () => {
  // What was there before an append is there afterwards, to the letter.
  it('append never changes a stage or task that exists', () => {
    fc.assert(
      fc.property(anyPlan, anyPatch, (plan, patch) => {
        const result = tryApply(plan, 'append', patch);
        if (!result) return;
        const after = rowsOf(result.plan);
        for (const [id, row] of rowsOf(plan)) expect(after.get(id)).toEqual(row);
        expect(result.operation_counts.replaced).toBe(0);
      }),
      runs,
    );
  });

  it('update never adds or removes one', () => {
    fc.assert(
      fc.property(anyPlan, anyPatch, (plan, patch) => {
        const result = tryApply(plan, 'update', patch);
        if (!result) return;
        expect([...rowsOf(result.plan).keys()].sort()).toEqual([...rowsOf(plan).keys()].sort());
        expect(result.operation_counts).toMatchObject({ created: 0, replaced: 0 });
      }),
      runs,
    );
  });

  it('an update applied twice leaves what it left the first time', () => {
    let seen = 0;
    fc.assert(
      fc.property(anyPlan, anyPatch, (plan, patch) => {
        const once = tryApply(plan, 'update', patch);
        const twice = once && tryApply(once.plan, 'update', patch);
        // A rename may take away what the patch goes by, or give two rows one key.
        if (!once || !twice || renames(patch)) return;
        if (once.operation_counts.updated > 0) seen += 1;
        expect(rowsOf(twice.plan)).toEqual(rowsOf(once.plan));
      }),
      { numRuns: 6_000 },
    );
    expect(seen, 'most patches are about something else').toBeGreaterThan(300);
  });

  it('counts are the rows that are new, changed and gone', () => {
    fc.assert(
      fc.property(anyPlan, anyPatch, fc.constantFrom<StoreMode>('append', 'replace', 'update'), (plan, patch, mode) => {
        const result = tryApply(plan, mode, patch);
        if (!result) return;
        const before = rowsOf(plan);
        const after = rowsOf(result.plan);
        const fields = ['name', 'description', 'completed_at'] as const;
        const ownChanges = fields.filter((key) => plan[key] !== result.plan[key]).length;
        const changed = [...after].filter(([id, row]) => {
          const old = before.get(id);
          return old && JSON.stringify(old) !== JSON.stringify(row);
        });
        expect(result.operation_counts).toMatchObject({
          created: [...after.keys()].filter((id) => !before.has(id)).length,
          replaced: [...before.keys()].filter((id) => !after.has(id)).length,
          updated: changed.length + ownChanges,
        });
        const fresh = [...after.keys()].filter((id) => !before.has(id));
        const touched = new Set([...result.touched.stage_ids, ...result.touched.task_ids]);
        for (const id of [...fresh, ...changed.map(([changedId]) => changedId)]) expect(touched).toContain(id);
      }),
      runs,
    );
  });

  it('[FLR-plan-tree] no two siblings stand in one place, and they are listed by it', () => {
    fc.assert(
      fc.property(anyPlan, anyPatch, fc.constantFrom<StoreMode>('append', 'replace', 'update'), (plan, patch, mode) => {
        const result = tryApply(plan, mode, patch);
        for (const siblings of result ? [result.plan.stages, ...result.plan.stages.map(({ tasks }) => tasks)] : []) {
          const places = siblings.map(({ position }) => position);
          expect(places).toEqual([...new Set(places)].sort((left, right) => left - right));
        }
      }),
      runs,
    );
  });
});

type Named = { name?: string; tasks?: Named[] };

function renames({ stages = [], tasks = [] }: { stages?: Named[]; tasks?: Named[] }): boolean {
  return [...stages, ...stages.flatMap((stage) => stage.tasks ?? []), ...tasks].some(({ name }) => name !== undefined);
}
