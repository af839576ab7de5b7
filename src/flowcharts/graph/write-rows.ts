import { sql } from 'kysely';
import type { Trx } from '../../database/index.ts';
import { chunksOf } from './chunks.ts';
import { type EdgeColumns, edgeColumns, type NodeColumns, nodeColumns } from './graph-rows.ts';
import type { GraphEdge, GraphNode } from './model.ts';

/** Configs of this contract need no migration. */
export const CONFIG_CONTRACT = 1;

interface Target {
  trx: Trx;
  flowchart_id: number;
  now: string;
}

/** Adds nodes and returns their ids in the same order. */
export function insertNodes({ trx, flowchart_id, now }: Target, nodes: readonly Omit<GraphNode, 'id'>[]) {
  return inserted(nodes, (some) =>
    trx
      .insertInto('flowchart_nodes')
      .values(
        some.map((node) => ({
          flowchart_id,
          ...nodeColumns(node),
          config_contract: CONFIG_CONTRACT,
          removed_at: null,
          created_at: now,
          updated_at: now,
        })),
      )
      .returning('id')
      .execute(),
  );
}

/** Adds connectors; `positions` are their places in the order in which connectors are followed. */
export function insertEdges(
  { trx, flowchart_id, now }: Target,
  edges: readonly (Omit<GraphEdge, 'id'> & { position: number })[],
) {
  return inserted(edges, (some) =>
    trx
      .insertInto('flowchart_edges')
      .values(
        some.map((edge) => ({
          flowchart_id,
          position: edge.position,
          ...edgeColumns(edge),
          created_at: now,
          updated_at: now,
        })),
      )
      .returning('id')
      .execute(),
  );
}

/** Rows of one statement get ascending ids in the order of the statement; the order of its answer is not promised. */
async function inserted<T>(rows: readonly T[], insert: (some: T[]) => Promise<{ id: number }[]>): Promise<number[]> {
  const ids: number[] = [];
  for (const some of chunksOf(rows)) {
    const answer = await insert(some);
    ids.push(...answer.map(({ id }) => Number(id)).sort((left, right) => left - right));
  }
  return ids;
}

/** Many rows in one statement that both engines understand; each value is cast, since PostgreSQL guesses text. */
export async function updateNodes({ trx, now }: Target, nodes: readonly GraphNode[]): Promise<void> {
  for (const some of chunksOf(nodes)) {
    const rows = some.map((node) => {
      const row: NodeColumns = nodeColumns(node);
      return sql`(cast(${node.id} as bigint), cast(${row.node_type} as text), cast(${row.ref_id} as bigint),
        cast(${row.title} as text), cast(${row.x} as double precision), cast(${row.y} as double precision),
        cast(${row.config_json} as text), cast(${row.mcp_server_ids_json} as text))`;
    });
    await sql`update flowchart_nodes set
      node_type = sent.column2, ref_id = sent.column3, title = sent.column4, x = sent.column5, y = sent.column6,
      config_json = sent.column7, mcp_server_ids_json = sent.column8,
      config_contract = ${CONFIG_CONTRACT}, removed_at = null, updated_at = ${now}
      from (values ${sql.join(rows)}) as sent where flowchart_nodes.id = sent.column1`.execute(trx);
  }
}

export async function updateEdges(
  { trx, now }: Target,
  edges: readonly (GraphEdge & { position: number })[],
): Promise<void> {
  for (const some of chunksOf(edges)) {
    const rows = some.map((edge) => {
      const row: EdgeColumns = edgeColumns(edge);
      return sql`(cast(${edge.id} as bigint), cast(${edge.position} as bigint),
        cast(${row.source_node_id} as bigint), cast(${row.target_node_id} as bigint),
        cast(${row.source_handle_id} as text), cast(${row.target_handle_id} as text), cast(${row.edge_mode} as text),
        cast(${row.condition_key} as text), cast(${row.label} as text), cast(${row.control_points_json} as text))`;
    });
    await sql`update flowchart_edges set
      position = sent.column2, source_node_id = sent.column3, target_node_id = sent.column4,
      source_handle_id = sent.column5, target_handle_id = sent.column6, edge_mode = sent.column7,
      condition_key = sent.column8, label = sent.column9, control_points_json = sent.column10, updated_at = ${now}
      from (values ${sql.join(rows)}) as sent where flowchart_edges.id = sent.column1`.execute(trx);
  }
}

/** Nodes leave the graph, not the history: their rows stay. */
export async function removeNodes({ trx, now }: Target, ids: readonly number[]): Promise<void> {
  for (const some of chunksOf(ids)) {
    await trx
      .updateTable('flowchart_nodes')
      .set({ removed_at: now, updated_at: now })
      .where('id', 'in', some)
      .execute();
    await trx.deleteFrom('flowchart_node_attachments').where('flowchart_node_id', 'in', some).execute();
  }
}

export async function removeEdges({ trx }: Target, ids: readonly number[]): Promise<void> {
  for (const some of chunksOf(ids)) await trx.deleteFrom('flowchart_edges').where('id', 'in', some).execute();
}

export async function bindAttachments({ trx }: Target, nodes: readonly GraphNode[]): Promise<void> {
  for (const some of chunksOf(nodes)) {
    const ids = some.map(({ id }) => id);
    await trx.deleteFrom('flowchart_node_attachments').where('flowchart_node_id', 'in', ids).execute();
  }
  const bindings = nodes.flatMap(({ id, attachment_ids }) =>
    attachment_ids.map((attachment_id, position) => ({ flowchart_node_id: id, attachment_id, position })),
  );
  for (const some of chunksOf(bindings)) await trx.insertInto('flowchart_node_attachments').values(some).execute();
}
