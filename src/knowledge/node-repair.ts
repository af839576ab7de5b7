import type { NodeSchema } from '../flowise/index.ts';
import { isoNow } from '../kernel/clock.ts';
import { refusal } from '../kernel/errors.ts';
import { knownNodes, type NodeSnapshot, upToDate } from './node-snapshot.ts';
import type { SnapshotReading } from './snapshot-file.ts';
import { type SnapshotContent, type SnapshotWriting, updateSnapshot } from './snapshot-update.ts';
import type { StoreContext } from './store-context.ts';

const KIND = 'flowise_nodes';

/** Everything a server lists, as its own snapshot. */
export async function keepNodes(
  context: StoreContext,
  nodes: readonly NodeSchema[],
  flowiseVersion: string | null,
): Promise<NodeSnapshot> {
  const writing = await updateSnapshot(context.folder, KIND, () => ({
    items: nodes,
    generated_at: isoNow(context.clock),
    source: 'flowise_api',
    source_host: context.host,
    flowise_version: flowiseVersion,
  }));
  return asSnapshot(context, writing);
}

/**
 * One more node in the server's snapshot. Where the server has none yet, that is the baseline and this node. Null when
 * the file there is broken or of another server: repairing one node is no reason to write over it.
 */
export async function keepNode(
  context: StoreContext,
  node: NodeSchema,
  before: NodeSnapshot,
): Promise<NodeSnapshot | null> {
  const at = isoNow(context.clock);
  let isBroken = false;
  const writing = await updateSnapshot(context.folder, KIND, (current) => {
    if (current.state === 'missing' || current.state === 'stub') return onBaseline(context, node, before, at);
    isBroken = current.state !== 'ok' || !isOwn(current, context.host);
    return isBroken || current.state !== 'ok' ? null : withNode(context, current, node, at);
  });
  return isBroken ? null : asSnapshot(context, writing);
}

function onBaseline(context: StoreContext, node: NodeSchema, before: NodeSnapshot, at: string): SnapshotContent {
  return {
    items: [...before.nodes, node],
    generated_at: at,
    source: 'repair',
    source_host: context.host,
    flowise_version: null,
    repaired: [{ id: node.node_type, at }],
    ...(before.baseline ? { based_on: before.baseline } : {}),
  };
}

/** Null when another process was quicker. */
function withNode(
  context: StoreContext,
  { items, meta }: Extract<SnapshotReading, { state: 'ok' }>,
  node: NodeSchema,
  at: string,
): SnapshotContent | null {
  if (knownNodes(items, meta).some(({ node_type }) => node_type === node.node_type)) return null;
  const others = items.filter((item) => (item as NodeSchema | null)?.node_type !== node.node_type);
  return {
    items: [...others, node],
    generated_at: at,
    source: meta.source ?? 'repair',
    source_host: meta.source_host ?? context.host,
    flowise_version: meta.flowise_version ?? null,
    repaired: [...(meta.repaired ?? []).filter(({ id }) => id !== node.node_type), { id: node.node_type, at }],
    removed: (meta.removed ?? []).filter((id) => id !== node.node_type),
    ...(meta.based_on ? { based_on: meta.based_on } : {}),
  };
}

function isOwn(current: Extract<SnapshotReading, { state: 'ok' }>, host: string): boolean {
  return (current.meta.source_host ?? host) === host;
}

function asSnapshot(context: StoreContext, { reading }: SnapshotWriting): NodeSnapshot {
  if (reading.state !== 'ok') throw refusal('SNAPSHOT_INVALID', 'The node snapshot does not read back as written.');
  const nodes = upToDate(context, reading.items, reading.meta);
  return { nodes, doubt: null, baseline: null, stamp: reading.stamp };
}
