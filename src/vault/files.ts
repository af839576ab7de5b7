import { join } from 'node:path';
import type { Database, Queries, Trx } from '../database/index.ts';
import type { Clock } from '../kernel/clock.ts';
import { refusal } from '../kernel/errors.ts';
import { sha256Hex } from '../kernel/hash.ts';
import { VAULT_ID_RE } from '../kernel/ids.ts';
import type { Log } from '../kernel/log.ts';
import { hashFile, readFile } from './durable-file.ts';
import { faultOf } from './file-fault.ts';
import { wayFault } from './file-place.ts';
import { type PlannedWrite, plannedText, planWrite, type Settled, settleWrites } from './file-writes.ts';
import { MAX_FILE_BYTES } from './limits.ts';

/** After a disk refused, reads do not try again on their own for this long: each attempt takes the write lock. */
const RETRY_MS = 5_000;

export interface FileNeeds {
  database: Database;
  clock: Clock;
  log: Log;
  /** The data folder. */
  home: string;
  /** Holds one folder of notes a vault. */
  vaultsDir: string;
}

/** A file as committed changes want it, whether or not the disk has it yet. */
export interface CurrentFile {
  bytes: Buffer;
  sha256: string;
}

/** The files of this installation that follow what the database says: notes of vaults, and some of the data folder. */
export class Files {
  readonly #needs: FileNeeds;
  readonly #retryAt = new Map<string, number>();

  constructor(needs: FileNeeds) {
    this.#needs = needs;
  }

  rootOf(place: string): string {
    if (place === 'home') return this.#needs.home;
    const vaultId = place.startsWith('vault:') ? place.slice('vault:'.length) : '';
    if (!VAULT_ID_RE.test(vaultId)) throw new Error(`no place is called ${place}`);
    return join(this.#needs.vaultsDir, vaultId);
  }

  /**
   * Plans a write in the caller's transaction. Without `before_sha256`, what is there now is what the change replaces;
   * with it, anything else that is found there is somebody's edit and is kept aside.
   */
  async plan(trx: Trx, write: Omit<PlannedWrite, 'before_sha256'> & { before_sha256?: string | null }): Promise<void> {
    const { place, path, text, before_sha256 = await this.#hash(trx, place, path) } = write;
    await planWrite(trx, this.#needs.clock, { ...write, text, before_sha256 });
  }

  /** Writes what is planned, now. */
  async settle(place?: string): Promise<Settled> {
    const needs = { ...this.#needs, rootOf: (each: string) => this.rootOf(each) };
    const settled = await settleWrites(needs, place);
    if (place !== undefined) {
      const now = this.#needs.clock.now().getTime();
      if (settled.failed.length > 0) this.#retryAt.set(place, now + RETRY_MS);
      else this.#retryAt.delete(place);
    }
    return settled;
  }

  /** Settles before a read, unless the disk refused a moment ago. */
  async catchUp(place: string): Promise<void> {
    if ((this.#retryAt.get(place) ?? 0) <= this.#needs.clock.now().getTime()) await this.settle(place);
  }

  /** What committed changes want to be there, else what lies on the disk; null when there is nothing. */
  async current(queries: Queries, place: string, path: string): Promise<CurrentFile | null> {
    const planned = await plannedText(queries, place, path);
    if (planned === null) return null;
    if (planned !== undefined) return { bytes: Buffer.from(planned, 'utf8'), sha256: sha256Hex(planned) };
    return readable(path, () => readFile(this.rootOf(place), path, MAX_FILE_BYTES));
  }

  /** As `current`, as text. Bytes that are not UTF-8 are replaced: fit for looking and comparing. */
  async text(queries: Queries, place: string, path: string): Promise<string | null> {
    return (await this.current(queries, place, path))?.bytes.toString('utf8') ?? null;
  }

  async #hash(queries: Queries, place: string, path: string): Promise<string | null> {
    const planned = await plannedText(queries, place, path);
    if (planned !== undefined) return planned === null ? null : sha256Hex(planned);
    return readable(path, () => hashFile(this.rootOf(place), path));
  }

  /** Why nothing can be written at that path; null when nothing is against it. */
  obstacle(place: string, path: string): string | null {
    return wayFault(this.rootOf(place), path);
  }
}

function readable<T>(path: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw refusal('NOTE_UNREADABLE', `${path} cannot be read: ${faultOf(error)}. Mend the file on disk.`);
  }
}
