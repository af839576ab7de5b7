import type { ServerRecord } from '../flowise/index.ts';
import { folderOf, type RefreshDeps, workdayFolder } from './refresh.ts';
import { PARTS, type Part } from './refresh-report.ts';
import { KIND_OF } from './refresh-validate.ts';
import { sourceHost } from './server-folder.ts';
import { checkedAt, readSnapshot, type SnapshotMeta, type SnapshotReading } from './snapshot-file.ts';

export const STATES = ['ok', 'empty', 'stub', 'missing', 'mismatch', 'damaged', 'wrong_host', 'banned'] as const;

export interface PartStatus {
  part: Part;
  /** Of the server's own snapshot; of the baseline where there is none of its own. */
  state: (typeof STATES)[number];
  /** What is answered from. */
  origin: 'own' | 'baseline' | 'none';
  items: number;
  generated_at: string | null;
  /** When it was last found to be what the server has. */
  checked_at: string | null;
  age_seconds: number | null;
  ttl_seconds: number | null;
  /** Not below 0; null where nothing expires. */
  ttl_left_seconds: number | null;
  source: string | null;
  source_host: string | null;
  flowise_version: string | null;
  sha256: string | null;
  /** Entries that were missing and fetched one by one. */
  repairs: number;
  /** Entries that the server has no more. */
  removed: number;
  /** What is wrong with it. */
  reason: string | null;
}

/** What is known of a server, without asking it. */
export function knowledgeStatus(deps: RefreshDeps, vaultId: string, server: ServerRecord | null): PartStatus[] {
  const own = folderOf(deps, vaultId, server);
  const host = server ? sourceHost(server.url) : undefined;
  return PARTS.map((part) => {
    const isWorkday = part === 'workday_mcp' || part === 'workday_api';
    const folder = isWorkday ? workdayFolder(deps.config, deps.knowledgeFolders) : own;
    return partStatus(deps, part, folder, isWorkday ? undefined : host);
  });
}

function partStatus(deps: RefreshDeps, part: Part, folder: string, host: string | undefined): PartStatus {
  const kind = KIND_OF[part];
  const own = readSnapshot(folder, kind, host);
  const { baselineDir } = deps.knowledgeFolders;
  const hasBaseline = part !== 'credentials' && own.state !== 'ok';
  const baseline: SnapshotReading = hasBaseline ? readSnapshot(baselineDir, kind) : { state: 'missing' };
  const isUsed = own.state === 'ok' || own.state === 'stub';
  const shown = !isUsed && baseline.state !== 'missing' ? baseline : own;
  const meta: Partial<SnapshotMeta> = 'meta' in shown && shown.state !== 'wrong_host' ? shown.meta : {};
  const state = own.state === 'missing' ? baseline.state : own.state;
  const checked_at = own.state === 'ok' ? (checkedAt(folder, kind, own.meta) ?? null) : (meta.generated_at ?? null);
  const ttl_seconds = own.state === 'ok' ? ttlOf(deps, part) : null;
  const since = Date.parse(checked_at ?? '');
  const age = Number.isNaN(since) ? null : Math.max(0, Math.floor((deps.clock.now().getTime() - since) / 1_000));
  return {
    part,
    state: state === 'ok' && meta.item_count === 0 ? 'empty' : state,
    origin: isUsed ? 'own' : baseline.state === 'ok' || baseline.state === 'stub' ? 'baseline' : 'none',
    items: meta.item_count ?? 0,
    generated_at: meta.generated_at ?? null,
    checked_at,
    age_seconds: age,
    ttl_seconds,
    ttl_left_seconds: ttl_seconds === null || age === null ? null : Math.max(0, ttl_seconds - age),
    source: meta.source ?? null,
    source_host: meta.source_host ?? null,
    flowise_version: meta.flowise_version ?? null,
    sha256: meta.sha256 ?? null,
    repairs: meta.repaired?.length ?? 0,
    removed: meta.removed?.length ?? 0,
    reason: 'reason' in own ? own.reason : null,
  };
}

function ttlOf({ config }: RefreshDeps, part: Part): number | null {
  if (part === 'templates') return config.template_snapshot_ttl_seconds;
  return part === 'credentials' ? config.credential_snapshot_ttl_seconds : null;
}
