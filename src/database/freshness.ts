import { type Ready, whenReady } from '../kernel/ready.ts';
import type { Database, Trx } from './database.ts';

/**
 * What tells a kept answer that it is stale. Writers bump a topic's revision in the transaction of their change; readers
 * compare revisions. While the database's stamp has not moved, no query is needed to know that no revision has.
 */
export interface Freshness {
  revision(topic: string): Ready<number>;
}

export function createFreshness(database: Database): Freshness {
  let seenStamp = '';
  const known = new Map<string, number>();

  const under = (stamp: string, topic: string): Ready<number> => {
    if (stamp !== seenStamp) {
      known.clear();
      seenStamp = stamp;
    }
    const revision = known.get(topic);
    return revision ?? lookUp(stamp, topic);
  };

  const lookUp = async (stamp: string, topic: string): Promise<number> => {
    const row = await database.queries
      .selectFrom('revisions')
      .select('revision')
      .where('topic', '=', topic)
      .executeTakeFirst();
    const revision = row?.revision ?? 0;
    if (stamp === seenStamp) known.set(topic, revision);
    return revision;
  };

  return {
    revision: (topic) => whenReady(database.stamp(), (stamp) => under(stamp, topic)),
  };
}

export async function bumpRevision(trx: Trx, topic: string): Promise<void> {
  await trx
    .insertInto('revisions')
    .values({ topic, revision: 1 })
    .onConflict((conflict) =>
      conflict.column('topic').doUpdateSet((row) => ({ revision: row('revisions.revision', '+', 1) })),
    )
    .execute();
}

/** Answers that stay ready until their topic's revision moves. When there are too many, the oldest go first. */
export class Kept<T> {
  readonly #entries = new Map<string, { revision: number; value: Ready<T> }>();
  readonly #freshness: Freshness;
  readonly #capacity: number;

  constructor(freshness: Freshness, capacity: number) {
    this.#freshness = freshness;
    this.#capacity = capacity;
  }

  /** The kept answer, or a computed one; at once, without a promise, when the kept one is known to be fresh. */
  get(topic: string, key: string, compute: () => Promise<T>): Ready<T> {
    return whenReady(this.#freshness.revision(topic), (revision) => this.#at(revision, key, compute));
  }

  #at(revision: number, key: string, compute: () => Promise<T>): Ready<T> {
    const entry = this.#entries.get(key);
    if (entry?.revision === revision) return entry.value;
    return this.#put(key, revision, compute());
  }

  /** Whoever asks while the answer is being computed waits for the same computation. A failed one is not kept. */
  #put(key: string, revision: number, coming: Promise<T>): Promise<T> {
    const fresh: { revision: number; value: Ready<T> } = { revision, value: coming };
    this.#entries.delete(key);
    this.#entries.set(key, fresh);
    for (const oldest of this.#entries.keys()) {
      if (this.#entries.size <= this.#capacity) break;
      this.#entries.delete(oldest);
    }
    coming.then(
      (value) => {
        fresh.value = value;
      },
      () => {
        if (this.#entries.get(key) === fresh) this.#entries.delete(key);
      },
    );
    return coming;
  }
}
