import type { DialectName, Queries, Trx } from '../../database/index.ts';
import type { Clock } from '../../kernel/clock.ts';
import { isoNow } from '../../kernel/clock.ts';
import { badRequest, type Issue, refusal } from '../../kernel/errors.ts';
import type { Principal } from '../../operations/index.ts';
import { assertNotLoosened } from './agent-limits.ts';
import { assignNodes } from './assign-nodes.ts';
import { bindRefs } from './auto-refs.ts';
import { chunksOf } from './chunks.ts';
import type { DraftEdge, DraftNode, GraphDraft } from './draft.ts';
import { inOrder, matchEdges, type SentEdge } from './match-edges.ts';
import type { Graph, GraphEdge, GraphNode } from './model.ts';
import type { NodeTypes } from './normalise-node.ts';
import { isAutoRef } from './ref-rules.ts';
import { edgeText, nodeText, type StoredGraph, storedGraph } from './stored-graph.ts';
import { syncDecisions } from './sync-decisions.ts';
import { addVersion, findGraph, graphText } from './versions.ts';
import {
  bindAttachments,
  CONFIG_CONTRACT,
  insertEdges,
  insertNodes,
  removeEdges,
  removeNodes,
  updateEdges,
  updateNodes,
} from './write-rows.ts';

export interface SaveRequest {
  flowchart: { id: number; vault_id: string; graph_version: number };
  draft: GraphDraft;
  base_version?: number | undefined;
  types: NodeTypes;
  clock: Clock;
  dialect: DialectName;
  saved_by: string;
  saved_as: Principal['kind'];
}

export interface Saved {
  graph: Graph;
  version: number;
  id_map: { nodes: Record<string, number>; edges: Record<string, number> };
}

/**
 * Puts a draft in the place of the graph that is there, in the transaction of the caller: ids stay, what is new gets
 * one, nodes that are not in it leave the graph but not the history. An equal graph changes nothing.
 */
export async function saveGraph(trx: Trx, request: SaveRequest): Promise<Saved> {
  const { flowchart, draft } = request;
  assertBase(request);
  const stored = await storedGraph(trx, flowchart.id);
  await assertAttachments(trx, flowchart.vault_id, draft);
  const target = { trx, flowchart_id: flowchart.id, now: isoNow(request.clock) };
  const drafted = await placeNodes(target, request, stored);
  const nodes = await bindRefs(trx, request, drafted);
  const decisions = new Set(nodes.filter(({ node_type }) => node_type === 'decision').map(({ id }) => id));
  const sent = matchEdges(sentEdges(draft.edges, nodes), stored.edges, (id) => decisions.has(id));
  const synced = syncDecisions(
    nodes.toSorted((left, right) => left.id - right.id),
    inOrder(sent),
    (id) => stored.nodes.get(id)?.node.config,
  );
  const edges = await placeEdges(target, synced.edges);
  const graph: Graph = { nodes: synced.nodes, edges };
  const text = graphText(graph);
  const before = await findGraph(trx, flowchart.id, flowchart.graph_version);
  const id_map = idMap(draft, drafted, sent, edges);
  if (before && graphText(before).graph_sha256 === text.graph_sha256) {
    return { graph: before, version: flowchart.graph_version, id_map };
  }
  await writeChanges(target, stored, graph);
  const version = flowchart.graph_version + 1;
  await addVersion(trx, { flowchart_id: flowchart.id, version, text, created_by: request.saved_by, now: target.now });
  return { graph, version, id_map };
}

interface Target {
  trx: Trx;
  flowchart_id: number;
  now: string;
}

function assertBase({ base_version, flowchart }: SaveRequest): void {
  const current = flowchart.graph_version;
  if (base_version === undefined || base_version === current) return;
  throw refusal(
    'graph_conflict',
    `The graph is at version ${current}; your change is based on version ${base_version}. Read the graph as it is now, repeat your change on it and save again.`,
    { base_version, current_version: current },
  );
}

/** Files of another vault are as unknown as those that never were. */
async function assertAttachments(queries: Queries, vaultId: string, { nodes }: GraphDraft): Promise<void> {
  const wanted = [...new Set(nodes.flatMap(({ attachment_ids }) => attachment_ids ?? []))];
  const there = new Set<number>();
  for (const ids of chunksOf(wanted)) {
    const rows = await queries
      .selectFrom('attachments')
      .select('id')
      .where('vault_id', '=', vaultId)
      .where('id', 'in', ids)
      .execute();
    for (const { id } of rows) there.add(Number(id));
  }
  if (there.size === wanted.length) return;
  const issues: Issue[] = nodes.flatMap(({ attachment_ids = [] }, at) =>
    attachment_ids.flatMap((id, place) =>
      there.has(id)
        ? []
        : [
            {
              code: 'binding_ids_invalid',
              message: `names attachment ${id}, which is not there`,
              path: `/nodes/${at}/attachment_ids/${place}`,
            },
          ],
    ),
  );
  throw badRequest(issues, 'flowchart.save');
}

/** Every drafted node with its id, in the order of the draft; new ones are stored without what they refer to. */
async function placeNodes(target: Target, request: SaveRequest, stored: StoredGraph): Promise<GraphNode[]> {
  const { draft } = request;
  const assigned = assignNodes(
    draft,
    [...stored.nodes.values()].map(({ node, removed }) => ({ ...node, removed })),
  );
  if (request.saved_as === 'agent') assertNotLoosened(draft.nodes, assigned, stored);
  const fresh = draft.nodes.filter((_, at) => assigned[at] === null);
  const ids = await insertNodes(
    target,
    fresh.map((node) => graphNode(node, undefined, request.types)),
  );
  let next = 0;
  return draft.nodes.map((node, at) => {
    const id = assigned[at] ?? (ids[next++] as number);
    return { id, ...graphNode(node, stored.nodes.get(id)?.node, request.types) };
  });
}

/** What is not sent stays as it is, unless the node has become one of another type. */
function graphNode(draft: DraftNode, before: GraphNode | undefined, types: NodeTypes): Omit<GraphNode, 'id'> {
  const { node_type, title, x, y, config } = draft;
  const same = before?.node_type === node_type ? before : undefined;
  const type = types.get(node_type);
  const binds = type?.binds;
  // A memory that only retrieves can be set free; what must have something keeps what it has.
  const keepsRef = draft.ref_id === undefined || (draft.ref_id === null && isAutoRef({ node_type, config }, type));
  return {
    node_type,
    title,
    ref_id: keepsRef ? (same?.ref_id ?? null) : (draft.ref_id ?? null),
    x,
    y,
    config,
    mcp_server_ids: draft.mcp_server_ids ?? (binds?.mcp ? (same?.mcp_server_ids ?? []) : []),
    attachment_ids: draft.attachment_ids ?? (binds?.attachments ? (before?.attachment_ids ?? []) : []),
  };
}

function sentEdges(edges: readonly DraftEdge[], nodes: readonly GraphNode[]): SentEdge[] {
  return edges.map(({ source, target, client_id: _, ...edge }) => ({
    ...edge,
    source_node_id: (nodes[source] as GraphNode).id,
    target_node_id: (nodes[target] as GraphNode).id,
  }));
}

async function placeEdges(target: Target, edges: readonly SentEdge[]): Promise<GraphEdge[]> {
  const fresh = edges.flatMap((edge, position) => (edge.id === null ? [{ ...edge, position }] : []));
  const ids = await insertEdges(target, fresh);
  let next = 0;
  return edges.map((edge) => ({ ...edge, id: edge.id ?? (ids[next++] as number) }));
}

/** Only rows that differ are written. */
async function writeChanges(target: Target, stored: StoredGraph, { nodes, edges }: Graph): Promise<void> {
  const present = new Set(nodes.map(({ id }) => id));
  const gone = [...stored.nodes].filter(([id, { removed }]) => !removed && !present.has(id)).map(([id]) => id);
  await removeNodes(target, gone);
  await updateNodes(
    target,
    nodes.filter((node) => {
      const before = stored.nodes.get(node.id);
      // A new row lacks nothing but what it refers to and the conditions that its connectors gave it.
      if (!before) return node.ref_id !== null || node.node_type === 'decision';
      return before.removed || before.columns !== nodeText(node, CONFIG_CONTRACT);
    }),
  );
  await bindAttachments(
    target,
    nodes.filter(({ id, attachment_ids }) => {
      const before = stored.nodes.get(id)?.node.attachment_ids ?? [];
      return String(before) !== String(attachment_ids);
    }),
  );
  const kept = new Set(edges.map(({ id }) => id));
  await removeEdges(
    target,
    stored.edges.map(({ id }) => id).filter((id) => !kept.has(id)),
  );
  const placed = edges.map((edge, position) => ({ ...edge, position }));
  await updateEdges(
    target,
    placed.filter((edge) => {
      const before = stored.edgeColumns.get(edge.id);
      return before !== undefined && before !== edgeText(edge, edge.position);
    }),
  );
}

/** From what the client called things to their ids; an id that was not known here is such a name too. */
function idMap(
  draft: GraphDraft,
  nodes: readonly GraphNode[],
  sent: readonly SentEdge[],
  edges: readonly GraphEdge[],
): Saved['id_map'] {
  const named: [string, number][] = [];
  for (const [at, { id, client_id }] of draft.nodes.entries()) {
    const stored = (nodes[at] as GraphNode).id;
    if (client_id !== null) named.push([client_id, stored]);
    if (id !== null && id !== stored) named.push([String(id), stored]);
  }
  const order = new Map(inOrder(sent).map((edge, at) => [edge, edges[at] as GraphEdge]));
  const joined = draft.edges.flatMap(({ client_id }, at): [string, number][] => {
    const edge = order.get(sent[at] as SentEdge);
    return client_id === null || !edge ? [] : [[client_id, edge.id]];
  });
  return { nodes: Object.fromEntries(named), edges: Object.fromEntries(joined) };
}
