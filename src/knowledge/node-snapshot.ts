import type { NodeSchema } from '../flowise/index.ts';
import { isNodeSchema } from './node-index.ts';
import { readSnapshot, type SnapshotMeta, snapshotPaths, snapshotStamp } from './snapshot-file.ts';
import type { StoreContext } from './store-context.ts';

/** The nodes that are known of a server before it is asked. */
export interface NodeSnapshot {
  nodes: NodeSchema[];
  /** Why the server's own snapshot cannot be used; it is to be refreshed before anything is answered. */
  doubt: string | null;
  /** Fingerprint of the baseline, when the nodes are that. */
  baseline: string | null;
  /** Changes when another process writes. */
  stamp: string;
}

/** Without a host, whichever server the files tell of. */
type Place = Pick<StoreContext, 'folder' | 'baselineDir'> & Partial<Pick<StoreContext, 'host'>>;

const KIND = 'flowise_nodes';

/** The server's own snapshot, else the one that came with the program. */
export function readNodes(context: Place): NodeSnapshot {
  const own = readSnapshot(context.folder, KIND, context.host);
  if (own.state === 'ok') {
    return { nodes: upToDate(context, own.items, own.meta), doubt: null, baseline: null, stamp: own.stamp };
  }
  const baseline = readSnapshot(context.baselineDir, KIND);
  const isThere = baseline.state === 'ok';
  const isAbsent = own.state === 'missing' || own.state === 'stub';
  const doubt = isAbsent ? (isThere ? null : reasonOf(baseline)) : own.reason;
  return {
    nodes: isThere ? knownNodes(baseline.items, baseline.meta) : [],
    doubt,
    baseline: isThere ? baseline.meta.sha256 : null,
    stamp: snapshotStamp(snapshotPaths(context.folder, KIND)),
  };
}

/** A baseline that is not there at all is a cold start: each node is then fetched when it is needed. */
function reasonOf(reading: ReturnType<typeof readSnapshot>): string | null {
  return 'reason' in reading ? reading.reason : null;
}

/**
 * A snapshot that is a baseline with repaired entries would hide the baseline of a newer program; then its repaired
 * entries are added to that one.
 */
export function upToDate(
  context: Pick<StoreContext, 'baselineDir'>,
  items: unknown[],
  meta: SnapshotMeta,
): NodeSchema[] {
  const own = knownNodes(items, meta);
  if (!meta.based_on) return own;
  const baseline = readSnapshot(context.baselineDir, KIND);
  if (baseline.state !== 'ok' || baseline.meta.sha256 === meta.based_on) return own;
  const newer = knownNodes(baseline.items, baseline.meta);
  const covered = new Set(newer.map((node) => node.node_type));
  const repaired = new Set(meta.repaired?.map(({ id }) => id));
  return [...newer, ...own.filter(({ node_type }) => repaired.has(node_type) && !covered.has(node_type))];
}

export function knownNodes(items: readonly unknown[], meta: SnapshotMeta): NodeSchema[] {
  const removed = new Set(meta.removed);
  return items.filter(isNodeSchema).filter((node) => !removed.has(node.node_type));
}
