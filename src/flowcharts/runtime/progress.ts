import { NodeFailure, type Outcome as NodeOutcome } from '../nodes/node-type.ts';
import type { CompiledGraph } from './compiled-graph.ts';
import { completedNode } from './completed-node.ts';
import type { Draft } from './draft.ts';
import type { Flight } from './flight.ts';
import type { Wait } from './flights.ts';
import { executionGuard } from './limits.ts';
import type { NewRun } from './new-run.ts';
import type { Outputs } from './outputs.ts';
import { type RecordedNodeRun, type RestoredSchedule, restoreSchedule } from './restore.ts';
import { runEvent } from './run-events.ts';
import { type Activation, type Outcome, type Reference, succeed } from './scheduler.ts';
import type { StartingNode } from './step.ts';
import type { RunRow, WalkServices } from './walk-services.ts';

/**
 * How far a run has come: what it has completed, what waits, what is ready to start. Landings are absorbed into a draft
 * of the next step; from then on the draft must be committed, or this be thrown away and restored.
 */
export class Progress {
  readonly #run: RunRow;
  readonly #graph: CompiledGraph;
  readonly #services: WalkServices;
  readonly #outputs: Outputs;
  readonly #schedule: RestoredSchedule;
  /** By node run: what waits for a person or a subflow. */
  readonly waiting = new Map<number, Activation>();
  executions: number;

  constructor(
    run: RunRow,
    graph: CompiledGraph,
    services: WalkServices,
    outputs: Outputs,
    entryNodeId: number,
    record: readonly RecordedNodeRun[],
  ) {
    this.#run = run;
    this.#graph = graph;
    this.#services = services;
    this.#outputs = outputs;
    this.executions = record.length;
    this.#schedule = restoreSchedule(graph, entryNodeId, record);
    for (const { activation, node_run_id, isWaiting } of this.#schedule.unfinished) {
      if (isWaiting) this.waiting.set(node_run_id, activation);
    }
  }

  get completions(): number {
    return this.#schedule.completions;
  }

  get hasReady(): boolean {
    return this.#schedule.ready.length > 0;
  }

  /** Node runs that somebody had begun to execute. */
  interrupted(): { activation: Activation; node_run_id: number }[] {
    return this.#schedule.unfinished.filter(({ isWaiting }) => !isWaiting);
  }

  absorbSuccess(draft: Draft, flight: Flight, outcome: NodeOutcome): void {
    const type = this.#services.nodeTypes.get(flight.node.node_type);
    const { correlation_id } = this.#run;
    const now = this.#services.clock.now();
    const ended = completedNode(flight, type, outcome, this.completions + 1, correlation_id, now);
    if ('tooLarge' in ended) {
      const message = `Node ${flight.node.id} gave an output of ${ended.tooLarge} characters, which is too large to keep. Store it as an attachment.`;
      this.absorbFailure(draft, flight, new NodeFailure('output_too_large', message));
      return;
    }
    const { sequence, node_id, execution_index } = flight.activation;
    const { output_state, routing_state } = ended;
    const step = succeed(this.#graph, this.#schedule.state, sequence, routing_state);
    if (step.fault) {
      // What it found stays to be seen: of a decision, why nothing matched.
      const { output_json, routing_json } = ended.row;
      this.absorbFailure(draft, flight, new NodeFailure(step.fault.code, step.fault.message), {
        output_json,
        routing_json,
      });
      return;
    }
    this.#schedule.completions += 1;
    draft.completed.push(ended.row);
    const { node_type } = flight.node;
    this.#outputs.keep(
      { sequence, node_run_id: flight.node_run_id, node_id, node_type, execution_index, output_state, routing_state },
      ended.row.output_json.length,
    );
    this.#schedule.ready.push(...step.activations);
    if (step.outcome) this.#absorbOutcome(draft, step.outcome, flight);
  }

  /** One failed node fails the run; what else is under way is canceled with it. */
  absorbFailure(
    draft: Draft,
    flight: Flight,
    failure: NodeFailure,
    made: { output_json: string | null; routing_json: string | null } = { output_json: null, routing_json: null },
  ): void {
    const error = { error: failure.message, error_code: failure.code };
    draft.failed.push({ ...identityOf(flight), ...error, ...made });
    draft.end = { status: 'failed', ...error };
  }

  absorbWait(draft: Draft, flight: Flight, wait: Wait, child: NewRun | null): void {
    this.waiting.set(flight.node_run_id, flight.activation);
    draft.waiting.push({
      ...identityOf(flight),
      wait_json: JSON.stringify(wait),
      wait_until: this.#deadline(flight),
      child,
    });
  }

  #deadline({ node }: Flight): string | null {
    const seconds = node.config.timeout_seconds;
    if (typeof seconds !== 'number') return null;
    return new Date(this.#services.clock.now().getTime() + seconds * 1_000).toISOString();
  }

  /** A subflow is waited for, unless its node says that it is only to be begun. */
  absorbChild(draft: Draft, flight: Flight, child: NewRun, wait: Wait): void {
    if (flight.node.config.wait !== false) {
      this.absorbWait(draft, flight, wait, child);
      return;
    }
    const { flowchart_id } = child;
    const outputOf = (runId: number | null) => ({
      triggered_flowchart_id: flowchart_id,
      triggered_flowchart_run_id: runId,
      message: `Run ${runId} of flowchart ${flowchart_id} was begun.`,
    });
    this.absorbSuccess(draft, flight, { output_state: outputOf(null), routing_state: {} });
    const row = draft.completed.at(-1);
    if (draft.failed.length > 0 || row?.id !== flight.node_run_id) return;
    // The number of the run is known only once it is written; the output gets it there.
    draft.completed.pop();
    this.#outputs.forget(flight.activation.sequence);
    const whole = JSON.parse(row.output_json) as Record<string, unknown>;
    draft.fired.push({
      child,
      complete: (runId) => ({ ...row, output_json: JSON.stringify({ ...whole, ...outputOf(runId) }) }),
    });
  }

  #absorbOutcome(draft: Draft, outcome: Outcome, flight: Flight): void {
    draft.end = { status: 'completed' };
    if (outcome.kind === 'terminated') {
      if (flight.node.node_type === 'end') draft.end.output_node_run_id = this.#latestUpstream(flight.activation);
    } else if (outcome.kind === 'looped') {
      draft.followUp = followUpOf(this.#run, this.executions);
    } else if (outcome.starved.length > 0) {
      const names = outcome.starved.map(
        ({ node_id, missing }) => `node ${node_id} still waited for ${missing.map((id) => `node ${id}`).join(', ')}`,
      );
      this.#warn(draft, 'fan_in_starved', `The run ended while ${names.join('; ')}.`, { nodes: outcome.starved });
    }
  }

  #warn(draft: Draft, code: string, message: string, details: Record<string, unknown> = {}): void {
    const warnings = JSON.parse(this.#run.warnings_json) as unknown[];
    if (draft.end) draft.end.warnings_json = JSON.stringify([...warnings, { code, message, ...details }]);
    const news = { transition: 'warning', warning_code: code, warning_message: message };
    draft.warnings.push(runEvent(this.#run, this.#run.status, news));
  }

  /** The next ones, at most this many; the last may be one that a guard rail refuses. */
  startable(slots: number): StartingNode[] {
    const starting: StartingNode[] = [];
    for (const activation of this.#schedule.ready.slice(0, Math.max(0, slots))) {
      const refused = executionGuard(activation.sequence, this.#run);
      starting.push({
        flowchart_node_id: activation.node_id,
        node_type: this.#graph.nodes.get(activation.node_id)?.node_type ?? 'unknown',
        sequence: activation.sequence,
        execution_index: activation.execution_index,
        started_order: this.completions,
        input_context_json: this.#references(activation),
        refused,
      });
      if (refused) break;
    }
    return starting;
  }

  /** These node runs were written as started, in the order of `startable`. */
  started(nodeRunIds: readonly number[]): { activation: Activation; node_run_id: number }[] {
    this.executions += nodeRunIds.length;
    return this.#schedule.ready.splice(0, nodeRunIds.length).map((activation, index) => {
      const node_run_id = nodeRunIds[index] as number;
      this.#schedule.nodeRunIds.set(activation.sequence, node_run_id);
      return { activation, node_run_id };
    });
  }

  /** References only: outputs are stored once, with the node run that gave them. */
  #references({ upstream, dotted, dashed, sequence }: Activation): string {
    const pairs = (references: readonly Reference[]): string =>
      references
        .map((reference) => `[${this.#schedule.nodeRunIds.get(reference.sequence)},${reference.edge_id}]`)
        .join();
    const pulled = `${listed('dotted', pairs(dotted))}${listed('dashed', pairs(dashed))}`;
    return `{"upstream":[${pairs(upstream)}]${pulled},"total":${sequence}}`;
  }

  #latestUpstream(activation: Activation): number | null {
    let latest = 0;
    for (const { sequence } of activation.upstream) latest = Math.max(latest, sequence);
    return this.#schedule.nodeRunIds.get(latest) ?? null;
  }
}

/** Lists that are empty, as they nearly always are, are left out. */
function listed(key: string, items: string): string {
  return items === '' ? '' : `,"${key}":[${items}]`;
}

function identityOf({ node, node_run_id, activation }: Flight) {
  return {
    id: node_run_id,
    flowchart_node_id: node.id,
    node_type: node.node_type,
    execution_index: activation.execution_index,
  };
}

/** The same again, from the start, with the same input. What was executed so far counts on. */
function followUpOf(run: RunRow, executions: number): NewRun {
  return {
    vault_id: run.vault_id,
    flowchart_id: run.flowchart_id,
    graph_version: run.graph_version,
    entry_node_id: null,
    input_json: run.input_json,
    trigger_source: 'loop',
    started_by: run.started_by,
    started_as: run.started_as,
    max_node_executions: run.max_node_executions,
    max_runtime_minutes: run.max_runtime_minutes,
    max_parallel_nodes: run.max_parallel_nodes,
    depth: run.depth,
    cycle: run.cycle + 1,
    follows_run_id: run.id,
    chain_run_id: run.chain_run_id ?? run.id,
    executions_before: run.executions_before + executions,
    request_id: run.request_id,
    correlation_id: run.correlation_id,
  };
}
