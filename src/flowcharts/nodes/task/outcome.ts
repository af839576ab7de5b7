import type { NodeExecution, Outcome } from '../node-type.ts';
import type { TaskConfig } from './config.ts';

type Json = Record<string, unknown>;

/** What every kind of task leaves: its name, its output, and the route that the output names. */
export function taskOutcome(
  { node }: Pick<NodeExecution, 'node'>,
  { task_name }: Pick<TaskConfig, 'task_name'>,
  structured: Json | null,
  output: Json,
): Outcome {
  const route = structured !== null && Object.hasOwn(structured, 'route_key') ? structured.route_key : undefined;
  const route_key = typeof route === 'string' ? route.trim() : '';
  return {
    output_state: { task_name: task_name ?? node.title ?? `Flowchart task node ${node.id}`, ...output },
    routing_state: route_key === '' ? {} : { route_key },
  };
}
