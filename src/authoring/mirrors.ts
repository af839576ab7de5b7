import type { Database } from '../database/index.ts';
import { readVersion } from '../flows/index.ts';
import { FlowrightError } from '../kernel/errors.ts';
import { sha256Hex } from '../kernel/hash.ts';
import { actorHash, type Principal } from '../operations/index.ts';
import { type Files, placeOf } from '../vault/index.ts';
import { mirrorText } from './mirror-note.ts';
import { type MirrorRow, mirrorOf } from './mirror-rows.ts';

export type MirrorState = 'in_step' | 'behind' | 'edited' | 'missing' | 'unreadable';

export interface MirrorView {
  flow_id: string;
  version: string;
  path: string;
  state: MirrorState;
}

interface MirrorNeeds {
  database: Database;
  files: Files;
}

const MAX_MIRRORS = 200;

/** How each visible flow's mirror stands beside the library. The library is right; an edit is somebody's wish. */
export async function listMirrors(
  needs: MirrorNeeds,
  principal: Principal,
  after: string,
): Promise<{ mirrors: MirrorView[]; next_cursor: string | null }> {
  if (principal.visible_scopes.size === 0) return { mirrors: [], next_cursor: null };
  await needs.files.settle(placeOf(principal.vault_id));
  const rows = await needs.database.queries
    .selectFrom('flow_mirrors')
    .innerJoin('flows', (join) =>
      join.onRef('flows.vault_id', '=', 'flow_mirrors.vault_id').onRef('flows.flow_id', '=', 'flow_mirrors.flow_id'),
    )
    .selectAll('flow_mirrors')
    .select('flows.version as head')
    .where('flow_mirrors.vault_id', '=', principal.vault_id)
    .where('flows.scope', 'in', [...principal.visible_scopes])
    .where('flow_mirrors.flow_id', '>', after)
    .orderBy('flow_mirrors.flow_id')
    .limit(MAX_MIRRORS + 1)
    .execute();
  const page = rows.slice(0, MAX_MIRRORS);
  const mirrors = await Promise.all(page.map((row) => viewOf(needs, row)));
  return { mirrors, next_cursor: rows.length > MAX_MIRRORS ? (page.at(-1)?.flow_id ?? null) : null };
}

/** Behind: a version came by the operator's import, which writes no mirrors. */
async function viewOf(needs: MirrorNeeds, row: MirrorRow & { head: string }): Promise<MirrorView> {
  const { state } = await lookAt(needs, row);
  const isBehind = state === 'in_step' && row.head !== row.version;
  return { flow_id: row.flow_id, version: row.version, path: row.path, state: isBehind ? 'behind' : state };
}

/** Something else in the note's place, such as a link, must not hide how the other mirrors are. */
async function lookAt(needs: MirrorNeeds, row: MirrorRow): Promise<{ text: string | null; state: MirrorState }> {
  try {
    const text = await needs.files.text(needs.database.queries, placeOf(row.vault_id), row.path);
    if (text === null) return { text, state: 'missing' };
    return { text, state: sha256Hex(text) === row.text_sha256 ? 'in_step' : 'edited' };
  } catch (error) {
    if (error instanceof FlowrightError && error.code === 'NOTE_UNREADABLE') return { text: null, state: 'unreadable' };
    throw error;
  }
}

/** The mirror as it lies on disk. */
export async function readMirror(needs: MirrorNeeds, vaultId: string, flowId: string) {
  const row = await mirrorOf(needs.database.queries, vaultId, flowId);
  return row && { row, ...(await lookAt(needs, row)) };
}

/** The text as the approval wrote it, made again from the library; null when it does not come from a proposal. */
export async function textFromLibrary(queries: Database['queries'], row: MirrorRow): Promise<string | null> {
  const bundle = await readVersion(queries, row.vault_id, row.flow_id, row.version);
  const proposal = await queries
    .selectFrom('flow_versions')
    .innerJoin('proposals', 'proposals.proposal_id', 'flow_versions.proposal_id')
    .select(['proposed_as', 'actor_hash', 'decided_by', 'decided_at'])
    .where('flow_versions.vault_id', '=', row.vault_id)
    .where('flow_versions.flow_id', '=', row.flow_id)
    .where('flow_versions.version', '=', row.version)
    .executeTakeFirst();
  if (!bundle || !proposal?.decided_by || !proposal.decided_at) return null;
  return mirrorText(bundle, proposal, actorHash(proposal.decided_by, row.vault_id), proposal.decided_at);
}
