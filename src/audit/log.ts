import { type AuditTable, type Database, type Queries, type Trx, takeTurns } from '../database/index.ts';
import { type Clock, isoNow } from '../kernel/clock.ts';
import type { FlowrightError } from '../kernel/errors.ts';
import type { AuditPort, Call } from '../operations/index.ts';
import { type AuditEntry, CHAIN_START, type ChainedEntry, chainHash, firstBreak } from './chain.ts';

/** Like refusals within this time become one line that says how many there were. */
const FLOOD_WINDOW_MS = 60_000;
const MAX_OPEN_WINDOWS = 1_000;
const VERIFY_PAGE = 1_000;

interface Window {
  until: number;
  suppressed: number;
  call: Call;
  action: string;
  error: FlowrightError;
}

/** The append-only log: one chain a vault. */
export class AuditLog implements AuditPort {
  readonly #database: Database;
  readonly #clock: Clock;
  readonly #windows = new Map<string, Window>();

  constructor(database: Database, clock: Clock) {
    this.#database = database;
    this.#clock = clock;
  }

  async done(trx: Trx, call: Call, action: string, detail: Record<string, unknown>): Promise<void> {
    await this.#append(trx, call, { action, outcome: 'done', code: null, occurrences: 1, detail });
  }

  /** The first refusal of its kind is written at once; the rest of the minute is counted and written as one line. */
  async refused(call: Call, action: string, error: FlowrightError): Promise<void> {
    const now = this.#clock.now().getTime();
    await this.#closeWindows(now);
    const key = JSON.stringify([call.principal.vault_id, call.principal.user_id, action, error.code]);
    const open = this.#windows.get(key);
    if (open) {
      open.suppressed += 1;
      return;
    }
    if (this.#windows.size < MAX_OPEN_WINDOWS) {
      this.#windows.set(key, { until: now + FLOOD_WINDOW_MS, suppressed: 0, call, action, error });
    }
    await this.#writeRefusal(call, action, error, 1);
  }

  /** Of an act that was begun: never counted together with others, because each has its own beginning. */
  async failed(call: Call, action: string, error: FlowrightError, detail: Record<string, unknown>): Promise<void> {
    await this.#writeRefusal(call, action, error, 1, detail);
  }

  /** Writes down what was counted; called when the process ends. */
  async flush(): Promise<void> {
    await this.#closeWindows(Number.POSITIVE_INFINITY);
  }

  async page(vaultId: string, options: { before?: number | undefined; limit: number }): Promise<ChainedEntry[]> {
    const rows = await this.#database.queries
      .selectFrom('audit')
      .selectAll()
      .where('vault_id', '=', vaultId)
      .where('sequence', '<', options.before ?? Number.MAX_SAFE_INTEGER)
      .orderBy('sequence', 'desc')
      .limit(options.limit)
      .execute();
    return rows.map(entryOf);
  }

  async verify(vaultId: string): Promise<{ entries: number; broken_at: number | null; head: string }> {
    let last = { sequence: 0, hash: CHAIN_START };
    // A forged line may claim any number, also one before the first.
    let after = Number.MIN_SAFE_INTEGER;
    for (;;) {
      const rows = await this.#database.queries
        .selectFrom('audit')
        .selectAll()
        .where('vault_id', '=', vaultId)
        .where('sequence', '>', after)
        .orderBy('sequence')
        .limit(VERIFY_PAGE)
        .execute();
      const entries = rows.map(entryOf);
      const broken = firstBreak(last, entries);
      const newest = entries.at(-1);
      if (broken !== null || !newest) return { entries: last.sequence, broken_at: broken, head: last.hash };
      last = { sequence: newest.sequence, hash: newest.hash };
      after = newest.sequence;
    }
  }

  async #closeWindows(now: number): Promise<void> {
    for (const [key, window] of this.#windows) {
      if (window.until > now) continue;
      this.#windows.delete(key);
      if (window.suppressed > 0) {
        await this.#writeRefusal(window.call, window.action, window.error, window.suppressed);
      }
    }
  }

  async #writeRefusal(
    call: Call,
    action: string,
    error: FlowrightError,
    occurrences: number,
    detail: Record<string, unknown> = {},
  ): Promise<void> {
    await this.#database.transaction((trx) =>
      this.#append(trx, call, { action, outcome: 'refused', code: error.code, occurrences, detail }),
    );
  }

  async #append(
    trx: Trx,
    call: Call,
    act: Pick<AuditEntry, 'action' | 'outcome' | 'code' | 'occurrences' | 'detail'>,
  ): Promise<void> {
    const { vault_id, user_id, actor_hash } = call.principal;
    await takeTurns(trx, this.#database.dialect, `audit:${vault_id}`);
    const head = await chainHead(trx, vault_id);
    const detailJson = JSON.stringify(act.detail);
    const entry: AuditEntry = {
      vault_id,
      sequence: head.sequence + 1,
      at: isoNow(this.#clock),
      user_id,
      actor_hash,
      door: call.door,
      action: act.action,
      outcome: act.outcome,
      code: act.code,
      occurrences: act.occurrences,
      request_id: call.request_id,
      // Hashed as it will be read back: what JSON drops must not count.
      detail: JSON.parse(detailJson) as Record<string, unknown>,
    };
    const { detail: _, ...columns } = entry;
    await trx
      .insertInto('audit')
      .values({
        ...columns,
        detail_json: detailJson,
        previous_hash: head.hash,
        hash: chainHash(head.hash, entry),
      })
      .execute();
  }
}

async function chainHead(queries: Queries, vaultId: string): Promise<{ sequence: number; hash: string }> {
  const row = await queries
    .selectFrom('audit')
    .select(['sequence', 'hash'])
    .where('vault_id', '=', vaultId)
    .orderBy('sequence', 'desc')
    .limit(1)
    .executeTakeFirst();
  return row ?? { sequence: 0, hash: CHAIN_START };
}

function entryOf({ detail_json, ...row }: AuditTable): ChainedEntry {
  return { ...row, detail: readDetail(detail_json) };
}

/** Text that is not JSON was not written here; it stands as it is, and the line's hash will not match. */
function readDetail(text: string): Record<string, unknown> {
  try {
    return JSON.parse(text) as Record<string, unknown>;
  } catch {
    return { unreadable: text };
  }
}
