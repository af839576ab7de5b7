import type { Issue } from '../kernel/errors.ts';

export const MILESTONE_STATUSES = ['planned', 'in_progress', 'at_risk', 'done', 'archived'] as const;
export const MILESTONE_PRIORITIES = ['low', 'medium', 'high'] as const;
export const MILESTONE_HEALTHS = ['green', 'yellow', 'red'] as const;

export interface MilestoneFields {
  name: string;
  description: string | null;
  status: (typeof MILESTONE_STATUSES)[number];
  priority: (typeof MILESTONE_PRIORITIES)[number];
  owner: string | null;
  completed: boolean;
  start_date: string | null;
  due_date: string | null;
  progress_percent: number;
  health: (typeof MILESTONE_HEALTHS)[number];
  success_criteria: string | null;
  dependencies: string | null;
  links: string | null;
  latest_update: string | null;
}

export interface Milestone extends MilestoneFields {
  id: number;
  created_at: string;
  updated_at: string;
}

export const NEW_MILESTONE: Omit<MilestoneFields, 'name'> = {
  description: null,
  status: 'planned',
  priority: 'medium',
  owner: null,
  completed: false,
  start_date: null,
  due_date: null,
  progress_percent: 0,
  health: 'green',
  success_criteria: null,
  dependencies: null,
  links: null,
  latest_update: null,
};

/** How long each text may be; a name and an owner are one line. */
export const MAX_TEXT = 20_000;
export const MAX_LINE = 255;
export const LONG_TEXTS = ['description', 'success_criteria', 'dependencies', 'links', 'latest_update'] as const;
const ENUMS = { status: MILESTONE_STATUSES, priority: MILESTONE_PRIORITIES, health: MILESTONE_HEALTHS } as const;
const ONE_LINE = /^[^\p{Cc}\p{Cs}\u2028\u2029]*$/u;
const STORABLE = /^[^\p{Cs}\0]*$/u;
const DATE = /^\d{4}-\d{2}-\d{2}$/;
const TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?(Z|[+-]\d{2}:\d{2})$/;

type Json = Record<string, unknown>;
export type MilestoneChange = Partial<MilestoneFields>;

/**
 * Reads what a patch says about a milestone. Words that are not of the vocabulary, and values of the wrong kind, are
 * issues; keys that mean nothing here are none of its business. A blank name keeps the old one, a blank text clears.
 */
export function readChange(patch: Json): { change: MilestoneChange; issues: Issue[] } {
  const change: Json = {};
  const issues: Issue[] = [];
  const refuse = (key: string, message: string) => issues.push({ code: 'invalid_value', message, path: `/${key}` });
  for (const [key, words] of Object.entries(ENUMS)) {
    const word = patch[key];
    if (word === undefined) continue;
    if (words.some((known) => known === word)) change[key] = word;
    else refuse(key, `must be one of ${words.join(', ')}`);
  }
  for (const key of ['name', 'owner'] as const) {
    const text = patch[key];
    if (text === undefined) continue;
    if (text === null || (typeof text === 'string' && text.trim() === '')) {
      if (key === 'owner') change.owner = null;
    } else if (typeof text === 'string' && text.trim().length <= MAX_LINE && ONE_LINE.test(text.trim())) {
      change[key] = text.trim();
    } else refuse(key, `must be one line of at most ${MAX_LINE} characters`);
  }
  for (const key of LONG_TEXTS) {
    const text = patch[key];
    if (text === undefined) continue;
    if (text === null || (typeof text === 'string' && text.trim() === '')) change[key] = null;
    else if (typeof text === 'string' && text.length <= MAX_TEXT && STORABLE.test(text)) change[key] = text;
    else refuse(key, `must be a text of at most ${MAX_TEXT} characters`);
  }
  for (const key of ['start_date', 'due_date'] as const) {
    const given = patch[key];
    if (given === undefined) continue;
    const date = readDate(given);
    if (date === undefined) refuse(key, 'must be a date such as 2026-03-31, or a time with its zone');
    else change[key] = date;
  }
  readProgress(patch.progress_percent, change, refuse);
  if (typeof patch.completed === 'boolean') change.completed = patch.completed;
  else if (patch.completed !== undefined) refuse('completed', 'must be true or false');
  return { change, issues };
}

/** Models write 42.5 and "80"; what is out of bounds is brought back into them. */
function readProgress(given: unknown, change: Json, refuse: (key: string, message: string) => void): void {
  if (given === undefined) return;
  const number = typeof given === 'string' && /^-?\d{1,9}$/.test(given.trim()) ? Number(given) : given;
  if (typeof number === 'number' && Number.isFinite(number)) {
    change.progress_percent = Math.min(100, Math.max(0, Math.round(number)));
  } else refuse('progress_percent', 'must be a number from 0 to 100');
}

/** A day stays a day, a time becomes UTC; null or blank is none, undefined is not a date. */
export function readDate(given: unknown): string | null | undefined {
  if (given === null || (typeof given === 'string' && given.trim() === '')) return null;
  if (typeof given !== 'string') return undefined;
  const text = given.trim();
  if (DATE.test(text)) {
    const day = new Date(`${text}T00:00:00Z`);
    // 31 February is parsed as a day in March.
    return Number.isNaN(day.getTime()) || day.toISOString().slice(0, 10) !== text ? undefined : text;
  }
  if (!TIME.test(text) || readDate(text.slice(0, 10)) === undefined) return undefined;
  const time = new Date(text);
  return Number.isNaN(time.getTime()) ? undefined : time.toISOString();
}

/**
 * A milestone after a change. Done, completed and 100 percent go together: to say one of them is to say all. Taking
 * `done` back opens it again; an archived milestone keeps what it was.
 */
export function changeMilestone<T extends MilestoneFields>(
  before: T,
  change: MilestoneChange,
): { after: T; issues: Issue[] } {
  const after = { ...before, ...change };
  const issues: Issue[] = [];
  if (change.completed === false && change.status === 'done') {
    issues.push({ code: 'contradiction', message: 'is false, but the status says done', path: '/completed' });
  }
  const isMadeOpen = change.status !== undefined && change.status !== 'done' && change.status !== 'archived';
  if (change.completed === true && isMadeOpen) {
    issues.push({
      code: 'contradiction',
      message: `is true, but the status says ${change.status}`,
      path: '/completed',
    });
  }
  if (after.status === 'done' && change.completed !== false) after.completed = true;
  if (isMadeOpen) after.completed = false;
  if (after.completed) {
    if (after.status !== 'archived') after.status = 'done';
    after.progress_percent = 100;
  } else if (after.status === 'done') {
    after.status = 'in_progress';
  }
  if (isBefore(after.due_date, after.start_date)) {
    issues.push({ code: 'due_before_start', message: 'must not be before start_date', path: '/due_date' });
  }
  return { after, issues };
}

/** Where one of the two is a whole day, days are compared. */
function isBefore(due: string | null, start: string | null): boolean {
  if (due === null || start === null) return false;
  const length = Math.min(due.length, start.length);
  return due.slice(0, length) < start.slice(0, length);
}
