import { retentionOf } from '../../artifacts/index.ts';
import type { NodeType, Outcome } from '../nodes/node-type.ts';
import { mergeAttachments } from './build-context.ts';
import type { Flight } from './flight.ts';
import type { PropagatedAttachment } from './input-context.ts';
import type { CompletedNode } from './step.ts';

/** Larger outputs are a coded failure of their node: everything after it would have to carry them. */
const MAX_OUTPUT_CHARACTERS = 1_048_576;

export interface NodeEnd {
  row: CompletedNode;
  output_state: Record<string, unknown>;
  routing_state: Record<string, unknown>;
}

/** What a node run that succeeded leaves in the database: its output once, its artifact, and how long that is kept. */
export function completedNode(
  flight: Flight,
  type: NodeType | undefined,
  outcome: Outcome,
  completedOrder: number,
  correlationId: string | null,
  now: Date,
): NodeEnd | { tooLarge: number } {
  const { node } = flight;
  const output_state: Record<string, unknown> = { node_type: node.node_type, ...outcome.output_state };
  if (node.node_type !== 'start' && node.node_type !== 'end') {
    output_state.attachments = mergeAttachments([flight.attachments.map(propagated), attachmentsIn(output_state)]);
  }
  const output_json = JSON.stringify(output_state);
  if (output_json.length > MAX_OUTPUT_CHARACTERS) return { tooLarge: output_json.length };
  const { config } = node;
  const payload = type?.artifactPayload?.({ ...outcome, output_state });
  return {
    output_state,
    routing_state: outcome.routing_state,
    row: {
      id: flight.node_run_id,
      flowchart_node_id: node.id,
      node_type: node.node_type,
      execution_index: flight.activation.execution_index,
      completed_order: completedOrder,
      output_json,
      routing_json: JSON.stringify(outcome.routing_state),
      degraded_reason: outcome.degraded_reason ?? null,
      artifact: {
        ref_id: outcome.ref_id ?? null,
        ...retentionOf(config, now),
        request_id: textIn(config.request_id),
        correlation_id: textIn(config.correlation_id) ?? correlationId,
        payload_json: payload ? JSON.stringify(payload) : null,
      },
    },
  };
}

function propagated({ id, file_name, content_type, size_bytes }: PropagatedAttachment): PropagatedAttachment {
  return { id, file_name, content_type, size_bytes };
}

function attachmentsIn(output: Readonly<Record<string, unknown>>): PropagatedAttachment[] {
  return Array.isArray(output.attachments) ? (output.attachments as PropagatedAttachment[]) : [];
}

function textIn(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null;
}
