import type { EdgeMode, Queries } from '../database/index.ts';
import { inChunks, parseObject } from './node-run-state.ts';

/** Node run and edge, in the order in which they were given. */
export type Reference = readonly [nodeRunId: number, edgeId: number];

/** What is stored of an input context: where it came from, never what it held. */
export interface ContextReferences {
  upstream: Reference[];
  dotted: Reference[];
  dashed: Reference[];
  /** Node runs of the run when it was made. */
  total: number;
}

/** One place that an input came from. */
export interface ContextSource {
  source_edge_id: number;
  source_node_id: number;
  source_node_type: string;
  condition_key: string | null;
  execution_index: number;
  sequence: number;
  edge_mode: EdgeMode;
}

export interface ContextSources {
  trigger_sources: ContextSource[];
  context_only_sources: ContextSource[];
  attachment_only_sources: ContextSource[];
}

interface SourceNodeRun {
  id: number;
  flowchart_node_id: number;
  node_type: string;
  execution_index: number;
  sequence: number;
}

/** Which graph a run walks. */
export interface GraphVersion {
  flowchart_id: number;
  graph_version: number;
}

interface ReferringNodeRun {
  id: number;
  input_context_json: string;
}

export function parseReferences(text: string): ContextReferences {
  const stored = parseObject(text) ?? {};
  const list = (value: unknown): Reference[] => (Array.isArray(value) ? (value as Reference[]) : []);
  return {
    upstream: list(stored.upstream),
    dotted: list(stored.dotted),
    dashed: list(stored.dashed),
    total: typeof stored.total === 'number' ? stored.total : 0,
  };
}

/** The sources of each node run, looked up together: one read of graphs and one of node runs, however many there are. */
export async function readSources(
  queries: Queries,
  nodeRuns: readonly (ReferringNodeRun & GraphVersion)[],
): Promise<Map<number, ContextSources>> {
  const parsed = nodeRuns.map((row) => ({ row, references: parseReferences(row.input_context_json) }));
  const conditions = await readConditions(queries, nodeRuns);
  const wanted = parsed.flatMap(({ references: { upstream, dotted, dashed } }) =>
    [...upstream, ...dotted, ...dashed].map(([nodeRun]) => nodeRun),
  );
  const sources = new Map((await readSourceNodeRuns(queries, wanted)).map((row) => [row.id, row]));
  return new Map(
    parsed.map(({ row, references }) => {
      const edges = conditions.get(versionKey(row));
      const of = (list: readonly Reference[], edge_mode: EdgeMode) =>
        list.flatMap(([nodeRunId, edgeId]) => {
          const source = sources.get(nodeRunId);
          return source ? [sourceOf(source, edgeId, edges?.get(edgeId) ?? null, edge_mode)] : [];
        });
      return [
        row.id,
        {
          trigger_sources: of(references.upstream, 'solid'),
          context_only_sources: of(references.dotted, 'dotted'),
          attachment_only_sources: of(references.dashed, 'dashed'),
        },
      ];
    }),
  );
}

function sourceOf(row: SourceNodeRun, edgeId: number, condition_key: string | null, edge_mode: EdgeMode) {
  return {
    source_edge_id: edgeId,
    source_node_id: row.flowchart_node_id,
    source_node_type: row.node_type,
    condition_key,
    execution_index: row.execution_index,
    sequence: row.sequence,
    edge_mode,
  };
}

function readSourceNodeRuns(queries: Queries, ids: readonly number[]): Promise<SourceNodeRun[]> {
  return inChunks([...new Set(ids)], (chunk) =>
    queries
      .selectFrom('flowchart_run_nodes')
      .select(['id', 'flowchart_node_id', 'node_type', 'execution_index', 'sequence'])
      .where('id', 'in', chunk)
      .execute(),
  );
}

function versionKey({ flowchart_id, graph_version }: GraphVersion): string {
  return `${flowchart_id}:${graph_version}`;
}

/** condition_key by edge, for each graph version that is named. */
async function readConditions(
  queries: Queries,
  rows: readonly GraphVersion[],
): Promise<Map<string, Map<number, string | null>>> {
  const conditions = new Map<string, Map<number, string | null>>();
  for (const row of rows) {
    if (conditions.has(versionKey(row))) continue;
    const version = await queries
      .selectFrom('flowchart_versions')
      .select('graph_json')
      .where('flowchart_id', '=', row.flowchart_id)
      .where('version', '=', row.graph_version)
      .executeTakeFirst();
    const { edges = [] } = JSON.parse(version?.graph_json ?? '{}') as {
      edges?: { id: number; condition_key?: string | null }[];
    };
    conditions.set(versionKey(row), new Map(edges.map((edge) => [edge.id, edge.condition_key ?? null])));
  }
  return conditions;
}
