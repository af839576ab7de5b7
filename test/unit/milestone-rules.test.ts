import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  changeMilestone,
  MILESTONE_STATUSES,
  type MilestoneChange,
  type MilestoneFields,
  NEW_MILESTONE,
  readChange,
} from '../../src/milestones/index.ts';

const open: MilestoneFields = { ...NEW_MILESTONE, name: 'Beta' };
const done: MilestoneFields = { ...open, status: 'done', completed: true, progress_percent: 100 };
const changed = (before: MilestoneFields, change: MilestoneChange) => {
  const result = changeMilestone(before, change);
  expect(result.issues).toEqual([]);
  return result.after;
};
const faults = (patch: Record<string, unknown>) => readChange(patch).issues.map(({ path }) => path);

describe('[FLR-milestone-rules] done, completed and 100 percent', () => {
  it('come together, whichever is said', () => {
    expect(changed(open, { status: 'done' })).toEqual(done);
    expect(changed(open, { completed: true })).toEqual(done);
    expect(changed(done, { progress_percent: 40 })).toEqual(done);
  });

  it('go together when it is opened again', () => {
    expect(changed(done, { completed: false })).toMatchObject({ status: 'in_progress', completed: false });
    expect(changed(done, { status: 'at_risk', progress_percent: 80 })).toMatchObject({
      status: 'at_risk',
      completed: false,
      progress_percent: 80,
    });
  });

  it('stay what they were in the archive', () => {
    expect(changed(done, { status: 'archived' })).toMatchObject({ status: 'archived', completed: true });
    expect(changed(open, { status: 'archived' })).toMatchObject({ status: 'archived', completed: false });
  });

  it('are refused when they contradict each other', () => {
    expect(changeMilestone(open, { status: 'done', completed: false }).issues).toMatchObject([{ path: '/completed' }]);
    expect(changeMilestone(open, { status: 'planned', completed: true }).issues).toMatchObject([
      { path: '/completed' },
    ]);
  });

  // Whatever is changed in whatever order: done means completed, completed means 100 percent, and the other way round.
  it('never come apart', () => {
    const anyChange = fc.record(
      {
        status: fc.constantFrom(...MILESTONE_STATUSES),
        completed: fc.boolean(),
        progress_percent: fc.integer({ min: 0, max: 100 }),
      },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(fc.array(anyChange, { maxLength: 6 }), (changes) => {
        let milestone = open;
        for (const change of changes) {
          const { after: next, issues } = changeMilestone(milestone, change);
          if (issues.length === 0) milestone = next;
          expect(milestone.status === 'done').toBe(milestone.completed && milestone.status !== 'archived');
          if (milestone.completed) expect(milestone.progress_percent).toBe(100);
        }
      }),
    );
  });
});

describe('[FLR-milestone-rules] what a change may say', () => {
  it('takes words of the vocabulary only', () => {
    const good = { status: 'at_risk', priority: 'high', health: 'yellow' };
    expect(readChange(good)).toEqual({ change: good, issues: [] });
    expect(faults({ status: 'finished', priority: 'urgent', health: 'blue' })).toEqual([
      '/status',
      '/priority',
      '/health',
    ]);
  });

  it.each([
    [42, 42],
    [42.6, 43],
    ['80', 80],
    [-5, 0],
    [250, 100],
  ])('progress %j is %j', (given, kept) => {
    expect(readChange({ progress_percent: given }).change).toEqual({ progress_percent: kept });
  });

  it.each(['much', null, Number.NaN, [50]])('progress %j is refused', (given) => {
    expect(faults({ progress_percent: given })).toEqual(['/progress_percent']);
  });

  it('a blank name keeps the old one, other blank texts clear', () => {
    expect(readChange({ name: ' ', owner: '', description: ' ', latest_update: null })).toEqual({
      change: { owner: null, description: null, latest_update: null },
      issues: [],
    });
  });

  it('texts are bounded and can be stored', () => {
    expect(faults({ name: 'a\nb', owner: 7, description: 'x\0', links: 'x'.repeat(20_001) })).toEqual([
      '/name',
      '/owner',
      '/description',
      '/links',
    ]);
  });

  it.each([
    ['2026-03-31', '2026-03-31'],
    ['2026-03-31T10:00:00+02:00', '2026-03-31T08:00:00.000Z'],
    ['', null],
    [null, null],
  ])('the date %j is kept as %j', (given, kept) => {
    expect(readChange({ due_date: given })).toEqual({ change: { due_date: kept }, issues: [] });
  });

  it.each(['tomorrow', '2026-02-31', '2026-13-01', '2026-03-31T10:00', '2026-03-31T25:00:00Z', 5])(
    'the date %j is refused',
    (given) => expect(faults({ start_date: given })).toEqual(['/start_date']),
  );

  it('it is not due before it starts', () => {
    const dated = { ...open, start_date: '2026-03-10' };
    expect(changeMilestone(dated, { due_date: '2026-03-09' }).issues).toMatchObject([{ code: 'due_before_start' }]);
    expect(changeMilestone(dated, { due_date: '2026-03-10' }).issues).toEqual([]);
    expect(
      changeMilestone({ ...open, start_date: '2026-03-10T12:00:00.000Z' }, { due_date: '2026-03-10' }).issues,
    ).toEqual([]);
    expect(changeMilestone(dated, { due_date: null }).issues).toEqual([]);
  });
});
