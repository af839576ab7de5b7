import { sweepArtifacts } from './artifacts/index.ts';
import { type ChatflowNeeds, sweepChatflows } from './chatflows/index.ts';
import { type Database, pruneEvents } from './database/index.ts';
import { sweepKeys, sweepRuns } from './flowcharts/index.ts';
import type { Clock } from './kernel/clock.ts';
import type { Config } from './kernel/config.ts';
import type { Log } from './kernel/log.ts';

const EVERY_MS = 10 * 60_000;
const HOUR_MS = 3_600_000;

export interface HousekeepingNeeds {
  database: Database;
  clock: Clock;
  config: Config;
  log: Log;
}

/** Removes what has outlived its retention: artifacts, runs, events, keys, versions of chatflows. */
export async function tidy({ database, clock, config }: HousekeepingNeeds): Promise<void> {
  await sweepArtifacts(database, clock);
  await sweepRuns(database, clock, config['retention.run_days']);
  await sweepKeys(database, clock);
  const before = new Date(clock.now().getTime() - config['retention.event_hours'] * HOUR_MS).toISOString();
  await pruneEvents(database, before);
  await sweepChatflows(database, clock, config['retention.chatflow_versions']);
}

/** Tidies now and every ten minutes until it is told to stop. */
export function keepTidy(needs: HousekeepingNeeds): () => void {
  let isAtWork = false;
  const work = async (): Promise<void> => {
    if (isAtWork) return;
    isAtWork = true;
    try {
      await tidy(needs);
    } catch (error) {
      needs.log.warn({ error }, 'tidying up failed; trying again later');
    } finally {
      isAtWork = false;
    }
  };
  void work();
  const timer = setInterval(() => void work(), EVERY_MS);
  timer.unref();
  return () => clearInterval(timer);
}

/** Records edits made in Flowise itself, where an interval is set. */
export async function keepSynced(needs: ChatflowNeeds): Promise<() => void> {
  if (needs.config.flowise_sync_minutes === 0) return () => {};
  return (await import('./chatflows/keep-synced.ts')).keepSynced(needs);
}
