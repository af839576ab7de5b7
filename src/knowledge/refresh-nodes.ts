import { existsSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { ApiNode, NodeSchema } from '../flowise/index.ts';
import { writeDurably } from '../home/index.ts';
import { stableStringify } from '../kernel/canonical-json.ts';
import { refusal } from '../kernel/errors.ts';
import { compareNodes } from './audit-compare.ts';
import { mergeEntries } from './merge-entries.ts';
import { knownNodes } from './node-snapshot.ts';
import { normaliseNode } from './normalise-node.ts';
import { parseReference, writeReference } from './reference.ts';
import { type Findings, type PartReport, refreshed } from './refresh-report.ts';
import { type Own, type RefreshTarget, settle } from './refresh-target.ts';
import { readSnapshot, snapshotName } from './snapshot-file.ts';

export const REFERENCE_FILE = 'FLOWISE_NODE_REFERENCE.md';

export interface NodesRequest {
  fromApi: boolean;
  writeReference: boolean;
}

/**
 * The reference, as a snapshot. From the API it is completed for this server: what the server has is as the server says,
 * and what it has not stays in the file, is listed as removed and is not used. Nodes that were fetched one by one and
 * that the reference does not know stay too.
 */
export async function refreshNodes(target: RefreshTarget, request: NodesRequest): Promise<PartReport> {
  const reference = readReference(target);
  const live = request.fromApi ? await liveNodes(target) : null;
  const flowise_version = live ? await target.version() : null;
  const baseline = readSnapshot(target.baselineDir, 'flowise_nodes');
  const shipped = baseline.state === 'ok' ? knownNodes(baseline.items, baseline.meta) : [];
  const { outcome, result } = await settle(target, 'flowise_nodes', (own) => {
    const fresh = live ? mergeEntries(reference, live, typeOf).items : reference;
    const kept = own ? (own.items as NodeSchema[]).filter((node) => typeof node?.node_type === 'string') : [];
    const items = byType(mergeEntries(kept, fresh, typeOf).items);
    const removed = live ? missingIn(items, live) : stillRemoved(own, items);
    const covered = new Set(fresh.map(typeOf));
    const content = {
      items,
      removed,
      repaired: (own?.meta.repaired ?? []).filter(({ id }) => !covered.has(id)),
      generated_at: target.now,
      source: live ? 'reference and flowise_api' : 'reference',
      source_host: target.host,
      flowise_version,
    };
    const known = own ? knownNodes(own.items, own.meta) : shipped;
    const found = findings(known, fresh, live, own !== null);
    return { content, result: { found: { ...found, items: items.length }, items, removed } };
  });
  const report = refreshed('nodes', outcome, result.found);
  if (!request.writeReference || target.isDryRun) return report;
  const gone = new Set(result.removed);
  keepReference(
    target,
    result.items.filter((node) => !gone.has(node.node_type)),
  );
  const shown = snapshotName(target.folder, 'flowise_nodes').replace(/[^/]+$/, REFERENCE_FILE);
  return { ...report, reference: shown };
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
  } catch {
    throw refusal(
      'SNAPSHOT_INVALID',
      `${REFERENCE_FILE} is not there. Put it back: \`git checkout ${REFERENCE_FILE}\`.`,
    );
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

function findings(known: NodeSchema[], fresh: NodeSchema[], live: NodeSchema[] | null, isOwn: boolean): Findings {
  const { added } = mergeEntries(known, fresh, typeOf);
  const now = new Map(fresh.map((node) => [node.node_type, node]));
  const changed = known.flatMap((before) => {
    const after = now.get(before.node_type);
    const fields = after ? changedFields(before, after, isOwn) : [];
    return fields.length > 0 ? [{ name: before.node_type, fields }] : [];
  });
  const liveTypes = live && new Set(live.map(typeOf));
  return {
    known: known.length,
    items: fresh.length,
    listed: (live ?? fresh).length,
    listedIn: live ? 'API' : 'reference',
    new: liveTypes ? added.filter((type) => liveTypes.has(type)) : added,
    changed,
    removed: live ? missingIn(known, live) : [],
  };
}

/** The texts of the baseline are ours; that a server says them otherwise is no news. */
function changedFields(before: NodeSchema, after: NodeSchema, isOwn: boolean): string[] {
  if (isOwn) {
    const keys = [...new Set([...Object.keys(before), ...Object.keys(after)])] as (keyof NodeSchema)[];
    return keys.filter((key) => stableStringify(before[key]) !== stableStringify(after[key]));
  }
  const { differences } = compareNodes(before, after);
  return [...new Set(differences.map(({ path }) => path.split('/')[1] as string))];
}

function missingIn(nodes: readonly NodeSchema[], live: readonly NodeSchema[]): string[] {
  const there = new Set(live.map(typeOf));
  return nodes.map(typeOf).filter((type) => !there.has(type));
}

/** The server was not asked, so what it was known not to have is still that. */
function stillRemoved(own: Own | null, items: readonly NodeSchema[]): string[] {
  const types = new Set(items.map(typeOf));
  return (own?.meta.removed ?? []).filter((type) => types.has(type));
}

function keepReference(target: RefreshTarget, nodes: readonly NodeSchema[]): void {
  const path = join(target.folder, REFERENCE_FILE);
  const text = writeReference(nodes);
  if (existsSync(path) && readFileSync(path, 'utf8') === text) return;
  const draft = `${path}.new`;
  rmSync(draft, { force: true });
  writeDurably(draft, text);
  renameSync(draft, path);
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
