/** No run, with those before it that led back to the start, executes more nodes than this. */
export const MAX_EXECUTIONS = 10_000;
/** No subflow lies deeper than this. */
export const MAX_DEPTH = 8;

const MINUTE_MS = 60_000;

export interface Limits {
  /** Node runs of the runs before it that led back to the start. */
  executions_before: number;
  max_node_executions: number | null;
  max_runtime_minutes: number | null;
}

export interface GuardRail {
  error: string;
  error_code: string;
}

/** Whether the activation with this number may start. */
export function executionGuard(sequence: number, limits: Limits): GuardRail | null {
  const { max_node_executions: maximum } = limits;
  const count = sequence + limits.executions_before;
  if (maximum !== null && count > maximum) {
    return {
      error_code: 'max_node_executions',
      error: `The run has reached max_node_executions (${maximum}). Raise it on the flowchart if the run is meant to go on.`,
    };
  }
  if (count <= MAX_EXECUTIONS) return null;
  return {
    error_code: 'execution_limit',
    error: `The run has reached the safety limit of ${MAX_EXECUTIONS} node executions. Look for a loop that never ends.`,
  };
}

export function runtimeGuard(activeMs: number, limits: Limits): GuardRail | null {
  const { max_runtime_minutes: minutes } = limits;
  if (minutes === null || activeMs <= minutes * MINUTE_MS) return null;
  return {
    error_code: 'max_runtime_minutes',
    error: `The run has worked for longer than max_runtime_minutes (${minutes}). Time in which it waits for people does not count.`,
  };
}

export function runtimeLeft(activeMs: number, limits: Limits): number | null {
  return limits.max_runtime_minutes === null ? null : limits.max_runtime_minutes * MINUTE_MS - activeMs;
}
