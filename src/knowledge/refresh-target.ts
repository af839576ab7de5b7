import type { FlowiseClient } from '../flowise/index.ts';
import { stableStringify } from '../kernel/canonical-json.ts';
import { mergeEntries } from './merge-entries.ts';
import type { Findings, Outcome } from './refresh-report.ts';
import { readSnapshot, type SnapshotKind, type SnapshotMeta, type SnapshotReading } from './snapshot-file.ts';
import { type SnapshotContent, updateSnapshot } from './snapshot-update.ts';

/** Where a refresh writes, and whom it asks. */
export interface RefreshTarget {
  folder: string;
  baselineDir: string;
  /** The reference that came with the program. */
  reference: string;
  /** The server as meta files name it; null when none is configured. */
  host: string | null;
  now: string;
  isDryRun: boolean;
  /** Refuses when no server is configured. */
  client(): Promise<FlowiseClient>;
  /** Asked for once in a refresh; null when the server does not say. */
  version(): Promise<string | null>;
}

/** What a server's own snapshot holds, if it can be relied on. */
export interface Own {
  items: unknown[];
  meta: SnapshotMeta;
}

/** Another server's snapshot, or a broken one, is no base to build on. */
export function ownOf(reading: SnapshotReading, host: string | null): Own | null {
  if (reading.state !== 'ok') return null;
  const { source_host } = reading.meta;
  return source_host && host !== null && source_host !== host ? null : { items: reading.items, meta: reading.meta };
}

/** Decides under the snapshot's lock; a dry run decides the same and writes nothing. */
export async function settle<T>(
  target: RefreshTarget,
  kind: SnapshotKind,
  decide: (own: Own | null) => { content: SnapshotContent; result: T },
): Promise<{ outcome: Extract<Outcome, 'written' | 'unchanged' | 'would_change'>; result: T }> {
  let decided: { content: SnapshotContent; result: T } | undefined;
  let before: Own | null = null;
  const run = (current: SnapshotReading): { content: SnapshotContent; result: T } => {
    before = ownOf(current, target.host);
    decided = decide(before);
    return decided;
  };
  if (target.isDryRun) {
    const { content, result } = run(readSnapshot(target.folder, kind));
    return { outcome: isSame(before, content) ? 'unchanged' : 'would_change', result };
  }
  const { state } = await updateSnapshot(target.folder, kind, (current) => run(current).content);
  if (!decided) throw new Error(`nothing was decided about ${kind}`);
  return { outcome: state === 'written' ? 'written' : 'unchanged', result: decided.result };
}

function isSame(own: Own | null, { items, removed = [] }: SnapshotContent): boolean {
  if (own === null || stableStringify(own.items) !== stableStringify(items)) return false;
  return stableStringify(own.meta.removed ?? []) === stableStringify(removed);
}

export interface Listing<T extends object> {
  kind: SnapshotKind;
  listed: readonly T[];
  listedIn: string;
  source: string;
  source_host: string | null;
  flowise_version: string | null;
  idOf(entry: T): string;
  nameOf(entry: T): string;
  parse(item: unknown): T | null;
  /** What came with the program, to compare with where a server has nothing of its own; its texts are ours, not the server's. */
  baseline?: { items: readonly T[]; ours: readonly string[] };
}

/** A list that its source only gives whole: brought up to date, nothing thrown away. */
export async function refreshListing<T extends object>(target: RefreshTarget, listing: Listing<T>) {
  const { kind, listed, idOf, nameOf, parse } = listing;
  return settle(target, kind, (own) => {
    const known = own ? own.items.flatMap((item) => parse(item) ?? []) : [];
    const merged = mergeEntries(known, listed, idOf);
    const gone = new Set(own?.meta.removed);
    const active = own ? known.filter((entry) => !gone.has(idOf(entry))) : (listing.baseline?.items ?? []);
    const news = mergeEntries(active, listed, idOf);
    const ours = own ? [] : (listing.baseline?.ours ?? []);
    const names = new Map([...active, ...listed].map((entry) => [idOf(entry), nameOf(entry)]));
    const named = (id: string) => names.get(id) ?? id;
    const result: Findings = {
      known: active.length,
      items: merged.items.length,
      listed: listed.length,
      listedIn: listing.listedIn,
      new: news.added.map(named),
      changed: news.changed
        .map(({ id, fields }) => ({ name: named(id), fields: fields.filter((field) => !ours.includes(field)) }))
        .filter(({ fields }) => fields.length > 0),
      removed: news.removed.map(named),
    };
    const content: SnapshotContent = {
      items: merged.items,
      removed: merged.removed,
      generated_at: target.now,
      source: listing.source,
      source_host: listing.source_host,
      flowise_version: listing.flowise_version,
    };
    return { content, result };
  });
}
