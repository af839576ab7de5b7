import type { Database } from '../database/index.ts';
import { type Clock, isoNow } from '../kernel/clock.ts';

/** Rows a transaction, so that nobody waits long for the lock. */
const BATCH = 500;

/**
 * Removes what has expired; resolves with how many. Nothing else needs these rows: outputs live on the node runs. What
 * a count limits is removed where artifacts are written.
 */
export async function sweepArtifacts(database: Database, clock: Clock): Promise<number> {
  const now = isoNow(clock);
  let swept = 0;
  for (;;) {
    const removed = await database.transaction(async (trx) => {
      const result = await trx
        .deleteFrom('node_artifacts')
        .where('id', 'in', (expired) =>
          expired
            .selectFrom('node_artifacts')
            .select('id')
            .where('expires_at', '<=', now)
            .orderBy('expires_at')
            .limit(BATCH),
        )
        .executeTakeFirst();
      return Number(result.numDeletedRows);
    });
    swept += removed;
    if (removed < BATCH) return swept;
  }
}
