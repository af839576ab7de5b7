import type { SelectQueryBuilder } from 'kysely';
import type { Queries, Schema } from '../database/index.ts';
import { readSources } from './context-references.ts';
import { parseObject, readNodeRuns, readStates } from './node-run-state.ts';
import { type ArtifactRecord, type ArtifactRow, artifactRecord } from './record.ts';

type Json = Record<string, unknown>;

export interface ArtifactFilter {
  artifact_id?: number | undefined;
  artifact_type?: string | undefined;
  node_type?: string | undefined;
  flowchart_id?: number | undefined;
  flowchart_node_id?: number | undefined;
  flowchart_run_id?: number | undefined;
  flowchart_run_node_id?: number | undefined;
  ref_id?: number | undefined;
  trace_request_id?: string | undefined;
  trace_correlation_id?: string | undefined;
}

export interface ArtifactPage {
  items: ArtifactRecord[];
  total: number;
}

interface PageRequest {
  vault_id: string;
  order?: 'asc' | 'desc';
  limit: number;
  offset: number;
  /** What has expired by now is not shown, whether it was swept already or not. */
  now: string;
}

/** What runs left behind for one plan, milestone or memory, newest first. */
export function artifactHistory(
  queries: Queries,
  request: { vault_id: string; artifact_type: string; ref_id: number; limit: number; offset: number; now: string },
): Promise<ArtifactPage> {
  const { artifact_type, ref_id, ...page } = request;
  return listArtifacts(queries, { artifact_type, ref_id }, page);
}

export async function listArtifacts(
  queries: Queries,
  filter: ArtifactFilter,
  { vault_id, order = 'desc', limit, offset, now }: PageRequest,
): Promise<ArtifactPage> {
  const matching = matchingArtifacts(queries, filter, vault_id, now);
  const rows = await matching.selectAll('artifact').orderBy('artifact.id', order).limit(limit).offset(offset).execute();
  const { total } = await matching
    .select((expression) => expression.fn.countAll<number | string>().as('total'))
    .executeTakeFirstOrThrow();
  return { items: await hydrateArtifacts(queries, rows), total: Number(total) };
}

/** The artifact, unless it is not there, has expired or belongs to another vault, which all answer the same. */
export async function findArtifact(
  queries: Queries,
  filter: ArtifactFilter & { artifact_id: number },
  where: { vault_id: string; now: string },
): Promise<ArtifactRecord | undefined> {
  const { items } = await listArtifacts(queries, filter, { ...where, limit: 1, offset: 0 });
  return items[0];
}

type Matching = SelectQueryBuilder<
  Schema & { artifact: Schema['node_artifacts']; run: Schema['flowchart_runs'] },
  'artifact' | 'run',
  object
>;

const COLUMNS = ['artifact_type', 'node_type', 'flowchart_id', 'flowchart_node_id', 'ref_id'] as const;

function matchingArtifacts(queries: Queries, filter: ArtifactFilter, vaultId: string, now: string): Matching {
  let query = queries
    .selectFrom('node_artifacts as artifact')
    .innerJoin('flowchart_runs as run', 'run.id', 'artifact.flowchart_run_id')
    .where('run.vault_id', '=', vaultId)
    .where((or) => or.or([or('artifact.expires_at', 'is', null), or('artifact.expires_at', '>', now)]));
  if (filter.artifact_id !== undefined) query = query.where('artifact.id', '=', filter.artifact_id);
  if (filter.flowchart_run_node_id !== undefined) query = query.where('artifact.id', '=', filter.flowchart_run_node_id);
  const { flowchart_run_id: ofRun } = filter;
  if (ofRun !== undefined) {
    // An artifact has the number of its node run, and those are found by run.
    query = query.where('artifact.id', 'in', (nodeRuns) =>
      nodeRuns.selectFrom('flowchart_run_nodes').select('id').where('flowchart_run_id', '=', ofRun),
    );
  }
  for (const column of COLUMNS) {
    const wanted = filter[column];
    if (wanted !== undefined) query = query.where(`artifact.${column}`, '=', wanted);
  }
  const { trace_request_id: request, trace_correlation_id: correlation } = filter;
  if (request !== undefined) {
    // An id that nobody chose is not stored; it is told from its form.
    const [, run, nodeRun] = /^flowchart-run-(\d{1,15})-node-run-(\d{1,15})$/.exec(request) ?? [];
    query = query.where((or) =>
      or.or([
        or('artifact.request_id', '=', request),
        or.and([
          or('artifact.request_id', 'is', null),
          or('artifact.flowchart_run_id', '=', Number(run ?? 0)),
          or('artifact.id', '=', Number(nodeRun ?? 0)),
        ]),
      ]),
    );
  }
  if (correlation !== undefined) {
    const [, run] = /^flowchart-run-(\d{1,15})$/.exec(correlation) ?? [];
    query = query.where((or) =>
      or.or([
        or('artifact.correlation_id', '=', correlation),
        or.and([or('artifact.correlation_id', 'is', null), or('artifact.flowchart_run_id', '=', Number(run ?? 0))]),
      ]),
    );
  }
  return query as unknown as Matching;
}

/** Rows as they are sent. A payload that would only repeat the node run is made from it here. */
export async function hydrateArtifacts(queries: Queries, rows: readonly ArtifactRow[]): Promise<ArtifactRecord[]> {
  const bare = rows.filter(({ payload_json }) => payload_json === null);
  const payloads = bare.length > 0 ? await payloadsFromNodeRuns(queries, bare) : new Map<number, Json>();
  return rows.map((row) =>
    artifactRecord(row, parseObject(row.payload_json) ?? payloads.get(row.flowchart_run_node_id) ?? {}),
  );
}

async function payloadsFromNodeRuns(queries: Queries, rows: readonly ArtifactRow[]): Promise<Map<number, Json>> {
  const nodeRuns = await readNodeRuns(
    queries,
    rows.map((row) => row.flowchart_run_node_id),
  );
  const runs = await queries
    .selectFrom('flowchart_runs')
    .select(['id', 'flowchart_id', 'graph_version'])
    .where('id', 'in', [...new Set(rows.map((row) => row.flowchart_run_id))])
    .execute();
  const runById = new Map(runs.map((run) => [run.id, run]));
  const states = await readStates(queries, nodeRuns);
  const sources = await readSources(
    queries,
    nodeRuns.flatMap(({ id, input_context_json, flowchart_run_id }) => {
      const run = runById.get(flowchart_run_id);
      if (!run) return [];
      return [{ id, input_context_json, flowchart_id: run.flowchart_id, graph_version: run.graph_version }];
    }),
  );
  return new Map(
    nodeRuns.map(({ id, node_type }) => [
      id,
      {
        node_type,
        input_context: sources.get(id) ?? {},
        output_state: states.get(id)?.output_state ?? {},
        routing_state: states.get(id)?.routing_state ?? {},
      },
    ]),
  );
}
