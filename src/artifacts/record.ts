import * as z from 'zod';
import type { NodeArtifactsTable } from '../database/index.ts';

const id = z.int().positive();

/** An artifact as every door sends it. */
export const ArtifactRecord = z
  .strictObject({
    id: id.describe('Id of the artifact'),
    flowchart_id: id.describe('The flowchart it belongs to'),
    flowchart_node_id: id.describe('The node that left it'),
    flowchart_run_id: id.describe('The run in which that happened'),
    flowchart_run_node_id: id.describe('The node run that left it'),
    node_type: z.string().describe('Kind of the node'),
    artifact_type: z.string().describe('Kind of the artifact: the word of the node type'),
    ref_id: z.int().nullable().describe('The plan, milestone or memory it is filed under'),
    execution_index: z.int().describe('Which execution of the node within the run, from 1'),
    variant_key: z.string().describe('Run and node run in one word'),
    retention_mode: z.enum(['forever', 'ttl', 'max_count', 'ttl_max_count']).describe('What ends its life'),
    expires_at: z.string().nullable().describe('When it is gone; null: not by time'),
    request_id: z.string().describe('The request it can be traced to'),
    correlation_id: z.string().describe('What ties several requests together'),
    payload: z.record(z.string(), z.unknown()).describe('What the node left behind; its keys follow the artifact type'),
    contract_version: z.literal('v1').describe('Contract of this record'),
    payload_version: z.literal(1).describe('Contract of the payload'),
    idempotency_key: z.string().describe('The same for every attempt to write it'),
    created_at: z.string().describe('When it was written'),
    updated_at: z.string().describe('The same: an artifact never changes'),
  })
  .meta({ id: 'Artifact' });

export type ArtifactRecord = z.output<typeof ArtifactRecord>;
export type ArtifactRow = Omit<NodeArtifactsTable, 'id'> & { id: number };

/** The ids of a node run for which nobody chose others. */
export function derivedRequestId(runId: number, nodeRunId: number): string {
  return `flowchart-run-${runId}-node-run-${nodeRunId}`;
}

export function derivedCorrelationId(runId: number): string {
  return `flowchart-run-${runId}`;
}

export function artifactRecord(row: ArtifactRow, payload: Record<string, unknown>): ArtifactRecord {
  const { flowchart_run_id: run, flowchart_run_node_id: nodeRun } = row;
  return {
    id: row.id,
    flowchart_id: row.flowchart_id,
    flowchart_node_id: row.flowchart_node_id,
    flowchart_run_id: run,
    flowchart_run_node_id: nodeRun,
    node_type: row.node_type,
    artifact_type: row.artifact_type,
    ref_id: row.ref_id,
    execution_index: row.execution_index,
    variant_key: `run-${run}-node-run-${nodeRun}`,
    retention_mode: row.retention_mode,
    expires_at: row.expires_at,
    request_id: row.request_id ?? derivedRequestId(run, nodeRun),
    correlation_id: row.correlation_id ?? derivedCorrelationId(run),
    payload,
    contract_version: 'v1',
    payload_version: 1,
    idempotency_key: `flowchart_run:${run}:node_run:${nodeRun}:artifact:${row.artifact_type}`,
    created_at: row.created_at,
    updated_at: row.created_at,
  };
}
