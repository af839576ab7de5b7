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

/** Texts of this many characters in all are kept parsed. */
const KEPT_CHARACTERS = 8_000_000;
/** Parsed graphs by the hash of their text, the one used last at the end. Nobody changes them. */
const kept = new Map<string, { graph: Graph; size: number }>();
let keptSize = 0;

/** One version of a graph as it was saved; undefined when there is no such version. */
export async function findGraph(queries: Queries, flowchartId: number, version: number): Promise<Graph | undefined> {
  const ofVersion = queries
    .selectFrom('flowchart_versions')
    .where('flowchart_id', '=', flowchartId)
    .where('version', '=', version);
  const known = await ofVersion.select('graph_sha256').executeTakeFirst();
  if (!known) return undefined;
  const there = kept.get(known.graph_sha256);
  if (there) {
    kept.delete(known.graph_sha256);
    kept.set(known.graph_sha256, there);
    return there.graph;
  }
  const row = await ofVersion.select('graph_json').executeTakeFirst();
  return row && keep(known.graph_sha256, row.graph_json);
}

function keep(sha256: string, text: string): Graph {
  const graph = JSON.parse(text) as Graph;
  kept.set(sha256, { graph, size: text.length });
  keptSize += text.length;
  for (const [oldest, { size }] of kept) {
    if (keptSize <= KEPT_CHARACTERS) break;
    kept.delete(oldest);
    keptSize -= size;
  }
  return graph;
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
