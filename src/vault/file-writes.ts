import { type Database, type Queries, type Trx, takeTurns } from '../database/index.ts';
import { type Clock, isoNow } from '../kernel/clock.ts';
import { sha256Hex } from '../kernel/hash.ts';
import type { Log } from '../kernel/log.ts';
import { inertLine } from '../kernel/terminal.ts';
import { hashFile, nameAside, removeFile, replaceFile, settleFile } from './durable-file.ts';
import { faultOf } from './file-fault.ts';

/**
 * Files that follow a committed change. The change and the row that names the file's text are one transaction; the file
 * is written after it, and the row goes once the file is on the disk. So:
 *
 *   planned ── settle ──▶ written, row gone
 *      ▲          │
 *      └──────────┴─ crash or full disk: the row stays, and settling again comes to the same end
 *
 * Whoever settles holds the turn of the place, so that each file has one writer, in whichever process.
 */
export interface PlannedWrite {
  /** `vault:<vault_id>`, or `home`. */
  place: string;
  path: string;
  /** Null removes the file. */
  text: string | null;
  /** Hash of what the file held when the change was decided; null when there was none. */
  before_sha256: string | null;
  /** The flow it tells of, if any: an edit that is kept aside tells of it too. */
  flow_id?: string | null;
}

export interface Settled {
  written: string[];
  /** Files that somebody edited meanwhile, and the name each now has. */
  kept_aside: { path: string; moved_to: string }[];
  failed: { path: string; reason: string }[];
}

export interface SettleNeeds {
  database: Database;
  rootOf(place: string): string;
  clock: Clock;
  log: Log;
}

interface Row extends PlannedWrite {
  write_key: number;
  created_at: string;
}

/** Rows a transaction looks at: others wait for it, on SQLite in every process. */
const BATCH_ROWS = 50;

export async function planWrite(trx: Trx, clock: Clock, write: PlannedWrite): Promise<void> {
  const { place, path, text, before_sha256, flow_id = null } = write;
  await trx
    .insertInto('file_writes')
    .values({ place, path, text, before_sha256, flow_id, created_at: isoNow(clock) })
    .execute();
}

/** The text a committed change wants the file to have and that is not written yet; undefined when there is none. */
export async function plannedText(queries: Queries, place: string, path: string): Promise<string | null | undefined> {
  const row = await queries
    .selectFrom('file_writes')
    .select('text')
    .where('place', '=', place)
    .where('path', '=', path)
    .orderBy('write_key', 'desc')
    .limit(1)
    .executeTakeFirst();
  return row?.text;
}

/** Writes what is planned, in one place or in all. When nothing is, it costs one small read. */
export async function settleWrites(needs: SettleNeeds, place?: string): Promise<Settled> {
  const settled: Settled = { written: [], kept_aside: [], failed: [] };
  for (const each of await placesWithWrites(needs.database.queries, place)) {
    const seen = new Set<string>();
    let after: number | null = 0;
    while (after !== null) {
      const from: number = after;
      after = await needs.database.transaction((trx) => settleBatch(trx, needs, each, from, seen, settled));
    }
  }
  return settled;
}

async function placesWithWrites(queries: Queries, place: string | undefined): Promise<string[]> {
  if (place === undefined) {
    const rows = await queries.selectFrom('file_writes').select('place').distinct().orderBy('place').execute();
    return rows.map((row) => row.place);
  }
  const row = await queries.selectFrom('file_writes').select('place').where('place', '=', place).limit(1).execute();
  return row.map((found) => found.place);
}

/** One batch; returns where the next begins, or null when this was the last. */
async function settleBatch(
  trx: Trx,
  needs: SettleNeeds,
  place: string,
  after: number,
  seen: Set<string>,
  settled: Settled,
): Promise<number | null> {
  await takeTurns(trx, needs.database.dialect, place);
  const ahead = await trx
    .selectFrom('file_writes')
    .select(['write_key', 'path'])
    .where('place', '=', place)
    .where('write_key', '>', after)
    .orderBy('write_key')
    .limit(BATCH_ROWS)
    .execute();
  for (const { path } of ahead) {
    if (seen.has(path)) continue;
    seen.add(path);
    const rows = await rowsOf(trx, place, path);
    const known = settled.kept_aside.length;
    const isSettled = settlePath(needs, rows, settled);
    for (const { moved_to } of settled.kept_aside.slice(known)) await rememberKept(trx, needs.clock, rows, moved_to);
    if (!isSettled) continue;
    const keys = rows.map(({ write_key }) => write_key);
    await trx.deleteFrom('file_writes').where('write_key', 'in', keys).execute();
  }
  return ahead.length < BATCH_ROWS ? null : (ahead.at(-1)?.write_key ?? null);
}

/** So that it is known later whose text the file with the other name holds. */
async function rememberKept(trx: Trx, clock: Clock, rows: Row[], path: string): Promise<void> {
  const last = rows.at(-1);
  if (!last) return;
  await trx
    .insertInto('kept_files')
    .values({ place: last.place, path, flow_id: last.flow_id ?? null, kept_at: isoNow(clock) })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

async function rowsOf(trx: Trx, place: string, path: string): Promise<Row[]> {
  return trx
    .selectFrom('file_writes')
    .selectAll()
    .where('place', '=', place)
    .where('path', '=', path)
    .orderBy('write_key')
    .execute();
}

/** Brings one file to the last text planned for it. False when the disk refused. */
function settlePath(needs: SettleNeeds, rows: Row[], settled: Settled): boolean {
  const [first] = rows;
  if (!first) return false;
  const { place, path } = first;
  try {
    const moved_to = bringAbout(needs.rootOf(place), path, rows);
    settled.written.push(path);
    if (moved_to !== null) {
      settled.kept_aside.push({ path, moved_to });
      const message = `${path} was edited while a change of it was written. The edited text is kept as ${moved_to}.`;
      needs.log.warn({ place, path, moved_to }, inertLine(message));
    }
    return true;
  } catch (error) {
    const reason = faultOf(error);
    settled.failed.push({ path, reason });
    const message = `${path} could not be written: ${reason}. It is tried again later.`;
    needs.log.warn({ place, path, reason }, inertLine(message));
    return false;
  }
}

/** Returns where an edited file was kept; null when nobody had edited it. */
function bringAbout(root: string, path: string, rows: Row[]): string | null {
  const text = rows.at(-1)?.text ?? null;
  const found = hashFile(root, path);
  if (found === hashOf(text)) {
    settleFile(root, path);
    return null;
  }
  // Any of these may be there: what was there before, and what an attempt that broke off has written.
  const ours = new Set(rows.flatMap((row) => [row.before_sha256, hashOf(row.text)]));
  const mark = `edited-${stamp(rows[0]?.created_at ?? '')}`;
  const moved_to = found === null || ours.has(found) ? null : nameAside(root, path, mark);
  if (text === null) removeFile(root, path);
  else replaceFile(root, path, text);
  return moved_to;
}

function hashOf(text: string | null): string | null {
  return text === null ? null : sha256Hex(text);
}

/** 2026-01-31T10:20:30.456Z → 20260131T102030Z. Of the plan and not of now, so that a second attempt finds the name. */
function stamp(at: string): string {
  return `${at.slice(0, 19).replaceAll(/[-:]/g, '')}Z`;
}
