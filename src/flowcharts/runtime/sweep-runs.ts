import { type Database, rows } from '../../database/index.ts';
import type { Clock } from '../../kernel/clock.ts';
import { KEY_HOURS } from './idempotency.ts';
import { streamOf } from './run-events.ts';

const BATCH = 100;
const DAY_MS = 86_400_000;

/**
 * Removes runs that ended longer ago than `days`, with their node runs, artifacts and events; 0 keeps all. A run that
 * another one took outputs from stays for as long as that one does.
 */
export async function sweepRuns(database: Database, clock: Clock, days: number): Promise<number> {
  if (days === 0) return 0;
  const before = new Date(clock.now().getTime() - days * DAY_MS).toISOString();
  let swept = 0;
  for (;;) {
    const count = await database.script(function* () {
      const old = yield* rows<{ id: number }>(
        `select id from flowchart_runs old where finished_at is not null and finished_at < ? and not exists
          (select 1 from flowchart_runs later where later.replayed_from_run_id = old.id)
        order by finished_at limit ${BATCH}`,
        before,
      );
      for (const { id } of old) {
        yield* rows('delete from events where stream = ?', streamOf(id));
        yield* rows('delete from streams where stream = ?', streamOf(id));
        yield* rows('delete from flowchart_runs where id = ?', id);
      }
      return old.length;
    });
    swept += count;
    if (count < BATCH) return swept;
  }
}

export async function sweepKeys(database: Database, clock: Clock): Promise<void> {
  const before = new Date(clock.now().getTime() - KEY_HOURS * 3_600_000).toISOString();
  await database.script(() => rows('delete from runtime_idempotency_keys where first_seen_at <= ?', before));
}
