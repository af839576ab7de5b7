import type { Attachment } from '../../attachments/index.ts';
import { FlowrightError } from '../../kernel/errors.ts';
import type { Log } from '../../kernel/log.ts';
import { LlmError } from '../../llm/index.ts';
import type { GraphNode } from '../graph/model.ts';
import {
  type NodeExecution,
  NodeFailure,
  type NodeResult,
  type NodeServices,
  type NodeType,
} from '../nodes/node-type.ts';
import { isDatabaseFault } from './database-fault.ts';
import type { InputContext } from './input-context.ts';
import type { Activation } from './scheduler.ts';

/** A node run that is being executed by this process. */
export interface Flight {
  activation: Activation;
  node: GraphNode;
  node_run_id: number;
  attachments: readonly Attachment[];
  /** Made when somebody listens to it: most nodes answer at once, and a signal is dear. */
  readonly abort: AbortController;
  readonly hasAbort: boolean;
}

export function createFlight(activation: Activation, node: GraphNode, nodeRunId: number): Flight {
  let abort: AbortController | undefined;
  return {
    activation,
    node,
    node_run_id: nodeRunId,
    attachments: [],
    get abort() {
      abort ??= new AbortController();
      return abort;
    },
    get hasAbort() {
      return abort !== undefined;
    },
  };
}

export type Landing = { result: NodeResult } | { failure: NodeFailure };

export interface FlightPlan {
  type: NodeType | undefined;
  run: { id: number; vault_id: string; flowchart_id: number; input: unknown };
  request_id: string;
  correlation_id: string;
  /** Called once, and only by nodes that look at it. */
  input: () => InputContext;
  services: NodeServices;
  log: Log;
}

/** Executes a node, or tells it the answer it waited for. Lands exactly once, and never throws. */
export function fly(flight: Flight, plan: FlightPlan, answer: { value: unknown } | null): Landing | Promise<Landing> {
  const { type } = plan;
  if (!type) {
    const message = `Node ${flight.node.id} is of the type ${flight.node.node_type}, which this program does not know.`;
    return { failure: new NodeFailure('node_type_unknown', message) };
  }
  try {
    const execution = executionOf(flight, plan);
    const result = answer && type.answered ? type.answered(execution, answer.value) : type.execute(execution);
    return result instanceof Promise ? inTime(flight, plan, result) : { result };
  } catch (thrown) {
    return { failure: failureOf(thrown, flight, plan.log) };
  }
}

function executionOf(flight: Flight, plan: FlightPlan): NodeExecution {
  let input: InputContext | undefined;
  return {
    vault_id: plan.run.vault_id,
    flowchart_id: plan.run.flowchart_id,
    run_id: plan.run.id,
    node_run_id: flight.node_run_id,
    execution_index: flight.activation.execution_index,
    run_input: plan.run.input,
    node: flight.node,
    get input() {
      input ??= plan.input();
      return input;
    },
    attachments: flight.attachments,
    request_id: plan.request_id,
    correlation_id: plan.correlation_id,
    get signal() {
      return flight.abort.signal;
    },
    services: plan.services,
  };
}

/** A node that ignores its signal must not hold up the run. */
function inTime(flight: Flight, plan: FlightPlan, work: Promise<NodeResult>): Promise<Landing> {
  const { signal } = flight.abort;
  const seconds = flight.node.config.timeout_seconds;
  return new Promise((land) => {
    const limit =
      typeof seconds === 'number' ? setTimeout(() => flight.abort.abort(timeoutOf(flight)), seconds * 1_000) : null;
    const finish = (landing: Landing): void => {
      if (limit) clearTimeout(limit);
      signal.removeEventListener('abort', onAbort);
      land(landing);
    };
    const onAbort = (): void => finish({ failure: failureOf(signal.reason, flight, plan.log) });
    signal.addEventListener('abort', onAbort, { once: true });
    work.then(
      (result) => finish({ result }),
      (thrown: unknown) => finish({ failure: failureOf(signal.aborted ? signal.reason : thrown, flight, plan.log) }),
    );
  });
}

export function timeoutOf({ node }: Flight): NodeFailure {
  const message = `Node ${node.id} took longer than its timeout_seconds (${node.config.timeout_seconds}).`;
  return new NodeFailure('node_timeout', message);
}

/** What is not ours to tell stays in the log. */
export function failureOf(thrown: unknown, flight: Flight, log: Log): NodeFailure {
  if (thrown instanceof NodeFailure) return thrown;
  if (thrown instanceof LlmError) return new NodeFailure(thrown.code, thrown.message, { cause: thrown });
  if (thrown instanceof FlowrightError && thrown.status < 500) {
    return new NodeFailure(thrown.code, thrown.message, { cause: thrown });
  }
  if (isDatabaseFault(thrown)) {
    return new NodeFailure('database_unavailable', 'The database did not answer.', { cause: thrown });
  }
  if ((thrown as Error | undefined)?.name === 'AbortError')
    return new NodeFailure('canceled', 'The node was canceled.');
  log.error({ node_run_id: flight.node_run_id, error: thrown }, 'a node failed unexpectedly');
  return new NodeFailure(
    'node_error',
    `Node ${flight.node.id} failed unexpectedly. The log of the process says why, under node_run_id ${flight.node_run_id}.`,
  );
}
