import type { Database } from '../database/index.ts';
import type { Clock } from '../kernel/clock.ts';

const DAY_MS = 86_400_000;
/** A text that was only compiled against may still be applied for a while. */
const COMPILED_DAYS = 7;

/** Keeps the newest versions of each chatflow and the labelled ones, and the texts that those and open work need. */
export async function sweepChatflows(database: Database, clock: Clock, keep: number): Promise<void> {
  const before = new Date(clock.now().getTime() - COMPILED_DAYS * DAY_MS).toISOString();
  await database.transaction(async (trx) => {
    const crowded =
      keep === 0
        ? []
        : await trx
            .selectFrom('chatflow_versions')
            .select((e) => ['vault_id', 'server', 'chatflow_id', e.fn.max('version').as('newest')])
            .groupBy(['vault_id', 'server', 'chatflow_id'])
            .having((e) => e.fn.countAll(), '>', keep)
            .execute();
    for (const { vault_id, server, chatflow_id, newest } of crowded) {
      await trx
        .deleteFrom('chatflow_versions')
        .where('vault_id', '=', vault_id)
        .where('server', '=', server)
        .where('chatflow_id', '=', chatflow_id)
        .where('label', 'is', null)
        .where('version', '<=', Number(newest) - keep)
        .execute();
    }
    await trx
      .deleteFrom('chatflow_states')
      .where('created_at', '<', before)
      .where((e) =>
        e.not(
          e.exists(
            e
              .selectFrom('chatflow_versions')
              .select('chatflow_versions.version_key')
              .whereRef('chatflow_versions.vault_id', '=', 'chatflow_states.vault_id')
              .whereRef('chatflow_versions.flow_hash', '=', 'chatflow_states.flow_hash'),
          ),
        ),
      )
      .execute();
    await trx
      .deleteFrom('chatflow_writes')
      .where('status', '!=', 'intended')
      .where('created_at', '<', before)
      .execute();
  });
}
