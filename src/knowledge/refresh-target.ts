import type { FlowiseClient } from '../flowise/index.ts';
import { stableStringify } from '../kernel/canonical-json.ts';
import { sha256Hex } from '../kernel/hash.ts';
import { mergeEntries } from './merge-entries.ts';
import type { Findings, Settled } from './refresh-report.ts';
import {
  readSnapshot,
  type SnapshotKind,
  type SnapshotMeta,
  type SnapshotReading,
  snapshotText,
} from './snapshot-file.ts';
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
): Promise<{ settled: Settled; result: T }> {
  let decided: { content: SnapshotContent; result: T } | undefined;
  let before: Own | null = null;
  const run = (current: SnapshotReading): { content: SnapshotContent; result: T } => {
    before = ownOf(current, target.host);
    decided = decide(before);
    return decided;
  };
  if (target.isDryRun) {
    const { content, result } = run(readSnapshot(target.folder, kind));
    const isSameBytes = holdsSame(target, kind, before, content);
    return { settled: { outcome: isSame(before, content) ? 'unchanged' : 'would_change', isSameBytes }, result };
  }
  const { state } = await updateSnapshot(target.folder, kind, (current) => run(current).content);
  if (!decided) throw new Error(`nothing was decided about ${kind}`);
  const isSameBytes = holdsSame(target, kind, before, decided.content);
  return { settled: { outcome: state === 'written' ? 'written' : 'unchanged', isSameBytes }, result: decided.result };
}

/** As what was known before: the server's own, which keeps its text while its entries are the same, else the baseline. */
function holdsSame(
  { baselineDir }: RefreshTarget,
  kind: SnapshotKind,
  own: Own | null,
  { items }: SnapshotContent,
): boolean {
  if (own) return stableStringify(own.items) === stableStringify(items);
  const baseline = readSnapshot(baselineDir, kind);
  return baseline.state === 'ok' && baseline.meta.sha256 === sha256Hex(snapshotText(items));
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
  /**
   * What came with the program, to compare with where a server has nothing of its own. Its texts are ours and not the
   * server's, and its stamps tell of another moment.
   */
  baseline?: { items: readonly T[]; texts: readonly string[]; stamps: readonly string[] };
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
    const { texts = [], stamps = [] } = own ? {} : (listing.baseline ?? {});
    const apart = news.changed.map(({ id, fields }) => ({
      id,
      fields: fields.filter((field) => !texts.includes(field) && !stamps.includes(field)),
      isWorded: fields.some((field) => texts.includes(field)),
    }));
    const names = new Map([...active, ...listed].map((entry) => [idOf(entry), nameOf(entry)]));
    const named = (id: string) => names.get(id) ?? id;
    const result: Findings = {
      known: active.length,
      items: merged.items.length,
      listed: listed.length,
      listedIn: listing.listedIn,
      new: news.added.map(named),
      changed: apart.filter(({ fields }) => fields.length > 0).map(({ id, fields }) => ({ name: named(id), fields })),
      removed: news.removed.map(named),
      texts: apart.filter(({ fields, isWorded }) => fields.length === 0 && isWorded).length,
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
