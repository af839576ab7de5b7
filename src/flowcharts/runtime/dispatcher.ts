import { type Row, rows } from '../../database/index.ts';
import type { Graph } from '../graph/model.ts';
import { type CompiledGraph, compileGraph } from './compiled-graph.ts';
import { isDatabaseFault } from './database-fault.ts';
import { endRun } from './end-run.ts';
import { claim, endedAmong, otherOwners, releaseRuns, wakeOverdue, wantingRuns } from './ownership.ts';
import type { ProcessPresence } from './process-presence.ts';
import { StoryMismatch } from './restore.ts';
import type { RuntimeHost } from './runtime.ts';
import { LostRun } from './step.ts';
import { Walk } from './walk.ts';
import type { RunRow, WalkServices } from './walk-services.ts';

const POLL_MS = 100;
/** How often owners of runs are asked whether they live. */
const OWNERS_MS = 500;
/** Graphs kept ready; runs of one flowchart share them. */
const KEPT_GRAPHS = 32;
const RETRY_MS = 1_000;
const MAX_FAULTS = 5;

export interface DispatcherOptions {
  services: Omit<WalkServices, 'committed'>;
  presence: ProcessPresence;
  loadGraph(flowchartId: number, version: number): Promise<Graph | null>;
  runsAtOnce: number;
  /** A hub that serves the same data folder walks its runs; this process then only tells it. */
  isServedElsewhere(): boolean;
}

/**
 * Walks runs in this process: those that it is told of, those that it finds waiting in the database, and those whose
 * owner has died. A run has one owner at a time; taking it raises its fence, and a step that carries an older number
 * is refused, so that an owner that only seemed dead can do no harm.
 */
export class Dispatcher implements RuntimeHost {
  readonly #options: DispatcherOptions;
  readonly #services: WalkServices;
  readonly #walks = new Map<number, Walk>();
  readonly #line = new Set<number>();
  readonly #faults = new Map<number, number>();
  readonly #graphs = new Map<string, Promise<CompiledGraph | null>>();
  readonly #listeners = new Set<(runId: number) => void>();
  readonly #settling = new Map<number, (() => void)[]>();
  #timer: NodeJS.Timeout | null = null;
  #stamp = '';
  #ownersAskedAt = 0;
  #isPolling = false;
  /** Also looks for runs that nobody walks. */
  #takesOthers = false;
  #isClosed = false;

  constructor(options: DispatcherOptions) {
    this.#options = options;
    this.#services = { ...options.services, committed: (runId, woken) => this.#committed(runId, woken) };
  }

  wake(runId: number): void {
    if (this.#isClosed) return;
    const walk = this.#walks.get(runId);
    walk?.poke();
    // Also while it is being walked: that walk may be about to end.
    if (walk || !this.#options.isServedElsewhere()) this.#line.add(runId);
    this.#pump();
    this.#announceSettled(runId);
  }

  settled(runId: number): Promise<void> {
    if (!this.#walks.has(runId) && !this.#line.has(runId)) return Promise.resolve();
    return new Promise((settled) => {
      this.#settling.set(runId, [...(this.#settling.get(runId) ?? []), settled]);
    });
  }

  onCommit(listener: (runId: number) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Takes over what dead processes left, and from now on looks for runs that others ask for. */
  async start(): Promise<void> {
    if (this.#takesOthers) return;
    this.#takesOthers = true;
    this.#listen();
    try {
      await this.#options.presence.forgetTheDead();
      await this.#look(true);
    } catch (thrown) {
      this.#services.log.warn({ error: thrown }, 'looking for runs failed; trying again');
    }
  }

  /** Whoever walks a run must hear what other processes want of it. */
  #listen(): void {
    if (this.#timer || this.#isClosed) return;
    this.#timer = setInterval(() => void this.#poll(), POLL_MS);
    this.#timer.unref();
  }

  underWay(): readonly number[] {
    return [...new Set([...this.#walks.keys(), ...this.#line])];
  }

  async idle(): Promise<void> {
    for (let runs = this.underWay(); runs.length > 0; runs = this.underWay()) {
      await Promise.all(runs.map((runId) => this.settled(runId)));
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    if (this.#timer) clearInterval(this.#timer);
    this.#line.clear();
    for (const walk of this.#walks.values()) walk.close();
    while (this.#walks.size > 0) await new Promise((next) => setTimeout(next, 5));
    const { database } = this.#services;
    const { id } = this.#options.presence;
    await database.script(() => releaseRuns(id));
    await this.#options.presence.leave();
  }

  #committed(runId: number, woken: readonly number[]): void {
    for (const listener of this.#listeners) listener(runId);
    for (const id of woken) this.wake(id);
  }

  #pump(): void {
    for (const runId of this.#line) {
      if (this.#isClosed || this.#walks.size >= this.#options.runsAtOnce) return;
      if (this.#walks.has(runId)) continue;
      this.#line.delete(runId);
      this.#walks.set(runId, PLACE_TAKEN);
      void this.#take(runId);
    }
  }

  async #take(runId: number): Promise<void> {
    this.#listen();
    try {
      await this.#options.presence.announce();
      const run = await this.#services.database.script(() => claim(runId, this.#options.presence.id));
      if (run && !this.#isClosed) await this.#walk(run);
      this.#faults.delete(runId);
    } catch (thrown) {
      if (!(thrown instanceof LostRun)) await this.#stumble(runId, thrown);
    } finally {
      this.#walks.delete(runId);
      this.#pump();
      this.#announceSettled(runId);
    }
  }

  async #walk(run: RunRow): Promise<void> {
    const graph = await this.#graph(run.flowchart_id, run.graph_version);
    const entry = run.entry_node_id ?? graph?.startNodeId ?? null;
    if (!graph || entry === null || !graph.nodes.has(entry)) {
      return this.#fail(run, 'start_node_missing', 'The graph of this run has no single start node to begin with.');
    }
    const walk = new Walk(run, graph, this.#services);
    this.#walks.set(run.id, walk);
    try {
      await walk.walk();
    } catch (thrown) {
      if (!(thrown instanceof StoryMismatch)) throw thrown;
      await this.#fail(run, 'record_mismatch', `The record of this run does not fit its graph. ${thrown.message}`);
    }
  }

  /** A fault of ours is tried again a few times, then the run says so. One of the database is waited out. */
  async #stumble(runId: number, thrown: unknown): Promise<void> {
    const faults = (this.#faults.get(runId) ?? 0) + (isDatabaseFault(thrown) ? 0 : 1);
    this.#services.log.error({ run_id: runId, error: thrown, faults }, `walking run ${runId} failed`);
    this.#faults.set(runId, faults);
    const isGivenUp = faults >= MAX_FAULTS && (await this.#giveUp(runId).catch(() => false));
    if (isGivenUp) this.#faults.delete(runId);
    else setTimeout(() => this.wake(runId), RETRY_MS).unref();
  }

  async #giveUp(runId: number): Promise<boolean> {
    const { id } = this.#options.presence;
    const [run] = await this.#services.database.script(() =>
      rows<RunRow & Row>('select * from flowchart_runs where id = ? and owner = ?', runId, id),
    );
    if (run) await this.#fail(run, 'engine_error', 'The run could not be walked; the log of the process says why.');
    return true;
  }

  async #fail(run: RunRow, error_code: string, error: string): Promise<void> {
    const now = this.#services.clock.now().toISOString();
    const woken = await this.#services.database.script(function* () {
      const ours = yield* rows(
        'select id from flowchart_runs where id = ? and fence = ? and finished_at is null',
        run.id,
        run.fence,
      );
      return ours.length > 0 ? yield* endRun(run, { status: 'failed', error, error_code }, now) : [];
    });
    this.#committed(run.id, woken);
  }

  #graph(flowchartId: number, version: number): Promise<CompiledGraph | null> {
    const key = `${flowchartId}:${version}`;
    let graph = this.#graphs.get(key);
    if (!graph) {
      graph = this.#options.loadGraph(flowchartId, version).then((loaded) => (loaded ? compileGraph(loaded) : null));
      graph.catch(() => this.#graphs.delete(key));
      this.#graphs.set(key, graph);
      const [oldest] = this.#graphs.keys();
      if (this.#graphs.size > KEPT_GRAPHS && oldest !== undefined) this.#graphs.delete(oldest);
    }
    return graph;
  }

  async #poll(): Promise<void> {
    if (this.#isPolling || this.#isClosed) return;
    this.#isPolling = true;
    try {
      const stamp = await this.#services.database.stamp();
      const asksOwners = performance.now() - this.#ownersAskedAt > OWNERS_MS;
      if (stamp === this.#stamp && !asksOwners) return;
      this.#stamp = stamp;
      await this.#look(asksOwners);
    } catch (thrown) {
      this.#services.log.warn({ error: thrown }, 'looking for runs failed; trying again');
    } finally {
      this.#isPolling = false;
    }
  }

  async #look(asksOwners: boolean): Promise<void> {
    const { id } = this.#options.presence;
    const { database, clock } = this.#services;
    for (const runId of await database.script(() => wantingRuns(id, this.#takesOthers))) this.wake(runId);
    // Another process may have ended what we walk; nodes at work must hear of it.
    for (const runId of await database.script(() => endedAmong([...this.#walks.keys()])))
      this.#walks.get(runId)?.poke();
    if (!asksOwners) return;
    this.#ownersAskedAt = performance.now();
    await this.#options.presence.renew();
    if (!this.#takesOthers) return;
    for (const owner of await database.script(() => otherOwners(id))) await this.#inheritFrom(owner);
    const now = clock.now().toISOString();
    for (const runId of await database.script(() => wakeOverdue(now))) this.wake(runId);
  }

  /** If that process has died. */
  async #inheritFrom(owner: string): Promise<void> {
    const { presence } = this.#options;
    if (await presence.isPresent(owner)) return;
    const orphans = await this.#services.database.script(() => releaseRuns(owner));
    await presence.forget(owner);
    for (const runId of orphans) this.wake(runId);
  }

  #announceSettled(runId: number): void {
    if (this.#walks.has(runId) || this.#line.has(runId)) return;
    const waiting = this.#settling.get(runId) ?? [];
    this.#settling.delete(runId);
    for (const settled of waiting) settled();
  }
}

/** Holds the place of a run that is being taken. */
const PLACE_TAKEN = { poke: () => {}, close: () => {} } as unknown as Walk;
