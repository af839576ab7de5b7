import type { EdgeMode } from '../../database/index.ts';
import type { CompiledGraph } from './compiled-graph.ts';
import type { ContextEntry, ContextSource, InputContext, PropagatedAttachment } from './input-context.ts';
import type { Output } from './outputs.ts';
import type { Activation, Reference } from './scheduler.ts';

/** What an activation is given, with the outputs it refers to. Pure. */
export function buildContext(
  graph: CompiledGraph,
  run: { id: number; flowchart_id: number },
  activation: Activation,
  outputs: ReadonlyMap<number, Output>,
): InputContext {
  const entries = (references: readonly Reference[], mode: EdgeMode) =>
    references.flatMap((reference) => entryOf(graph, reference, mode, outputs));
  const upstream = entries(activation.upstream, 'solid');
  const dotted = entries(activation.dotted, 'dotted');
  const dashed = entries(activation.dashed, 'dashed');
  const dottedSources = dotted.map(sourceOf);
  const dashedSources = dashed.map(sourceOf);
  return {
    flowchart: { id: run.flowchart_id, run_id: run.id, total_execution_count: activation.sequence },
    node: {
      id: activation.node_id,
      type: graph.nodes.get(activation.node_id)?.node_type ?? '',
      execution_index: activation.execution_index,
    },
    upstream_nodes: upstream,
    latest_upstream: latestOf(upstream),
    context_only_upstream_nodes: dotted,
    dotted_upstream_nodes: dotted,
    attachment_only_upstream_nodes: dashed,
    trigger_sources: upstream.map(sourceOf),
    context_only_sources: dottedSources,
    pulled_dotted_sources: dottedSources,
    attachment_only_sources: dashedSources,
    pulled_attachment_sources: dashedSources,
    context_only_source_count: dotted.length,
    attachment_only_source_count: dashed.length,
    propagated_attachments: mergeAttachments(
      [...upstream, ...dashed].map((entry) => attachmentsIn(entry.output_state)),
    ),
  };
}

/** Solid and dashed connectors carry files; dotted ones do not. */
export function propagatedAttachments(
  activation: Activation,
  outputs: ReadonlyMap<number, Output>,
): PropagatedAttachment[] {
  const lists: PropagatedAttachment[][] = [];
  for (const { sequence } of [...activation.upstream, ...activation.dashed]) {
    const list = attachmentsIn(outputs.get(sequence)?.output_state ?? {});
    if (list.length > 0) lists.push(list);
  }
  return mergeAttachments(lists);
}

/** Each once, in the order in which they come. */
export function mergeAttachments(lists: readonly (readonly PropagatedAttachment[])[]): PropagatedAttachment[] {
  const merged = new Map<number, PropagatedAttachment>();
  for (const list of lists)
    for (const attachment of list) if (!merged.has(attachment.id)) merged.set(attachment.id, attachment);
  return [...merged.values()];
}

function attachmentsIn(output: Readonly<Record<string, unknown>>): PropagatedAttachment[] {
  return Array.isArray(output.attachments) ? (output.attachments as PropagatedAttachment[]) : [];
}

function entryOf(
  graph: CompiledGraph,
  { sequence, edge_id }: Reference,
  edge_mode: EdgeMode,
  outputs: ReadonlyMap<number, Output>,
): ContextEntry[] {
  const output = outputs.get(sequence);
  if (!output) return [];
  const isDashed = edge_mode === 'dashed';
  return [
    {
      node_id: output.node_id,
      node_run_id: output.node_run_id,
      source_edge_id: edge_id,
      node_type: output.node_type,
      condition_key: graph.edges.get(edge_id)?.condition_key ?? null,
      execution_index: output.execution_index,
      output_state: isDashed ? { attachments: attachmentsIn(output.output_state) } : output.output_state,
      routing_state: isDashed ? {} : output.routing_state,
      sequence,
      edge_mode,
    },
  ];
}

export function sourceOf(entry: ContextEntry): ContextSource {
  return {
    source_edge_id: entry.source_edge_id,
    source_node_id: entry.node_id,
    source_node_type: entry.node_type,
    condition_key: entry.condition_key,
    execution_index: entry.execution_index,
    sequence: entry.sequence,
    edge_mode: entry.edge_mode,
  };
}

/** The first of those with the highest sequence. */
export function latestOf(entries: readonly ContextEntry[]): ContextEntry | null {
  let latest: ContextEntry | null = null;
  for (const entry of entries) if (!latest || entry.sequence > latest.sequence) latest = entry;
  return latest;
}
