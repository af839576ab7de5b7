import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { type Database, rows } from '../../database/index.ts';
import { isAlive, thisProcess } from '../../home/index.ts';
import { type Clock, isoNow } from '../../kernel/clock.ts';

/**
 * Which processes own runs, and whether they still live. On one machine the system is asked for pid and start time; on
 * PostgreSQL each process holds a lock for as long as its session lives. Either way a process that was killed is known to
 * be gone at once, not after a time-out.
 */
export class ProcessPresence {
  readonly id = randomUUID();
  readonly #database: Database;
  readonly #clock: Clock;
  readonly #kind: string;
  #announced: Promise<() => Promise<void>> | null = null;

  constructor(database: Database, clock: Clock, kind: string) {
    this.#database = database;
    this.#clock = clock;
    this.#kind = kind;
  }

  /** Before the first run is taken: whoever finds our name on one must be able to ask. */
  async announce(): Promise<void> {
    this.#announced ??= this.#announce().catch((reason: unknown) => {
      // The next who asks tries again.
      this.#announced = null;
      throw reason;
    });
    await this.#announced;
  }

  /** A session can be lost while its process lives on; others would then take every run from us, again and again. */
  async renew(): Promise<void> {
    const { presence } = this.#database;
    if (!this.#announced || !presence || (await presence.isHeld(nameOf(this.id)))) return;
    const release = await this.#announced;
    this.#announced = null;
    await release().catch(() => {});
    await this.announce();
  }

  async #announce(): Promise<() => Promise<void>> {
    const { pid, started } = thisProcess();
    const release = await this.#database.presence?.hold(nameOf(this.id));
    const [id, kind, now] = [this.id, this.#kind, isoNow(this.#clock)];
    await this.#database.script(() =>
      rows(
        `insert into processes (process_id, host, pid, started, kind, seen_at) values (?, ?, ?, ?, ?, ?)
        on conflict (process_id) do update set seen_at = excluded.seen_at`,
        id,
        hostname(),
        pid,
        started,
        kind,
        now,
      ),
    );
    return release ?? (async () => {});
  }

  async isPresent(processId: string): Promise<boolean> {
    if (processId === this.id) return true;
    if (this.#database.presence) return this.#database.presence.isHeld(nameOf(processId));
    const [row] = await this.#database.script(() =>
      rows<{ pid: number; started: string }>('select pid, started from processes where process_id = ?', processId),
    );
    return row !== undefined && isAlive(row);
  }

  async forget(processId: string): Promise<void> {
    await this.#database.script(() => rows('delete from processes where process_id = ?', processId));
  }

  /** Rows of processes that ended without owning anything, which nobody would ask about. */
  async forgetTheDead(): Promise<void> {
    const known = await this.#database.script(() => rows<{ process_id: string }>('select process_id from processes'));
    for (const { process_id } of known) {
      const isOwner = await this.#database.script(() =>
        rows('select 1 from flowchart_runs where owner = ? and finished_at is null limit 1', process_id),
      );
      if (isOwner.length === 0 && !(await this.isPresent(process_id))) await this.forget(process_id);
    }
  }

  async leave(): Promise<void> {
    if (!this.#announced) return;
    const release = await this.#announced;
    await this.forget(this.id);
    await release();
  }
}

function nameOf(processId: string): string {
  return `flowright-process:${processId}`;
}
