import type { Database, Queries, Trx } from '../database/index.ts';
import { type Chatflow, stampOf } from '../flowise/index.ts';
import { arrivedLate, openIntents, settledIntents } from './intents.ts';
import { recordRemoval, recordVersion, UNKNOWN_AUTHOR, type VersionRow } from './versions.ts';

/** What was seen on a server at one moment. */
export interface Sighting {
  vault_id: string;
  server: string;
  chatflows: readonly Chatflow[];
  /** Only this one was asked for; the absence of others says nothing. */
  only?: string | undefined;
  /** Before the server was asked: what was written down since is newer than what was seen. */
  looked_at: string;
  now: string;
}

/** Writes down what differs from the newest versions; what is gone is noted as removed. Returns what was written. */
export async function recordSighting(
  trx: Trx,
  dialect: Database['dialect'],
  key: Uint8Array,
  { vault_id, server, chatflows, only, looked_at, now }: Sighting,
): Promise<VersionRow[]> {
  const known = await newestVersions(trx, vault_id, server);
  const isNewer = (latest: VersionRow | undefined): boolean => latest !== undefined && latest.created_at > looked_at;
  // A write that has just arrived is written down by its sender, who knows whose it is.
  const underWay = new Set((await openIntents(trx, { vault_id, server })).map(({ write_id }) => write_id));
  const stamps = new Map(chatflows.map((chatflow) => [chatflow.id, stampOf(chatflow.flowData) ?? '']));
  const late = await settledIntents(trx, { vault_id, server }, [...stamps.values()]);
  const recorded: VersionRow[] = [];
  for (const chatflow of chatflows) {
    const stamp = stamps.get(chatflow.id) ?? '';
    if (isNewer(known.get(chatflow.id)) || underWay.has(stamp)) continue;
    const place = { vault_id, server, chatflow_id: chatflow.id };
    // One of ours that was taken to be lost: it is told as what it is.
    const ours = late.get(stamp);
    if (ours) await arrivedLate(trx, stamp, chatflow.id);
    const recording = ours
      ? {
          place,
          origin: ours.origin,
          author: ours.author,
          message: lateMessage(stamp, ours.message),
          write_id: stamp,
          now,
        }
      : { place, origin: 'edit' as const, author: UNKNOWN_AUTHOR, now };
    const row = await recordVersion(trx, dialect, { vault_id, key }, chatflow, recording);
    if (row.version !== known.get(chatflow.id)?.version) recorded.push(row);
  }
  const present = new Set(chatflows.map(({ id }) => id));
  for (const [chatflowId, latest] of known) {
    const isGone = !present.has(chatflowId) && (only === undefined || only === chatflowId);
    if (isGone && latest.origin !== 'removed' && !isNewer(latest)) recorded.push(await recordRemoval(trx, latest, now));
  }
  return recorded;
}

function lateMessage(writeId: string, message: string): string {
  return `${writeId} arrived late${message === '' ? '' : `: ${message}`}`;
}

async function newestVersions(queries: Queries, vaultId: string, server: string): Promise<Map<string, VersionRow>> {
  const rows = await queries
    .selectFrom('chatflow_versions as v')
    .selectAll()
    .where('vault_id', '=', vaultId)
    .where('server', '=', server)
    .where((e) =>
      e(
        'version',
        '=',
        e
          .selectFrom('chatflow_versions as w')
          .select((f) => f.fn.max('w.version').as('newest'))
          .whereRef('w.vault_id', '=', 'v.vault_id')
          .whereRef('w.server', '=', 'v.server')
          .whereRef('w.chatflow_id', '=', 'v.chatflow_id'),
      ),
    )
    .execute();
  return new Map(rows.map((row) => [row.chatflow_id, row]));
}
