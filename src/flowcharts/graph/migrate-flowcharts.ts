import { sql } from 'kysely';
import type { Trx } from '../../database/index.ts';
import { type Clock, isoNow } from '../../kernel/clock.ts';
import { ERRORS, refusal } from '../../kernel/errors.ts';
import { nodeTypes } from '../nodes/registry.ts';
import { chunksOf } from './chunks.ts';
import type { Graph, GraphEdge, GraphNode } from './model.ts';
import { EDGE_MODES } from './normalise-edge.ts';
import { normaliseConfig } from './normalise-node.ts';
import { edgeText, nodeText, type StoredGraph, storedGraph } from './stored-graph.ts';
import { syncDecisions } from './sync-decisions.ts';
import { SYSTEM_MCP } from './system-mcp.ts';
import { addVersion, graphText } from './versions.ts';
import { CONFIG_CONTRACT, updateEdges, updateNodes } from './write-rows.ts';

type Json = Record<string, unknown>;

/** Who saved the versions that a migration writes. */
const MIGRATION = 'flowright';

/** Brings every flowchart that needs it to today's rules; returns their ids. */
export async function migrateFlowcharts(trx: Trx, clock: Clock): Promise<number[]> {
  const old = await oldNodes(trx);
  for (const { id, flowchart_id, config_json } of old) assertReadable(id, flowchart_id, config_json);
  const { rows } = await sql<{ id: number; graph_version: number }>`
    select id, graph_version from flowcharts
    where id in (select flowchart_id from flowchart_nodes where config_contract = 0)
      or not exists (select 1 from flowchart_versions
        where flowchart_versions.flowchart_id = flowcharts.id and flowchart_versions.version = flowcharts.graph_version)
    order by id`.execute(trx);
  const now = isoNow(clock);
  const oldIds = new Set(old.map(({ id }) => Number(id)));
  for (const row of rows)
    await migrateOne(trx, { id: Number(row.id), version: Number(row.graph_version) }, oldIds, now);
  return rows.map(({ id }) => Number(id));
}

function oldNodes(trx: Trx) {
  return trx
    .selectFrom('flowchart_nodes')
    .select(['id', 'flowchart_id', 'config_json'])
    .where('config_contract', '=', 0)
    .orderBy('id')
    .execute();
}

/** Nothing and blanks are an empty config; anything else must be an object. */
function assertReadable(id: number, flowchartId: number, text: string | null): void {
  if (text === null || text.trim() === '') return;
  try {
    const value: unknown = JSON.parse(text);
    if (value !== null && typeof value === 'object' && !Array.isArray(value)) return;
  } catch {
    // Not JSON at all; said below.
  }
  throw refusal(
    'FLOWCHART_CONFIG_MALFORMED',
    `flowchart_nodes.id ${id} of flowchart ${flowchartId} has a config_json that is not a JSON object. ${ERRORS.FLOWCHART_CONFIG_MALFORMED.next} An empty config is written with: update flowchart_nodes set config_json = '{}' where id = ${id}`,
    { flowchart_node_id: Number(id), flowchart_id: Number(flowchartId) },
  );
}

async function migrateOne(
  trx: Trx,
  flowchart: { id: number; version: number },
  oldIds: ReadonlySet<number>,
  now: string,
): Promise<void> {
  const stored = await storedGraph(trx, flowchart.id);
  const { graph, removed } = migrated(stored, oldIds);
  const target = { trx, flowchart_id: flowchart.id, now };
  const isChanged = (node: GraphNode) => stored.nodes.get(node.id)?.columns !== nodeText(node, CONFIG_CONTRACT);
  await updateNodes(target, graph.nodes.filter(isChanged));
  const placed = graph.edges.map((edge, position) => ({ ...edge, position }));
  await updateEdges(
    target,
    placed.filter((edge) => stored.edgeColumns.get(edge.id) !== edgeText(edge, edge.position)),
  );
  await settleRemoved(trx, removed);
  const text = graphText(graph);
  const { version } = flowchart;
  if ((await hashOf(trx, flowchart.id, version)) === text.graph_sha256) return;
  const next = (await latestVersion(trx, flowchart.id)) + 1;
  await addVersion(trx, { flowchart_id: flowchart.id, version: Math.max(next, 1), text, created_by: MIGRATION, now });
}

/** The graph as it should be stored. Nodes of a type that nobody knows stay as they are and fail when they run. */
function migrated({ nodes, edges }: StoredGraph, oldIds: ReadonlySet<number>): { graph: Graph; removed: number[] } {
  const live = [...nodes.values()].filter(({ removed }) => !removed).map(({ node }) => node);
  const removed = [...nodes.values()].filter((entry) => entry.removed && oldIds.has(entry.node.id));
  const known = edges.map(
    (edge): GraphEdge => ({ ...edge, edge_mode: EDGE_MODES.includes(edge.edge_mode) ? edge.edge_mode : 'solid' }),
  );
  const graph = syncDecisions(
    live.map((node) => (oldIds.has(node.id) ? migratedNode(node) : node)),
    known,
  );
  return { graph, removed: removed.map(({ node }) => node.id) };
}

function migratedNode(node: GraphNode): GraphNode {
  const type = nodeTypes.get(node.node_type);
  if (!type) return node;
  const mcp_server_ids = node.node_type === 'memory' ? [SYSTEM_MCP.id] : node.mcp_server_ids;
  if (type.migrateConfig) return { ...node, config: type.migrateConfig(node.config), mcp_server_ids };
  return { ...node, config: leniently(node.config, (raw) => normaliseConfig(type, raw)), mcp_server_ids };
}

/** What today's rules would refuse is left for the validation to tell. */
function leniently(raw: Json, normalise: (raw: Json) => { config: Json; issues: unknown[] }): Json {
  const { config, issues } = normalise(raw);
  return issues.length === 0 ? config : raw;
}

/** What only history speaks of keeps its config; it just need not be looked at again. */
async function settleRemoved(trx: Trx, ids: readonly number[]): Promise<void> {
  for (const some of chunksOf(ids)) {
    await trx
      .updateTable('flowchart_nodes')
      .set({ config_contract: CONFIG_CONTRACT })
      .where('id', 'in', some)
      .execute();
  }
}

async function hashOf(trx: Trx, flowchartId: number, version: number): Promise<string | undefined> {
  const row = await trx
    .selectFrom('flowchart_versions')
    .select('graph_sha256')
    .where('flowchart_id', '=', flowchartId)
    .where('version', '=', version)
    .executeTakeFirst();
  return row?.graph_sha256;
}

async function latestVersion(trx: Trx, flowchartId: number): Promise<number> {
  const row = await trx
    .selectFrom('flowchart_versions')
    .select(({ fn }) => fn.max('version').as('latest'))
    .where('flowchart_id', '=', flowchartId)
    .executeTakeFirst();
  return Number(row?.latest ?? 0);
}
