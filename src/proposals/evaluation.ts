import * as z from 'zod';
import type { Issue } from '../kernel/errors.ts';
import type { RubricItem } from '../policy/index.ts';

export const EVALUATION_STATUSES = ['none', 'pending', 'passed', 'failed', 'needs_changes'] as const;
export type EvaluationStatus = (typeof EVALUATION_STATUSES)[number];

const OUTCOMES = { pass: 'passed', fail: 'failed', needs_changes: 'needs_changes' } as const;

/** `Needs-Changes` and `needs_changes` are the same word. */
export const OutcomeSchema = z
  .string()
  .transform((word) => word.trim().toLowerCase().replaceAll('-', '_'))
  .pipe(z.enum(['pass', 'fail', 'needs_changes']));

export interface Checked {
  id: string;
  label: string;
  passed: boolean;
}

export type Judgement =
  | { ok: true; status: Exclude<EvaluationStatus, 'none' | 'pending'>; checklist: Checked[] }
  | { ok: false; issues: Issue[] };

/**
 * Pure. Items that are not mentioned count as not passed, unknown ones are ignored. A pass needs every item; anything
 * else needs a comment that says why.
 */
export function judge(
  rubric: readonly RubricItem[],
  given: { outcome: keyof typeof OUTCOMES; passed: ReadonlySet<string>; comment: string },
): Judgement {
  const checklist = rubric.map(({ id, label }) => ({ id, label, passed: given.passed.has(id) }));
  const open = checklist.filter(({ passed }) => !passed).map(({ id }) => id);
  if (given.outcome === 'pass' && open.length > 0) {
    const message = `must mark every item as passed for a pass; still open: ${open.join(', ')}`;
    return { ok: false, issues: [{ code: 'checklist_open', message, path: '/checklist' }] };
  }
  if (given.outcome !== 'pass' && given.comment.trim() === '') {
    const message = `must say why the outcome is ${given.outcome}`;
    return { ok: false, issues: [{ code: 'comment_missing', message, path: '/comment' }] };
  }
  return { ok: true, status: OUTCOMES[given.outcome], checklist };
}
