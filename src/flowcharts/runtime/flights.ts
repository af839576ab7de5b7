import { NodeFailure, type NodeResult } from '../nodes/node-type.ts';
import { buildContext, propagatedAttachments } from './build-context.ts';
import type { CompiledGraph } from './compiled-graph.ts';
import { createFlight, type Flight, failureOf, fly, type Landing, timeoutOf } from './flight.ts';
import type { NewRun } from './new-run.ts';
import type { Output, Outputs } from './outputs.ts';
import type { Activation } from './scheduler.ts';
import { LostRun } from './step.ts';
import type { RunRow, WalkServices } from './walk-services.ts';

export type Wait = Extract<NodeResult, { wait: unknown }>['wait'];
export type Effect = Extract<NodeResult, { commit: unknown }>['commit'];

/** How a flight ended. A subflow comes with the run that is to be made for it. */
export type Report = { flight: Flight } & (Landing | { child: NewRun; wait: Wait });

/** The node runs of one run that this process executes now. Each reports once, unless it was called back. */
export class Flights {
  readonly #run: RunRow;
  readonly #graph: CompiledGraph;
  readonly #services: WalkServices;
  readonly #outputs: Outputs;
  readonly #onReport: (report: Report) => void;
  readonly #inTheAir = new Map<number, Flight>();
  readonly #input: unknown;

  constructor(
    run: RunRow,
    graph: CompiledGraph,
    services: WalkServices,
    outputs: Outputs,
    onReport: (report: Report) => void,
  ) {
    this.#run = run;
    this.#graph = graph;
    this.#services = services;
    this.#outputs = outputs;
    this.#onReport = onReport;
    this.#input = run.input_json === null ? null : (JSON.parse(run.input_json) as unknown);
  }

  get count(): number {
    return this.#inTheAir.size;
  }

  any(): Flight | undefined {
    const [flight] = this.#inTheAir.values();
    return flight;
  }

  /** Executes a node run, or tells it the answer it waited for. */
  takeOff(activation: Activation, nodeRunId: number, answer: { value: unknown } | null = null): void {
    const flight = this.#board(activation, nodeRunId);
    const references = [...activation.upstream, ...activation.dotted, ...activation.dashed];
    const outputs = this.#outputs.read(references.map(({ sequence }) => sequence));
    if (!(outputs instanceof Promise)) return void this.#equip(flight, outputs, answer);
    outputs.then(
      (read) => this.#equip(flight, read, answer),
      (thrown: unknown) => this.#failed(flight, thrown),
    );
  }

  /** A node run that has waited for longer than its node allows. */
  timeOut(activation: Activation, nodeRunId: number): void {
    const flight = this.#board(activation, nodeRunId);
    this.#report({ flight, failure: timeoutOf(flight) });
  }

  land(flight: Flight): void {
    this.#inTheAir.delete(flight.activation.sequence);
  }

  callBack(): void {
    const flights = [...this.#inTheAir.values()].filter(({ hasAbort }) => hasAbort);
    this.#inTheAir.clear();
    if (flights.length === 0) return;
    const reason = new NodeFailure('canceled', 'The node was canceled.');
    for (const { abort } of flights) abort.abort(reason);
  }

  #board(activation: Activation, nodeRunId: number): Flight {
    const node = this.#graph.nodes.get(activation.node_id);
    if (!node) throw new LostRun();
    const flight = createFlight(activation, node, nodeRunId);
    this.#inTheAir.set(activation.sequence, flight);
    return flight;
  }

  /** Files that are bound to the node, then those that connectors carry to it. */
  #equip(flight: Flight, outputs: ReadonlyMap<number, Output>, answer: { value: unknown } | null): void {
    const carried = propagatedAttachments(flight.activation, outputs).map(({ id }) => id);
    const ids = [...new Set([...flight.node.attachment_ids, ...carried])];
    if (ids.length === 0 || flight.node.node_type === 'end') return void this.#fly(flight, outputs, answer);
    this.#services.findAttachments(this.#run.vault_id, ids).then(
      (attachments) => {
        if (attachments.length < ids.length) return this.#failed(flight, attachmentsMissing(ids, attachments));
        flight.attachments = attachments;
        this.#fly(flight, outputs, answer);
      },
      (thrown: unknown) => this.#failed(flight, thrown),
    );
  }

  #fly(flight: Flight, outputs: ReadonlyMap<number, Output>, answer: { value: unknown } | null): void {
    const run = this.#run;
    const { config } = flight.node;
    const landing = fly(
      flight,
      {
        type: this.#services.nodeTypes.get(flight.node.node_type),
        run: { id: run.id, vault_id: run.vault_id, flowchart_id: run.flowchart_id, input: this.#input },
        request_id: textIn(config.request_id) ?? `flowchart-run-${run.id}-node-run-${flight.node_run_id}`,
        correlation_id: textIn(config.correlation_id) ?? run.correlation_id ?? `flowchart-run-${run.id}`,
        input: () => buildContext(this.#graph, run, flight.activation, outputs),
        services: this.#services.nodeServices,
        log: this.#services.log,
      },
      answer,
    );
    if (landing instanceof Promise) void landing.then((landed) => this.#landed(flight, landed));
    else this.#landed(flight, landing);
  }

  #landed(flight: Flight, landing: Landing): void {
    if ('failure' in landing || !('wait' in landing.result) || landing.result.wait.for !== 'run') {
      return void this.#report({ flight, ...landing });
    }
    const { wait } = landing.result;
    this.#services.planChild(this.#run, flight.node_run_id, wait.flowchart_id, wait.input).then(
      (child) => this.#report({ flight, child, wait }),
      (thrown: unknown) => this.#failed(flight, thrown),
    );
  }

  #failed(flight: Flight, thrown: unknown): void {
    this.#report({ flight, failure: failureOf(thrown, flight, this.#services.log) });
  }

  #report(report: Report): void {
    if (this.#inTheAir.get(report.flight.activation.sequence) === report.flight) this.#onReport(report);
  }
}

function textIn(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null;
}

function attachmentsMissing(ids: readonly number[], found: readonly { id: number }[]): NodeFailure {
  const there = new Set(found.map(({ id }) => id));
  const missing = ids.filter((id) => !there.has(id)).join(', ');
  return new NodeFailure(
    'attachment_missing',
    `Attachment ${missing} is not there any more. Upload it again, or unbind it.`,
  );
}
