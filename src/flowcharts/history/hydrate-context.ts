import {
  type ContextReferences,
  type NodeRunRow,
  type NodeRunState,
  parseReferences,
  type Reference,
  readNodeRuns,
  readStates,
} from '../../artifacts/index.ts';
import type { EdgeMode, Queries } from '../../database/index.ts';
import type { Graph } from '../graph/model.ts';
import { latestOf, sourceOf } from '../runtime/build-context.ts';
import type { ContextEntry, InputContext, PropagatedAttachment } from '../runtime/input-context.ts';
import { excerptOf } from './excerpt.ts';

/** However many node runs led to it, what is shown of them stays within this. */
export const CONTEXT_BYTES = 65_536;

type Json = Record<string, unknown>;

/** As the node was given it, with excerpts of outputs; `omitted` says how many entries did not fit. */
export type ShownContext = InputContext & { omitted?: number };

interface SourceRun extends NodeRunState {
  row: NodeRunRow;
}

/** The input context of a node run, made anew from the references that are stored. */
export async function hydrateContext(
  queries: Queries,
  run: { id: number; flowchart_id: number },
  row: NodeRunRow,
  graph: Graph,
): Promise<ShownContext> {
  const references = parseReferences(row.input_context_json);
  const { upstream, dotted, dashed } = references;
  const rows = await readNodeRuns(
    queries,
    [...upstream, ...dotted, ...dashed].map(([nodeRunId]) => nodeRunId),
  );
  const states = await readStates(queries, rows);
  const sources = new Map(
    rows.map((source) => [
      source.id,
      {
        row: source,
        output_state: states.get(source.id)?.output_state ?? null,
        routing_state: states.get(source.id)?.routing_state ?? null,
      },
    ]),
  );
  return contextOf(run, row, references, graph, sources);
}

/** Pure: references and what they point at become the shape that nodes are given. */
export function contextOf(
  run: { id: number; flowchart_id: number },
  row: Pick<NodeRunRow, 'flowchart_node_id' | 'node_type' | 'execution_index'>,
  references: ContextReferences,
  graph: Graph,
  sources: ReadonlyMap<number, SourceRun>,
): ShownContext {
  const conditions = new Map(graph.edges.map((edge) => [edge.id, edge.condition_key]));
  const entries = (list: readonly Reference[], mode: EdgeMode): ContextEntry[] =>
    list.flatMap(([nodeRunId, edgeId]) => {
      const source = sources.get(nodeRunId);
      return source ? [entryOf(source, edgeId, conditions.get(edgeId) ?? null, mode)] : [];
    });
  const all = {
    upstream: entries(references.upstream, 'solid'),
    dotted: entries(references.dotted, 'dotted'),
    dashed: entries(references.dashed, 'dashed'),
  };
  const files = attachmentsOf(references, sources);
  return withinBounds(all, (shown, omitted) => ({
    flowchart: { id: run.flowchart_id, run_id: run.id, total_execution_count: references.total },
    node: { id: row.flowchart_node_id, type: row.node_type, execution_index: row.execution_index },
    upstream_nodes: shown.upstream,
    latest_upstream: latestOf(shown.upstream),
    context_only_upstream_nodes: shown.dotted,
    dotted_upstream_nodes: shown.dotted,
    attachment_only_upstream_nodes: shown.dashed,
    trigger_sources: shown.upstream.map(sourceOf),
    context_only_sources: shown.dotted.map(sourceOf),
    pulled_dotted_sources: shown.dotted.map(sourceOf),
    attachment_only_sources: shown.dashed.map(sourceOf),
    pulled_attachment_sources: shown.dashed.map(sourceOf),
    context_only_source_count: all.dotted.length,
    attachment_only_source_count: all.dashed.length,
    propagated_attachments: files,
    ...(omitted > 0 ? { omitted } : {}),
  }));
}

interface Entries {
  upstream: ContextEntry[];
  dotted: ContextEntry[];
  dashed: ContextEntry[];
}

/** Excerpts first, then excerpts that are a word, then fewer entries: the newest stay. */
function withinBounds(all: Entries, make: (shown: Entries, omitted: number) => ShownContext): ShownContext {
  const count = all.upstream.length + all.dotted.length + all.dashed.length;
  const fits = (context: ShownContext): boolean => Buffer.byteLength(JSON.stringify(context), 'utf8') <= CONTEXT_BYTES;
  const whole = make(all, 0);
  if (fits(whole)) return whole;
  const bare = mapEntries(all, (entry) => ({
    ...entry,
    output_state: { truncated: true, excerpt: '' },
    routing_state: {},
  }));
  for (let keep = count; keep > 0; keep = Math.floor(keep / 2)) {
    const shown = {
      upstream: newest(bare.upstream, keep),
      dotted: newest(bare.dotted, keep),
      dashed: newest(bare.dashed, keep),
    };
    const left = shown.upstream.length + shown.dotted.length + shown.dashed.length;
    const context = make(shown, count - left);
    if (fits(context)) return context;
  }
  return { ...make({ upstream: [], dotted: [], dashed: [] }, count), propagated_attachments: [] };
}

function mapEntries(all: Entries, change: (entry: ContextEntry) => ContextEntry): Entries {
  return { upstream: all.upstream.map(change), dotted: all.dotted.map(change), dashed: all.dashed.map(change) };
}

function newest(entries: ContextEntry[], keep: number): ContextEntry[] {
  if (entries.length <= keep) return entries;
  const kept = new Set([...entries].sort((left, right) => right.sequence - left.sequence).slice(0, keep));
  return entries.filter((entry) => kept.has(entry));
}

function entryOf(source: SourceRun, edgeId: number, condition_key: string | null, edge_mode: EdgeMode): ContextEntry {
  const { row } = source;
  const output = source.output_state ?? {};
  const isDashed = edge_mode === 'dashed';
  return {
    node_id: row.flowchart_node_id,
    node_run_id: row.id,
    source_edge_id: edgeId,
    node_type: row.node_type,
    condition_key,
    execution_index: row.execution_index,
    // Of a dashed connector nothing but files comes through, here as in the run.
    output_state: excerptOf<Json>(isDashed ? { attachments: output.attachments ?? [] } : output),
    routing_state: isDashed ? {} : excerptOf<Json>(source.routing_state ?? {}),
    sequence: row.sequence,
    edge_mode,
  };
}

/** Solid and dashed connectors carry files; each file once, in the order in which it came. */
function attachmentsOf(
  { upstream, dashed }: ContextReferences,
  sources: ReadonlyMap<number, SourceRun>,
): PropagatedAttachment[] {
  const files = new Map<number, PropagatedAttachment>();
  for (const [nodeRunId] of [...upstream, ...dashed]) {
    const carried = sources.get(nodeRunId)?.output_state?.attachments;
    for (const file of Array.isArray(carried) ? (carried as Partial<PropagatedAttachment>[]) : []) {
      if (typeof file?.id !== 'number' || files.has(file.id)) continue;
      files.set(file.id, {
        id: file.id,
        file_name: String(file.file_name ?? ''),
        content_type: String(file.content_type ?? ''),
        size_bytes: Number(file.size_bytes ?? 0),
      });
    }
  }
  return [...files.values()];
}
