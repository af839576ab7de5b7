import { inertLine, textTable } from '../../kernel/terminal.ts';
import type { FlowchartRun, NodeRun } from './run-record.ts';

export function runTable({ items, total_count }: { items: FlowchartRun[]; total_count: number }): string {
  if (items.length === 0) return 'No runs yet. Start one with `flowright flowchart run <flowchart_id>`.';
  const rows = items.map((run) => [
    String(run.id),
    String(run.flowchart_id),
    run.status,
    `${run.completions}/${run.executions}`,
    run.warning_count > 0 ? String(run.warning_count) : '',
    run.started_by,
    run.created_at,
    took(run.started_at, run.finished_at),
  ]);
  const table = textTable(['RUN', 'FLOWCHART', 'STATUS', 'NODES', 'WARNINGS', 'BY', 'CREATED', 'TOOK'], rows);
  return `${table}\n${items.length} shown, ${total_count} in all`;
}

export function nodeRunTable(nodeRuns: readonly NodeRun[]): string {
  const rows = nodeRuns.map((nodeRun) => [
    String(nodeRun.sequence),
    String(nodeRun.id),
    nodeName(nodeRun),
    nodeRun.node_type,
    statusText(nodeRun),
    took(nodeRun.started_at, nodeRun.finished_at),
    nodeRun.error ?? '',
  ]);
  return textTable(['#', 'NODE RUN', 'NODE', 'TYPE', 'STATUS', 'TOOK', 'ERROR'], rows);
}

function statusText({ status, degraded_status, degraded_reason, reused_from_id }: NodeRun): string {
  const notes = [
    ...(degraded_status ? [degraded_reason] : []),
    ...(reused_from_id === null ? [] : [`reused from node run ${reused_from_id}`]),
  ];
  return notes.length === 0 ? status : `${status} (${notes.join('; ')})`;
}

/** What people call a node: its title, or else its kind and its id. */
export function nodeName(node: { node_title: string | null; node_type: string; flowchart_node_id: number }): string {
  return node.node_title || `${node.node_type} ${node.flowchart_node_id}`;
}

export function runCard(run: FlowchartRun, name: string): string[] {
  return [
    `run ${run.id} of ${inertLine(name)} (flowchart ${run.flowchart_id}, version ${run.graph_version}): ${run.status}`,
    `started by ${inertLine(run.started_by)}, ${run.started_at ?? 'not yet'}${run.finished_at ? `, finished ${run.finished_at}` : ''}`,
    ...(run.replayed_from_run_id === null
      ? []
      : [`repeats run ${run.replayed_from_run_id}${run.replay_action ? ` (${inertLine(run.replay_action)})` : ''}`]),
    ...(run.error ? [`error: ${inertLine(run.error)} (${run.error_code ?? ''})`] : []),
    ...run.warnings.map((warning) => `warning: ${inertLine(warningText(warning))}`),
  ];
}

export function warningText(warning: Record<string, unknown>): string {
  const code = typeof warning.code === 'string' ? `${warning.code}: ` : '';
  return `${code}${String(warning.message ?? JSON.stringify(warning))}`;
}

export function took(startedAt: string | null, finishedAt: string | null): string {
  if (startedAt === null || finishedAt === null) return '';
  return duration(Date.parse(finishedAt) - Date.parse(startedAt));
}

export function duration(milliseconds: number): string {
  if (milliseconds < 1_000) return `${Math.max(0, Math.round(milliseconds))} ms`;
  const seconds = milliseconds / 1_000;
  if (seconds < 60) return `${seconds.toFixed(1)} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min ${Math.floor(seconds % 60)} s`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}
