import type { Database } from '../database/index.ts';
import { type Clock, isoNow } from '../kernel/clock.ts';

/** Rows looked at in one transaction, so that nobody waits long for the lock. */
const BATCH = 5_000;

/**
 * Removes what has expired; resolves with how many. Goes through all artifacts a piece at a time: an index by expiry
 * would cost every step of every run a write, and reads never show what has expired anyway. Nothing else needs these
 * rows: outputs live on the node runs. What a count limits is removed where artifacts are written.
 */
export async function sweepArtifacts(database: Database, clock: Clock): Promise<number> {
  const now = isoNow(clock);
  let swept = 0;
  for (let after = 0; ; ) {
    const piece = await database.queries
      .selectFrom('node_artifacts')
      .select(['id', 'expires_at'])
      .where('id', '>', after)
      .orderBy('id')
      .limit(BATCH)
      .execute();
    const last = piece.at(-1);
    if (!last) return swept;
    if (piece.some(({ expires_at }) => expires_at !== null && expires_at <= now)) {
      const removed = await database.queries
        .deleteFrom('node_artifacts')
        .where('id', '>', after)
        .where('id', '<=', last.id)
        .where('expires_at', '<=', now)
        .executeTakeFirst();
      swept += Number(removed.numDeletedRows);
    }
    after = last.id;
  }
}
