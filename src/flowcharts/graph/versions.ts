import type { Queries, Trx } from '../../database/index.ts';
import { stableStringify } from '../../kernel/canonical-json.ts';
import { sha256Hex } from '../../kernel/hash.ts';
import type { Graph } from './model.ts';

export interface GraphText {
  graph_json: string;
  graph_sha256: string;
}

/** The text that a version is kept as. Equal graphs have equal texts. */
export function graphText({ nodes, edges }: Graph): GraphText {
  const graph_json = stableStringify({ nodes, edges });
  return { graph_json, graph_sha256: sha256Hex(graph_json) };
}

/** One version of a graph as it was saved; undefined when there is no such version. */
export async function findGraph(queries: Queries, flowchartId: number, version: number): Promise<Graph | undefined> {
  const row = await queries
    .selectFrom('flowchart_versions')
    .select('graph_json')
    .where('flowchart_id', '=', flowchartId)
    .where('version', '=', version)
    .executeTakeFirst();
  return row && (JSON.parse(row.graph_json) as Graph);
}

export async function addVersion(
  trx: Trx,
  version: { flowchart_id: number; version: number; text: GraphText; created_by: string; now: string },
): Promise<void> {
  const { flowchart_id, text, created_by, now } = version;
  await trx
    .insertInto('flowchart_versions')
    .values({ flowchart_id, version: version.version, ...text, created_by, created_at: now })
    .execute();
  await trx
    .updateTable('flowcharts')
    .set({ graph_version: version.version, updated_at: now })
    .where('id', '=', flowchart_id)
    .execute();
}
