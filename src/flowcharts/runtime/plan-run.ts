import type { Queries } from '../../database/index.ts';
import { badRequest, refusal } from '../../kernel/errors.ts';
import { findFlowchart } from '../graph/flowchart-store.ts';
import { graphOf, judgeGraph } from '../graph/graph-answer.ts';
import type { Validation } from '../graph/validation.ts';
import { NodeFailure } from '../nodes/node-type.ts';
import { MAX_DEPTH } from './limits.ts';
import type { NewRun } from './new-run.ts';
import type { RunRow } from './walk-services.ts';

export interface RunWish {
  vault_id: string;
  flowchart_id: number;
  start_node_id: number | null;
  input: unknown;
  started_by: string;
  started_as: NewRun['started_as'];
  request_id: string | null;
  correlation_id: string | null;
}

/** A run of the flowchart as it is now. A graph that is not valid is refused with every reason. */
export async function planRun(queries: Queries, wish: RunWish): Promise<{ run: NewRun; validation: Validation }> {
  const flowchart = await findFlowchart(queries, wish.vault_id, wish.flowchart_id);
  const graph = await graphOf(queries, flowchart.id, flowchart.graph_version);
  const validation = await judgeGraph(queries, { id: flowchart.id, vault_id: wish.vault_id }, graph);
  if (!validation.valid) {
    const first = validation.errors[0]?.message ?? 'its graph is not valid';
    const rest = validation.errors.length > 1 ? ` (and ${validation.errors.length - 1} more)` : '';
    throw refusal('FLOWCHART_INVALID', `Flowchart ${flowchart.id} cannot run: ${first}${rest}`, {
      errors: validation.errors,
      validation,
    });
  }
  if (wish.start_node_id !== null && !graph.nodes.some(({ id }) => id === wish.start_node_id)) {
    const message = `is not a node of flowchart ${flowchart.id}`;
    throw badRequest([{ code: 'start_node_unknown', message, path: '/start_node_id' }], 'flowchart.run');
  }
  const run: NewRun = {
    vault_id: wish.vault_id,
    flowchart_id: flowchart.id,
    graph_version: flowchart.graph_version,
    entry_node_id: wish.start_node_id,
    input_json: wish.input === null || wish.input === undefined ? null : JSON.stringify(wish.input),
    trigger_source: 'manual',
    started_by: wish.started_by,
    started_as: wish.started_as,
    max_node_executions: flowchart.max_node_executions,
    max_runtime_minutes: flowchart.max_runtime_minutes,
    max_parallel_nodes: flowchart.max_parallel_nodes,
    request_id: wish.request_id,
    correlation_id: wish.correlation_id,
  };
  return { run, validation };
}

/** A subflow runs as the flowchart that it names is now, on behalf of whoever started the run above it. */
export async function planSubflow(
  queries: Queries,
  parent: RunRow,
  nodeRunId: number,
  flowchartId: number,
  input: unknown,
): Promise<NewRun> {
  const depth = parent.depth + 1;
  if (depth > MAX_DEPTH) {
    throw new NodeFailure('subflow_too_deep', `Subflows may be ${MAX_DEPTH} deep; this one would be deeper.`);
  }
  const { run } = await planRun(queries, {
    vault_id: parent.vault_id,
    flowchart_id: flowchartId,
    start_node_id: null,
    input,
    started_by: parent.started_by,
    started_as: parent.started_as,
    request_id: parent.request_id,
    correlation_id: parent.correlation_id,
  });
  return { ...run, trigger_source: 'subflow', parent_run_id: parent.id, parent_node_run_id: nodeRunId, depth };
}
