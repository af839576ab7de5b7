import type { Published } from '../../flowcharts/index.ts';

/** Events that wait while an older part of a stream is replayed; more and the client has to begin again. */
const MAX_HELD = 10_000;

/** The client's end of the line, as far as it matters here. */
export interface Line {
  emit(event: string, payload: unknown): void;
  /** Packets that the client has not taken yet. */
  backlog(): number;
  drop(reason: string): void;
}

/** A client that takes no more than this lets events pile up in our memory. */
const MAX_BACKLOG = 2_000;

/**
 * One connection: the rooms it is in, and how far each stream has been sent to it. Every event goes out at most once,
 * however many of its rooms the client is in, and never before a lower sequence of the same stream that is replayed.
 */
export class Subscriber {
  readonly rooms = new Set<string>();
  readonly #line: Line;
  /** Of streams that were replayed: live events may lag behind what the replay has sent already. */
  readonly #sent = new Map<string, number>();
  #held: Published[] | null = null;

  constructor(line: Line) {
    this.#line = line;
  }

  receive(published: Published): void {
    if (this.#held === null) this.#send(published);
    else if (this.#held.length < MAX_HELD) this.#held.push(published);
    else this.#line.drop('too_slow');
  }

  /** Live events wait until the work is done, so that what is replayed comes first. */
  async whileHolding(work: () => Promise<void>): Promise<void> {
    this.#held ??= [];
    try {
      await work();
    } finally {
      const held = this.#held;
      this.#held = null;
      for (const published of held) this.#send(published);
    }
  }

  /** Sends an older event, past those that wait. */
  replay(published: Published): void {
    this.#send(published);
  }

  /** How many streams are remembered. */
  get places(): number {
    return this.#sent.size;
  }

  /** From here on only what is newer, also where the client was told more before. */
  setPlace(stream: string, sequence: number): void {
    this.#sent.set(stream, sequence);
  }

  tell(event: string, payload: unknown): void {
    this.#line.emit(event, payload);
  }

  #send({ event, rooms }: Published): void {
    if (!rooms.some((room) => this.rooms.has(room))) return;
    if (event.sequence <= (this.#sent.get(event.stream) ?? 0)) return;
    if (this.#line.backlog() > MAX_BACKLOG) {
      this.#line.drop('too_slow');
      return;
    }
    if (this.#sent.has(event.stream)) this.#sent.set(event.stream, event.sequence);
    this.#line.emit(event.event_type, event);
  }
}
