import { NodeFailure, type NodeType, type Outcome } from '../node-type.ts';
import { inspector, normaliseConfig } from './config.ts';

type Json = Record<string, unknown>;

/**
 * Runs another flowchart. It waits for that run and hands on its output, unless config.wait is false: then the engine
 * completes it at once with the run that was started.
 */
export const flowchartNode: NodeType = {
  name: 'flowchart',
  binds: { ref: 'required', mcp: false, attachments: true },
  normaliseConfig,
  inspector,
  execute: ({ node, input }) => {
    if (node.ref_id === null) {
      throw new NodeFailure('missing_ref_id', 'The node names no flowchart to run. Choose one and save the graph.');
    }
    const given = node.config.input ?? input.latest_upstream?.output_state ?? null;
    return { wait: { for: 'run', flowchart_id: node.ref_id, input: given } };
  },
  answered: ({ node }, answer) => ({ done: outcomeOf(node.ref_id, answer) }),
};

/** The answer tells how the other run ended: {flowchart_run_id, flowchart_name?, status, output?, error?}. */
function outcomeOf(flowchartId: number | null, answer: unknown): Outcome {
  const told: Json = answer !== null && typeof answer === 'object' ? (answer as Json) : {};
  const runId = told.flowchart_run_id ?? null;
  const status = typeof told.status === 'string' ? told.status : 'completed';
  if (status === 'failed' || status === 'canceled' || status === 'stopped') {
    const reason = typeof told.error === 'string' && told.error !== '' ? `: ${told.error}` : '.';
    throw new NodeFailure('subflow_failed', `Run ${runId} of flowchart ${flowchartId} ended as ${status}${reason}`);
  }
  const output = told.output ?? null;
  const isObject = output !== null && typeof output === 'object' && !Array.isArray(output);
  return {
    output_state: {
      triggered_flowchart_id: flowchartId,
      triggered_flowchart_name: told.flowchart_name ?? null,
      triggered_flowchart_run_id: runId,
      message: status === 'completed' ? `Run ${runId} has completed.` : `Run ${runId} was started.`,
      output,
      ...(isObject ? { structured_output: (output as Json).structured_output ?? output } : {}),
    },
    routing_state: {},
  };
}
