import { NodeFailure } from '../nodes/node-type.ts';
import { ActiveTime } from './active-time.ts';
import type { CompiledGraph } from './compiled-graph.ts';
import { isDatabaseFault } from './database-fault.ts';
import { type Draft, emptyDraft, sizeOf } from './draft.ts';
import { type Flight, failureOf } from './flight.ts';
import { type Effect, Flights, type Report } from './flights.ts';
import { runtimeGuard, runtimeLeft } from './limits.ts';
import { Outputs } from './outputs.ts';
import { beginRun, shelveRun } from './ownership.ts';
import { Progress } from './progress.ts';
import { readNews, readRecord } from './restore.ts';
import { LostRun, type StepResult, type StepWrites, writeStep } from './step.ts';
import type { RunRow, WalkServices } from './walk-services.ts';

/** Completions that one transaction may hold; more would make the first wait for too long. */
const BATCH = 64;
/** Nodes that answer at once never leave the event loop a turn by themselves. */
const TURN_MS = 5;
/** How old the progress on the row of a run may be. */
const PROGRESS_MS = 250;
const MAX_TIMER_MS = 2 ** 31 - 1;

/** The node failed after its effect, so the effect must not stay: a retry would have it twice. */
class EffectUndone extends Error {}

/**
 * Walks one run while this process owns it.
 *
 * A flight is a node run under execution. When it lands, its report is put together with others that have landed into
 * one step: outputs, artifacts, effects, the next activations and events are one transaction. Only then do the next
 * nodes take off. What the walker knows beyond the database can be lost at any moment; the record brings it back.
 *
 * The walk is over when the run has ended, when nothing is left to do here until somebody answers, resumes or a subflow
 * ends, or when another process has taken the run (LostRun).
 */
export class Walk {
  readonly #run: RunRow;
  readonly #graph: CompiledGraph;
  readonly #services: WalkServices;
  readonly #outputs: Outputs;
  readonly #flights: Flights;
  readonly #active: ActiveTime;
  #progress!: Progress;
  #reports: Report[] = [];
  #isOver = false;
  #isPoked = false;
  #isClosing = false;
  #wakeUp: (() => void) | null = null;
  #overtime: NodeJS.Timeout | null = null;
  #lastTurn = performance.now();
  #notedAt = 0;
  #isNoted = true;
  #isNoteDue = false;
  #noteTimer: NodeJS.Timeout | null = null;
  #lastEvent: number | null = null;

  constructor(run: RunRow, graph: CompiledGraph, services: WalkServices) {
    this.#run = run;
    this.#graph = graph;
    this.#services = services;
    this.#outputs = new Outputs(services.database, run.id);
    this.#active = new ActiveTime(run.active_ms);
    this.#flights = new Flights(run, graph, services, this.#outputs, (report) => {
      this.#reports.push(report);
      this.#signal();
    });
  }

  /** Something was committed that this run should look at. */
  poke(): void {
    this.#isPoked = true;
    this.#signal();
  }

  /** The process ends: whatever is under way is left for the next owner. */
  close(): void {
    this.#isClosing = true;
    this.#signal();
  }

  async walk(): Promise<void> {
    try {
      await this.#enter();
      while (!this.#isOver && !this.#isClosing) {
        if (performance.now() - this.#lastTurn > TURN_MS) await this.#giveTurn();
        if (this.#reports.length > 0) await this.#settle();
        else if (this.#isPoked) await this.#attend();
        else if (runtimeGuard(this.#active.milliseconds, this.#run)) await this.#endOvertime();
        else if (this.#freeSlots() > 0 && this.#progress.hasReady) await this.#commit(emptyDraft());
        else if (this.#isNoteDue) await this.#commit(emptyDraft());
        else if (this.#flights.count > 0) await this.#nextSignal();
        else await this.#leave();
      }
    } finally {
      if (this.#overtime) clearTimeout(this.#overtime);
      if (this.#noteTimer) clearTimeout(this.#noteTimer);
      this.#flights.callBack();
    }
  }

  async #enter(): Promise<void> {
    const run = this.#run;
    const now = this.#now();
    const record = await this.#services.database.script(function* () {
      if (run.status === 'queued') yield* beginRun(run, now);
      return yield* readRecord(run.id);
    });
    if (run.status === 'queued') run.status = 'running';
    const entry = run.entry_node_id ?? this.#graph.startNodeId ?? 0;
    this.#progress = new Progress(run, this.#graph, this.#services, this.#outputs, entry, record);
    this.#isPoked = record.length > 0;
    if (run.status === 'stopping') return;
    for (const { activation, node_run_id } of this.#progress.interrupted()) {
      this.#flights.takeOff(activation, node_run_id);
    }
    this.#noteActivity();
  }

  // What has landed.

  async #settle(): Promise<void> {
    const first = this.#reports[0] as Report;
    if ('result' in first && 'commit' in first.result) {
      this.#reports.shift();
      return this.#settleEffect(first.flight, first.result.commit);
    }
    const draft = emptyDraft();
    let taken = 0;
    for (const report of this.#reports) {
      if (draft.end || sizeOf(draft) >= BATCH || ('result' in report && 'commit' in report.result)) break;
      this.#absorb(draft, report);
      taken += 1;
    }
    this.#reports = this.#reports.slice(taken);
    await this.#commit(draft);
  }

  /** The effect, what it leads to, and the record of both are one transaction. */
  async #settleEffect(flight: Flight, effect: Effect): Promise<void> {
    const { database } = this.#services;
    const draft = emptyDraft();
    let isAbsorbed = false;
    try {
      const result = await database.transaction(async (trx) => {
        const outcome = await effect(trx);
        isAbsorbed = true;
        this.#flights.land(flight);
        this.#progress.absorbSuccess(draft, flight, outcome);
        if (draft.failed.length > 0) throw new EffectUndone();
        return database.scriptIn(trx, writeStep(this.#writes(draft)));
      });
      this.#applied(result);
    } catch (thrown) {
      if (thrown instanceof EffectUndone) return this.#commit(draft);
      if (isAbsorbed || isDatabaseFault(thrown)) throw thrown;
      this.#reports.push({ flight, failure: failureOf(thrown, flight, this.#services.log) });
    }
  }

  #absorb(draft: Draft, report: Report): void {
    const { flight } = report;
    // The node is to be executed again once the database answers.
    if ('failure' in report && isDatabaseFault(report.failure.cause)) throw report.failure.cause;
    this.#flights.land(flight);
    if ('failure' in report) this.#progress.absorbFailure(draft, flight, report.failure);
    else if ('child' in report) this.#progress.absorbChild(draft, flight, report.child, report.wait);
    else if ('done' in report.result) this.#progress.absorbSuccess(draft, flight, report.result.done);
    else if ('wait' in report.result) this.#progress.absorbWait(draft, flight, report.result.wait, null);
  }

  // What is written, and what follows from it.

  async #commit(draft: Draft): Promise<void> {
    const writes = this.#writes(draft);
    this.#applied(await this.#services.database.script(() => writeStep(writes)));
  }

  #writes(draft: Draft): StepWrites {
    const starting = draft.end ? [] : this.#progress.startable(this.#freeSlots());
    const refused = starting.at(-1)?.refused;
    if (refused) draft.end = { status: 'failed', ...refused };
    return {
      dialect: this.#services.database.dialect,
      run: this.#run,
      now: this.#now(),
      lastEvent: this.#lastEvent,
      progress: this.#progressNote(draft),
      completed: draft.completed,
      fired: draft.fired,
      waiting: draft.waiting,
      failed: draft.failed,
      end: draft.end,
      followUp: draft.followUp,
      warnings: draft.warnings,
      starting,
    };
  }

  /** Not with every step: it is one more page to write, and whoever takes over counts again. */
  #progressNote(draft: Draft): StepWrites['progress'] {
    const now = performance.now();
    const isDue =
      this.#isNoteDue || draft.end !== null || draft.waiting.length > 0 || now - this.#notedAt > PROGRESS_MS;
    this.#isNoted = isDue;
    if (!isDue) return null;
    this.#isNoteDue = false;
    this.#notedAt = now;
    const { executions, completions } = this.#progress;
    return { executions, completions, active_ms: this.#active.milliseconds };
  }

  #applied(result: StepResult): void {
    this.#run.status = result.status;
    this.#lastEvent = result.wakes > 0 ? null : result.lastEvent;
    if (result.wakes > 0) this.#isPoked = true;
    if (result.isOver) this.#isOver = true;
    this.#services.committed(this.#run.id, result.woken);
    for (const { activation, node_run_id } of this.#progress.started(result.started)) {
      if (!this.#isOver) this.#flights.takeOff(activation, node_run_id);
    }
    this.#noteActivity();
  }

  #freeSlots(): number {
    return this.#run.status === 'running' ? this.#run.max_parallel_nodes - this.#flights.count : 0;
  }

  // What others want.

  async #attend(): Promise<void> {
    this.#isPoked = false;
    this.#lastEvent = null;
    const { id, fence } = this.#run;
    const news = await this.#services.database.script(() => readNews(id, fence, this.#now()));
    if (!news) throw new LostRun();
    this.#run.status = news.status;
    if (news.status !== 'running') return;
    for (const { node_run_id, answer } of news.answers) this.#revive(node_run_id, answer);
    for (const nodeRunId of news.overdue) this.#giveUp(nodeRunId);
    this.#noteActivity();
  }

  #revive(nodeRunId: number, answer: unknown): void {
    const activation = this.#progress.waiting.get(nodeRunId);
    this.#progress.waiting.delete(nodeRunId);
    if (activation) this.#flights.takeOff(activation, nodeRunId, { value: answer });
  }

  #giveUp(nodeRunId: number): void {
    const activation = this.#progress.waiting.get(nodeRunId);
    this.#progress.waiting.delete(nodeRunId);
    if (activation) this.#flights.timeOut(activation, nodeRunId);
  }

  /** Nothing is under way here. The run stops, pauses, or goes back on the shelf until something wakes it. */
  async #leave(): Promise<void> {
    const run = this.#run;
    if (run.status === 'stopping') return this.#commit({ ...emptyDraft(), end: { status: 'stopped' } });
    const now = this.#now();
    const { executions, completions } = this.#progress;
    const progress = { executions, completions, active_ms: this.#active.milliseconds };
    const isShelved = await this.#services.database.script(() => shelveRun(run, progress, now));
    this.#services.committed(run.id, []);
    if (isShelved) this.#isOver = true;
    else this.#isPoked = true;
  }

  async #endOvertime(): Promise<void> {
    const guard = runtimeGuard(this.#active.milliseconds, this.#run);
    const flight = this.#flights.any();
    const draft = emptyDraft();
    if (!guard) return;
    if (flight) this.#progress.absorbFailure(draft, flight, new NodeFailure(guard.error_code, guard.error));
    else draft.end = { status: 'failed', ...guard };
    await this.#commit(draft);
  }

  #noteActivity(): void {
    this.#active.setActive(this.#flights.count > 0);
    const left = runtimeLeft(this.#active.milliseconds, this.#run);
    if (left === null || this.#overtime || this.#flights.count === 0) return;
    this.#overtime = setTimeout(
      () => {
        this.#overtime = null;
        this.#noteActivity();
        this.#signal();
      },
      Math.min(Math.max(left + 1, 1), MAX_TIMER_MS),
    );
  }

  /** While nodes take their time, whoever looks should see how far the run is. */
  #noteSoon(): void {
    this.#noteTimer ??= setTimeout(() => {
      this.#noteTimer = null;
      this.#isNoteDue = !this.#isNoted;
      this.#signal();
    }, PROGRESS_MS);
  }

  #now(): string {
    return this.#services.clock.now().toISOString();
  }

  async #giveTurn(): Promise<void> {
    await new Promise((next) => setImmediate(next));
    this.#lastTurn = performance.now();
  }

  async #nextSignal(): Promise<void> {
    if (this.#reports.length > 0 || this.#isPoked || this.#isClosing) return;
    if (!this.#isNoted) this.#noteSoon();
    await new Promise<void>((wakeUp) => {
      this.#wakeUp = wakeUp;
    });
    this.#lastTurn = performance.now();
  }

  #signal(): void {
    const wakeUp = this.#wakeUp;
    this.#wakeUp = null;
    wakeUp?.();
  }
}
