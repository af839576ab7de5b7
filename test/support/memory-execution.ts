import type { Database } from '../../src/database/index.ts';
import type { GraphNode } from '../../src/flowcharts/graph/model.ts';
import type { NodeExecution, NodeServices, NodeType, Outcome } from '../../src/flowcharts/nodes/node-type.ts';
import type { InputContext } from '../../src/flowcharts/runtime/input-context.ts';
import { executionOf, graphNode, inputContext } from './node-execution.ts';

export interface MemoryExecution {
  vault_id?: string;
  node?: Partial<GraphNode>;
  input?: Partial<InputContext>;
  signal?: AbortSignal;
  services?: Partial<NodeServices>;
}

/** One node run on a real database. */
export function nodeExecution(database: Database, type: NodeType, options: MemoryExecution = {}): NodeExecution {
  const execution = executionOf({ ...graphNode(type.name), id: 2, ...options.node }, { database });
  return {
    ...execution,
    vault_id: options.vault_id ?? 'default',
    input: inputContext(options.input),
    signal: options.signal ?? execution.signal,
    services: { ...execution.services, ...options.services },
  };
}

/** Executes and commits, as the engine does; a wait is not expected. */
export async function outcomeOf(execution: NodeExecution, type: NodeType): Promise<Outcome> {
  const result = await type.execute(execution);
  if ('done' in result) return result.done;
  if ('commit' in result) return execution.services.database.transaction((trx) => result.commit(trx));
  throw new Error('the node waits');
}
