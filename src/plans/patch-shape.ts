import type { Issue } from '../kernel/errors.ts';
import { isNamed, stageTarget, taskTarget } from './match.ts';
import {
  completedOf,
  descriptionOf,
  type Entry,
  entriesAt,
  idOf,
  isObject,
  keyAt,
  nameOf,
  optionalName,
  PlanPatchError,
  positionOf,
} from './patch-entry.ts';
import { assertNamed, assertReplaces, type StoreMode } from './store-modes.ts';

/**
 * Why a patch could be applied to no plan at all: what is wrong with it whatever the plan holds, each with its place.
 * An empty list is no promise, for keys and ids may still fit nothing, or too much, of the plan it meets.
 */
export function patchFaults(storeMode: StoreMode, patch: unknown): Issue[] {
  const faults: Issue[] = [];
  const read: Read = (work) => {
    try {
      return work();
    } catch (thrown) {
      if (!(thrown instanceof PlanPatchError)) throw thrown;
      const { code, message, path } = thrown;
      faults.push({ code, message, path });
      return undefined;
    }
  };
  if (!isObject(patch)) return [{ code: 'invalid_type', message: 'a patch must be an object', path: '' }];
  const entry = { values: patch, path: '' };
  readFields(read, entry, optionalName);
  for (const stage of read(() => entriesAt(entry, 'stages')) ?? []) READ_ROW[storeMode](read, stage, 'stage');
  if (storeMode === 'replace') read(() => assertReplaces(entry));
  else {
    const tasks = read(() => entriesAt(entry, 'tasks')) ?? [];
    // append passes over such tasks with a warning, whatever they say.
    if (storeMode === 'update') for (const task of tasks) readTaskAnywhere(read, task);
  }
  return faults;
}

type Read = <T>(work: () => T) => T | undefined;
type What = 'stage' | 'task';
type ReadRow = (read: Read, entry: Entry, what: What) => void;

/** As store-modes.ts reads the rows of a patch, without a plan to do it to. */
const READ_ROW: Record<StoreMode, ReadRow> = { append: readAppended, replace: readNew, update: readChange };

function readAppended(read: Read, entry: Entry, what: What): void {
  const target = read(() => targetOf(entry, what));
  // What is there already stays as it is, so only what would be added to it counts.
  if (target && !isNamed(target)) readFields(read, entry, (row) => nameOf(row, `a ${what}`), positionOf);
  readTasks(read, entry, what, readAppended);
}

function readNew(read: Read, entry: Entry, what: What): void {
  readFields(read, entry, (row) => nameOf(row, `a ${what}`), positionOf);
  readTasks(read, entry, what, readNew);
}

function readChange(read: Read, entry: Entry, what: What): void {
  read(() => assertNamed(targetOf(entry, what), what, entry));
  readFields(read, entry, optionalName, positionOf);
  readTasks(read, entry, what, readChange);
}

function readTaskAnywhere(read: Read, entry: Entry): void {
  read(() => idOf(entry, 'stage_id'));
  read(() => keyAt(entry, 'stage_key'));
  readChange(read, entry, 'task');
}

function targetOf(entry: Entry, what: What) {
  return what === 'stage' ? stageTarget(entry) : taskTarget(entry);
}

function readFields(read: Read, entry: Entry, ...others: ((entry: Entry) => unknown)[]): void {
  for (const field of [...others, descriptionOf, completedOf]) read(() => field(entry));
}

function readTasks(read: Read, entry: Entry, what: What, readRow: ReadRow): void {
  if (what === 'task') return;
  for (const task of read(() => entriesAt(entry, 'tasks')) ?? []) readRow(read, task, 'task');
}
