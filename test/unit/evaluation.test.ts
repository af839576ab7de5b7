import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { judge, OutcomeSchema } from '../../src/proposals/evaluation.ts';

const RUBRIC = [
  { id: 'right', label: 'It is right' },
  { id: 'safe', label: 'It is safe' },
];
const all = new Set(['right', 'safe']);
const none = new Set<string>();

describe('the word of an outcome', () => {
  it.each([
    ['pass', 'pass'],
    ['Pass', 'pass'],
    [' FAIL ', 'fail'],
    ['needs_changes', 'needs_changes'],
    ['needs-changes', 'needs_changes'],
    ['Needs-Changes', 'needs_changes'],
  ])('%o is %s', (word, outcome) => {
    expect(OutcomeSchema.parse(word)).toBe(outcome);
  });

  it.each(['', 'passed', 'ok', 'needs changes', 'waive', 1, null, undefined, true])('%o is none', (word) => {
    expect(OutcomeSchema.safeParse(word).success).toBe(false);
  });
});

describe('[S003-3-evaluation] a pass', () => {
  it('needs every item of the rubric', () => {
    expect(judge(RUBRIC, { outcome: 'pass', passed: all, comment: '' })).toEqual({
      ok: true,
      status: 'passed',
      checklist: [
        { id: 'right', label: 'It is right', passed: true },
        { id: 'safe', label: 'It is safe', passed: true },
      ],
    });
  });

  it('without an item is refused, and the open ones are named', () => {
    for (const passed of [none, new Set(['right'])]) {
      const verdict = judge(RUBRIC, { outcome: 'pass', passed, comment: 'Fine by me.' });
      expect(verdict).toEqual({
        ok: false,
        issues: [{ code: 'checklist_open', message: expect.stringContaining('safe'), path: '/checklist' }],
      });
    }
  });

  it('is free where the rubric is empty', () => {
    expect(judge([], { outcome: 'pass', passed: none, comment: '' })).toEqual({
      ok: true,
      status: 'passed',
      checklist: [],
    });
  });
});

describe('[S003-3-evaluation] any other outcome', () => {
  it.each([
    ['fail', 'failed'],
    ['needs_changes', 'needs_changes'],
  ] as const)('%s needs a comment', (outcome, status) => {
    for (const comment of ['', ' ', '\n\t']) {
      expect(judge(RUBRIC, { outcome, passed: all, comment })).toMatchObject({
        ok: false,
        issues: [{ code: 'comment_missing', path: '/comment' }],
      });
    }
    expect(judge(RUBRIC, { outcome, passed: new Set(['right']), comment: 'See step 2.' })).toEqual({
      ok: true,
      status,
      checklist: [
        { id: 'right', label: 'It is right', passed: true },
        { id: 'safe', label: 'It is safe', passed: false },
      ],
    });
  });
});

describe('[S003-3-evaluation] the checklist', () => {
  it('is the rubric, whatever else is ticked; a pass is given exactly when nothing of it is open', () => {
    const id = fc.stringMatching(/^[a-z]{1,3}$/);
    fc.assert(
      fc.property(fc.uniqueArray(id), fc.array(id), (ids, ticked) => {
        const rubric = ids.map((each) => ({ id: each, label: each.toUpperCase() }));
        const passed = new Set(ticked);
        const failed = judge(rubric, { outcome: 'fail', passed, comment: 'no' });
        expect(failed.ok && failed.checklist.map((item) => item.id)).toEqual(ids);
        const verdict = judge(rubric, { outcome: 'pass', passed, comment: '' });
        expect(verdict.ok).toBe(ids.every((each) => passed.has(each)));
      }),
    );
  });
});
