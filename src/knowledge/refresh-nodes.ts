import { existsSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { ApiNode, NodeSchema } from '../flowise/index.ts';
import { writeDurably } from '../home/index.ts';
import { refusal } from '../kernel/errors.ts';
import { folderFault } from './folder-fault.ts';
import { mergeEntries } from './merge-entries.ts';
import { nodeNews } from './node-news.ts';
import { knownNodes, upToDate } from './node-snapshot.ts';
import { normaliseNode } from './normalise-node.ts';
import { parseReference, writeReference } from './reference.ts';
import { type PartReport, refreshed } from './refresh-report.ts';
import { type Own, type RefreshTarget, settle } from './refresh-target.ts';
import { readSnapshot, snapshotName } from './snapshot-file.ts';

export const REFERENCE_FILE = 'FLOWISE_NODE_REFERENCE.md';

export interface NodesRequest {
  fromApi: boolean;
  /** What a server said itself gives way to the reference. */
  fromReference: boolean;
  writeReference: boolean;
}

/**
 * The reference, as a snapshot. From the API it is completed for this server: what the server has is as the server says,
 * and what it has not stays in the file, is listed as removed and is not used. What a server said stays when the
 * reference alone is read again, which then only adds what is missing. Nodes that were fetched one by one and that the
 * reference does not know stay too.
 */
export async function refreshNodes(target: RefreshTarget, request: NodesRequest): Promise<PartReport> {
  const reference = readReference(target);
  const live = request.fromApi ? await liveNodes(target) : null;
  const version = live ? await target.version() : null;
  const baseline = readSnapshot(target.baselineDir, 'flowise_nodes');
  const shipped = baseline.state === 'ok' ? knownNodes(baseline.items, baseline.meta) : [];
  const { settled, result } = await settle(target, 'flowise_nodes', (own) => {
    const kept = own ? (own.items as NodeSchema[]).filter((node) => typeof node?.node_type === 'string') : [];
    const said = own && !live && !request.fromReference && isSaidByServer(target, own) ? own : null;
    const fresh = live ? mergeEntries(reference, live, typeOf).items : said ? missingIn(reference, kept) : reference;
    const items = byType(mergeEntries(kept, fresh, typeOf).items);
    const removed = live ? missingIn(items, live).map(typeOf) : stillRemoved(own, items);
    const content = {
      items,
      removed,
      repaired: fetchedApart(own, missingIn(kept, fresh), said !== null || live !== null),
      generated_at: target.now,
      source: sourceOf(said, live !== null, fresh.length > 0),
      source_host: said?.meta.source_host ?? target.host,
      flowise_version: said ? (said.meta.flowise_version ?? null) : version,
    };
    const known = own ? upToDate(target, own.items, own.meta) : shipped;
    const listed = live
      ? { listed: live.length, listedIn: 'API' }
      : { listed: reference.length, listedIn: 'reference' };
    const gone = new Set(removed);
    const active = items.filter((node) => !gone.has(node.node_type));
    return { content, result: { active, found: { ...listed, ...nodeNews(known, active), items: items.length } } };
  });
  const report = refreshed('nodes', settled, result.found);
  if (!request.writeReference || target.isDryRun) return report;
  keepReference(target, result.active);
  const shown = snapshotName(target.folder, 'flowise_nodes').replace(/[^/]+$/, REFERENCE_FILE);
  return { ...report, reference: shown };
}

const FROM_BOTH = 'reference and flowise_api';

/** Unless somebody put a reference beside it: that one is theirs to edit, and holds the server's words already. */
function isSaidByServer(target: RefreshTarget, { meta }: Own): boolean {
  return (meta.source ?? '').includes('flowise_api') && referencePath(target) === target.reference;
}

function sourceOf(said: Own | null, isLive: boolean, isMore: boolean): string {
  if (said && !isMore) return said.meta.source ?? FROM_BOTH;
  return said || isLive ? FROM_BOTH : 'reference';
}

/** Entries that are not from the reference and were not listed with the others. */
function fetchedApart(own: Own | null, left: readonly NodeSchema[], isListed: boolean): { id: string; at: string }[] {
  const { repaired = [], source = '', generated_at = '', removed = [] } = own?.meta ?? {};
  const leftTypes = new Set(left.map(typeOf));
  const before = repaired.filter(({ id }) => leftTypes.has(id));
  if (isListed || !source.includes('flowise_api')) return before;
  const known = new Set([...before.map(({ id }) => id), ...removed]);
  const said = [...leftTypes].filter((type) => !known.has(type));
  return [...before, ...said.map((id) => ({ id, at: generated_at }))];
}

/** The server's own copy, which people may have edited, else the one that came with the program. */
export function referencePath(target: Pick<RefreshTarget, 'folder' | 'reference'>): string {
  const own = join(target.folder, REFERENCE_FILE);
  return existsSync(own) ? own : target.reference;
}

function readReference(target: RefreshTarget): NodeSchema[] {
  const path = referencePath(target);
  let markdown: string;
  try {
    markdown = readFileSync(path, 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const way =
      code === 'ENOENT'
        ? `is not there. Put it back: \`git checkout ${REFERENCE_FILE}\`.`
        : `in ${dirname(path)} cannot be read (${code}). Make it readable, or take it away to use the one of Flowright.`;
    throw refusal('SNAPSHOT_INVALID', `${REFERENCE_FILE} ${way}`);
  }
  const { nodes, issues } = parseReference(markdown);
  const [first] = issues;
  if (first) {
    const rest = issues.length > 1 ? ` (and ${issues.length - 1} more)` : '';
    throw refusal('SNAPSHOT_INVALID', `${REFERENCE_FILE} line ${first.line}: ${first.message}${rest}`, {
      issues: issues.slice(0, 100),
    });
  }
  if (nodes.length === 0) throw refusal('SNAPSHOT_INVALID', `${REFERENCE_FILE} describes no nodes.`);
  return nodes;
}

/** One request, however many nodes there are. */
async function liveNodes(target: RefreshTarget): Promise<NodeSchema[]> {
  const client = await target.client();
  const nodes = (await client.listNodes()).filter(hasName).map(normaliseNode);
  if (nodes.length === 0) throw refusal('FLOWISE_BAD_ANSWER', `Flowise server ${client.server} lists no nodes.`);
  return [...new Map(nodes.map((node) => [node.node_type, node])).values()];
}

/** Those that the other list does not have. */
function missingIn(nodes: readonly NodeSchema[], others: readonly NodeSchema[]): NodeSchema[] {
  const there = new Set(others.map(typeOf));
  return nodes.filter((node) => !there.has(node.node_type));
}

/** The server was not asked, so what it was known not to have is still that. */
function stillRemoved(own: Own | null, items: readonly NodeSchema[]): string[] {
  const types = new Set(items.map(typeOf));
  return (own?.meta.removed ?? []).filter((type) => types.has(type));
}

function keepReference(target: RefreshTarget, nodes: readonly NodeSchema[]): void {
  const path = join(target.folder, REFERENCE_FILE);
  const text = writeReference(nodes);
  const draft = `${path}.new`;
  try {
    if (existsSync(path) && readFileSync(path, 'utf8') === text) return;
    rmSync(draft, { force: true });
    writeDurably(draft, text);
    renameSync(draft, path);
  } catch (error) {
    throw folderFault(target.folder, REFERENCE_FILE, error);
  }
}

function byType(nodes: NodeSchema[]): NodeSchema[] {
  return nodes.sort((one, other) => (one.node_type < other.node_type ? -1 : 1));
}

function typeOf({ node_type }: NodeSchema): string {
  return node_type;
}

function hasName(api: ApiNode): boolean {
  return typeof api?.name === 'string' && api.name !== '';
}
