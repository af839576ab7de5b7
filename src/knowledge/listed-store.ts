import { isoNow } from '../kernel/clock.ts';
import { deepFreeze } from './deep-freeze.ts';
import { mergeEntries } from './merge-entries.ts';
import { codeOf, type SessionMemory, warn } from './session-memory.ts';
import {
  checkedAt,
  readSnapshot,
  type SnapshotKind,
  type SnapshotMeta,
  snapshotPaths,
  snapshotStamp,
} from './snapshot-file.ts';
import { updateSnapshot } from './snapshot-update.ts';
import type { StoreContext } from './store-context.ts';

/** What is known of a list that a server only sends whole. */
export interface ListKind<T extends object> {
  kind: Extract<SnapshotKind, 'flowise_templates' | 'flowise_credentials'>;
  /** For messages. */
  plural: string;
  ttlSeconds: number;
  /** Whether a list came with the program, for when the server has none of its own. */
  hasBaseline: boolean;
  idOf(entry: T): string;
  /** An entry of a file; null for what is none. */
  parse(item: unknown): T | null;
  /** One request. */
  fetch(known: readonly T[]): Promise<T[]>;
}

interface Shelf<T> {
  /** Without those that the server has no more; frozen. */
  entries: readonly T[];
  /** Since when this is known to be what the server has. */
  asOf: string | undefined;
  /** Why it cannot be served without asking the server. */
  doubt: string | null;
  stamp: string;
}

export interface Fetched {
  added: number;
  changed: number;
  removed: number;
}

/**
 * A list that ages. States: unread; fresh; stale, when it is older than its limit (one request brings it up to date, and
 * if that fails it is served as it is); in doubt, when its file is missing or broken (nothing of that file is served).
 */
export class ListedStore<T extends object> {
  readonly #context: StoreContext;
  readonly #list: ListKind<T>;
  #shelf: Shelf<T> | null = null;
  #fetching: Promise<Fetched> | null = null;

  constructor(context: StoreContext, list: ListKind<T>) {
    this.#context = context;
    this.#list = list;
  }

  /** Local only. */
  get entries(): readonly T[] {
    return this.#loaded().entries;
  }

  /** What a session sees when it first looks: the file, if another process wrote it since, and one request if it is needed. */
  async ready(memory: SessionMemory): Promise<'snapshot' | 'API'> {
    const { kind } = this.#list;
    if (!memory.begun.has(kind)) {
      memory.begun.add(kind);
      this.#recheck();
    }
    const { doubt } = this.#loaded();
    if (memory.failed.has(kind) || (doubt === null && !this.#isStale())) return 'snapshot';
    if (doubt !== null && doubt !== '') {
      const message = `${doubt}; all ${this.#list.plural} are fetched again`;
      warn(this.#context, memory, { code: 'SNAPSHOT_INVALID', message });
    }
    return (await this.fetch(memory)) ? 'API' : 'snapshot';
  }

  /** Exactly one request, shared by all who wait for it; null when the list could not be had, which is remembered. */
  async fetch(memory: SessionMemory): Promise<Fetched | null> {
    this.#fetching ??= this.#fetch().finally(() => {
      this.#fetching = null;
    });
    try {
      return await this.#fetching;
    } catch (error) {
      memory.failed.add(this.#list.kind);
      const message = `${this.#list.plural} could not be fetched; what is known is used`;
      warn(this.#context, memory, { code: codeOf(error), message });
      return null;
    }
  }

  async #fetch(): Promise<Fetched> {
    const { kind, plural, idOf } = this.#list;
    const { folder, host, clock } = this.#context;
    const listed = await this.#list.fetch(this.entries);
    const now = isoNow(clock);
    let merged = mergeEntries(this.entries, listed, idOf);
    try {
      const { reading } = await updateSnapshot(folder, kind, (current) => {
        const isOwn = current.state === 'ok' && current.meta.source_host === host;
        merged = mergeEntries(isOwn ? this.#parsed(current.items) : [], listed, idOf);
        return {
          items: merged.items,
          removed: merged.removed,
          generated_at: now,
          source: 'flowise_api',
          source_host: host,
          flowise_version: isOwn ? (current.meta.flowise_version ?? null) : null,
        };
      });
      const stamp = reading.state === 'ok' ? reading.stamp : '';
      this.#shelf = { entries: deepFreeze(listed), asOf: now, doubt: null, stamp };
    } catch (error) {
      const message = `${plural} were fetched but could not be kept on disk`;
      warn(this.#context, null, { code: codeOf(error), message });
      this.#shelf = { entries: deepFreeze(listed), asOf: now, doubt: null, stamp: this.#stamp() };
    }
    return { added: merged.added.length, changed: merged.changed.length, removed: merged.removed.length };
  }

  #loaded(): Shelf<T> {
    this.#shelf ??= this.#read();
    return this.#shelf;
  }

  #read(): Shelf<T> {
    const { kind, hasBaseline } = this.#list;
    const own = readSnapshot(this.#context.folder, kind, this.#context.host);
    if (own.state === 'ok') {
      const asOf = checkedAt(this.#context.folder, kind, own.meta);
      return { entries: this.#active(own.items, own.meta), asOf, doubt: null, stamp: own.stamp };
    }
    const isAbsent = own.state === 'missing' || own.state === 'stub';
    const baseline = hasBaseline ? readSnapshot(this.#context.baselineDir, kind) : null;
    const entries = baseline?.state === 'ok' ? this.#active(baseline.items, baseline.meta) : [];
    return { entries, asOf: undefined, doubt: isAbsent ? '' : own.reason, stamp: this.#stamp() };
  }

  #active(items: readonly unknown[], meta: SnapshotMeta): readonly T[] {
    const removed = new Set(meta.removed);
    return deepFreeze(this.#parsed(items).filter((entry) => !removed.has(this.#list.idOf(entry))));
  }

  #parsed(items: readonly unknown[]): T[] {
    return items.flatMap((item) => this.#list.parse(item) ?? []);
  }

  #recheck(): void {
    if (this.#shelf && this.#shelf.stamp !== this.#stamp()) this.#shelf = null;
  }

  #stamp(): string {
    return snapshotStamp(snapshotPaths(this.#context.folder, this.#list.kind));
  }

  /** A time that lies ahead says nothing about age. */
  #isStale(): boolean {
    const since = Date.parse(this.#loaded().asOf ?? '');
    const age = this.#context.clock.now().getTime() - since;
    return !(age >= 0 && age < this.#list.ttlSeconds * 1_000);
  }
}
