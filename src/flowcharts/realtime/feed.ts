import {
  type Database,
  firstInTail,
  type OutboxEvent,
  readEvents,
  readTail,
  type TailCursor,
  tailStart,
} from '../../database/index.ts';
import { type Clock, isoNow } from '../../kernel/clock.ts';
import type { Log } from '../../kernel/log.ts';
import type { Runtime } from '../runtime/runtime.ts';
import { hydrateEvents, type Published } from './hydrate-event.ts';

/** How soon commits of other processes are noticed. */
const POLL_MS = 200;
const PAGE = 200;
/** Streams whose place is remembered; the one that was quiet the longest goes first. */
const KNOWN_STREAMS = 10_000;

export type Listener = (published: Published) => void;

export interface FeedNeeds {
  database: Database;
  clock: Clock;
  log: Log;
  /** Says at once what this process commits; without it polling finds that too. */
  runtime?: Pick<Runtime, 'onCommit'> | undefined;
}

/**
 * Follows the events of all runs and tells them to whoever listens: after their commit, in the order of their stream,
 * each once. It is idle while nobody listens. While somebody does, it looks when this process commits, and every 200 ms
 * at the stamp of the database for the sake of other processes; nothing is read unless that stamp has moved.
 *
 * The tail of PostgreSQL can show the events of one stream out of order, because a transaction that began earlier may
 * append later. Within a stream nothing is told before everything with a lower sequence; what is missing is committed
 * already, since appending to a stream takes turns, and is read from the stream itself.
 */
export class EventFeed {
  readonly #needs: FeedNeeds;
  readonly #listeners = new Set<Listener>();
  readonly #told = new Map<string, number>();
  #cursor: TailCursor | undefined;
  #starting: Promise<void> | undefined;
  #stopWatching: (() => void) | undefined;
  #stamp = '';
  #isReading = false;
  #isAskedAgain = false;

  constructor(needs: FeedNeeds) {
    this.#needs = needs;
  }

  /** Resolves once everything that commits from now on will be told. */
  async listen(listener: Listener): Promise<() => void> {
    this.#listeners.add(listener);
    this.#starting ??= this.#start();
    try {
      await this.#starting;
    } catch (error) {
      this.#leave(listener);
      throw error;
    }
    return () => this.#leave(listener);
  }

  close(): void {
    this.#listeners.clear();
    this.#stop();
  }

  #leave(listener: Listener): void {
    this.#listeners.delete(listener);
    if (this.#listeners.size === 0) this.#stop();
  }

  async #start(): Promise<void> {
    this.#cursor = await tailStart(this.#needs.database);
    if (this.#listeners.size === 0) {
      this.#stop();
      return;
    }
    const poll = setInterval(() => void this.#look(false), POLL_MS);
    const stopHearing = this.#needs.runtime?.onCommit(() => void this.#look(true));
    this.#stopWatching = () => {
      clearInterval(poll);
      stopHearing?.();
    };
  }

  #stop(): void {
    this.#stopWatching?.();
    this.#stopWatching = undefined;
    this.#starting = undefined;
    this.#cursor = undefined;
    this.#stamp = '';
    this.#told.clear();
  }

  /** One look at a time; who asks during one gets another after it. */
  async #look(isCertain: boolean): Promise<void> {
    if (this.#isReading) {
      this.#isAskedAgain ||= isCertain;
      return;
    }
    this.#isReading = true;
    let mustRead = isCertain;
    try {
      do {
        this.#isAskedAgain = false;
        // Taken before reading: what commits during the read moves the stamp again.
        const stamp = await this.#needs.database.stamp();
        if (stamp === this.#stamp && !mustRead) break;
        await this.#readOn();
        this.#stamp = stamp;
        mustRead = true;
      } while (this.#isAskedAgain);
    } catch (error) {
      // The next look tries again from the same place.
      this.#stamp = '';
      if (this.#cursor) this.#needs.log.warn({ cause: error }, 'events could not be read; trying again');
    } finally {
      this.#isReading = false;
    }
  }

  async #readOn(): Promise<void> {
    for (;;) {
      const from = this.#cursor;
      if (!from) return;
      const { events, cursor } = await readTail(this.#needs.database, from, PAGE);
      const due = await this.#inOrder(events, from);
      const { database, clock } = this.#needs;
      const published = await hydrateEvents(database.queries, due, isoNow(clock));
      // Stopped meanwhile, and perhaps started again from another place.
      if (this.#cursor !== from) return;
      for (const { stream, sequence } of due) this.#remember(stream, sequence);
      this.#cursor = cursor;
      for (const event of published) this.#tell(event);
      if (events.length < PAGE) return;
    }
  }

  /** What is to be told now, completed where the tail jumped ahead and without what was told before. */
  async #inOrder(events: readonly OutboxEvent[], from: TailCursor): Promise<OutboxEvent[]> {
    const byStream = new Map<string, OutboxEvent[]>();
    for (const event of events) byStream.set(event.stream, [...(byStream.get(event.stream) ?? []), event]);
    const replaced = new Map<string, OutboxEvent[]>();
    for (const [stream, found] of byStream) {
      const told = this.#told.get(stream) ?? (await this.#beforeFirst(stream, found, from));
      const last = Math.max(...found.map(({ sequence }) => sequence));
      const isWhole = found.every(({ sequence }, at) => sequence === told + 1 + at);
      if (!isWhole) replaced.set(stream, await this.#between(stream, told, last));
    }
    if (replaced.size === 0) return [...events];
    return [...byStream].flatMap(([stream, found]) => replaced.get(stream) ?? found);
  }

  async #beforeFirst(stream: string, found: readonly OutboxEvent[], from: TailCursor): Promise<number> {
    const seen = Math.min(...found.map(({ sequence }) => sequence));
    const { database } = this.#needs;
    if (database.dialect === 'sqlite') return seen - 1;
    return Math.min(seen, (await firstInTail(database, from, stream)) ?? seen) - 1;
  }

  async #between(stream: string, after: number, last: number): Promise<OutboxEvent[]> {
    const missing: OutboxEvent[] = [];
    for (let at = after; at < last; ) {
      const { events } = await readEvents(this.#needs.database.queries, stream, at, Math.min(PAGE, last - at));
      if (events.length === 0) break;
      missing.push(...events);
      at = events.at(-1)?.sequence ?? last;
    }
    return missing.filter(({ sequence }) => sequence <= last);
  }

  #remember(stream: string, sequence: number): void {
    this.#told.delete(stream);
    this.#told.set(stream, sequence);
    for (const oldest of this.#told.keys()) {
      if (this.#told.size <= KNOWN_STREAMS) break;
      this.#told.delete(oldest);
    }
  }

  #tell(published: Published): void {
    for (const listener of this.#listeners) {
      try {
        listener(published);
      } catch (error) {
        this.#needs.log.error({ cause: error }, 'a listener to events failed');
      }
    }
  }
}
