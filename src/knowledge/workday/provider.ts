import { readSnapshot, type SnapshotKind, snapshotPaths, snapshotStamp } from '../snapshot-file.ts';
import { isWorkdayAction, type WorkdayAction } from './action.ts';

/** There is nothing to answer from, and nothing is made up. */
export class NotImplementedError extends Error {
  override readonly name = 'NotImplementedError';
}

/** Snapshots of one folder; without a folder nothing is populated. Holds what it read until the files change. */
class WorkdayStore {
  readonly #name: string;
  readonly #kind: SnapshotKind;
  readonly #folder: string | undefined;
  #read: { stamp: string; actions: readonly WorkdayAction[] } | undefined;

  constructor(name: string, kind: SnapshotKind, folder: string | undefined) {
    this.#name = name;
    this.#kind = kind;
    this.#folder = folder;
  }

  /** Null when it is not one of the known actions. */
  get(action: string): WorkdayAction | null {
    return this.#actions().find((known) => known.action === action) ?? null;
  }

  /** Best first. Without a tag that says something: the first ones. */
  find(tags: readonly string[], limit = 3): WorkdayAction[] {
    const wanted = [...new Set(tags.map((tag) => tag.trim().toLowerCase()).filter((tag) => tag.length > 2))];
    const actions = this.#actions();
    if (wanted.length === 0) return actions.slice(0, limit);
    return actions
      .map((action) => ({ action, score: score(action, wanted) }))
      .filter((found) => found.score > 0)
      .sort((one, other) => other.score - one.score || (one.action.action < other.action.action ? -1 : 1))
      .slice(0, limit)
      .map(({ action }) => action);
  }

  #actions(): readonly WorkdayAction[] {
    if (this.#folder === undefined) throw this.#empty();
    const stamp = snapshotStamp(snapshotPaths(this.#folder, this.#kind));
    if (this.#read?.stamp !== stamp) {
      const reading = readSnapshot(this.#folder, this.#kind);
      if (reading.state !== 'ok') throw this.#empty();
      const removed = new Set(reading.meta.removed);
      const actions = reading.items.filter(isWorkdayAction).filter(({ action }) => !removed.has(action));
      this.#read = { stamp, actions: Object.freeze(actions) };
    }
    return this.#read.actions;
  }

  #empty(): NotImplementedError {
    return new NotImplementedError(`${this.#name} not yet populated`);
  }
}

function score({ action, description }: WorkdayAction, wanted: readonly string[]): number {
  const name = action.toLowerCase();
  const text = description.toLowerCase();
  return wanted.reduce((sum, tag) => sum + (name.includes(tag) ? 2 : 0) + (text.includes(tag) ? 1 : 0), 0);
}

/** Tools of an MCP server. */
export class WorkdayMcpStore extends WorkdayStore {
  constructor(folder?: string) {
    super('WorkdayMcpStore', 'workday_mcp', folder);
  }
}

/** Operations of an OpenAPI document. */
export class WorkdayApiStore extends WorkdayStore {
  constructor(folder?: string) {
    super('WorkdayApiStore', 'workday_api', folder);
  }
}

/** A provider of data and nothing else: no loop, no timer, no request. */
export class WorkdayKnowledgeProvider {
  readonly workday_mcp: WorkdayMcpStore;
  readonly workday_api: WorkdayApiStore;

  constructor(folder?: string) {
    this.workday_mcp = new WorkdayMcpStore(folder);
    this.workday_api = new WorkdayApiStore(folder);
  }
}
