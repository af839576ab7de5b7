import type { Queries, Trx } from '../database/index.ts';
import { type Flow, mirrorPathOf } from '../flows/index.ts';
import { refusal } from '../kernel/errors.ts';
import type { Principal, Scope } from '../operations/index.ts';
import { invalidDraft } from './draft.ts';

export interface MirrorRow {
  vault_id: string;
  path: string;
  flow_id: string;
  version: string;
  text_sha256: string;
}

export async function mirrorOf(queries: Queries, vaultId: string, flowId: string): Promise<MirrorRow | null> {
  const row = await queries
    .selectFrom('flow_mirrors')
    .selectAll()
    .where('vault_id', '=', vaultId)
    .where('flow_id', '=', flowId)
    .executeTakeFirst();
  return row ?? null;
}

/** Which flow a path mirrors, and the scope that decides who may read it. */
export async function mirroredAt(
  queries: Queries,
  vaultId: string,
  path: string,
): Promise<{ flow_id: string; scope: Scope } | null> {
  const row = await queries
    .selectFrom('flow_mirrors')
    .innerJoin('flows', (join) =>
      join.onRef('flows.vault_id', '=', 'flow_mirrors.vault_id').onRef('flows.flow_id', '=', 'flow_mirrors.flow_id'),
    )
    .select(['flow_mirrors.flow_id', 'flows.scope'])
    .where('flow_mirrors.vault_id', '=', vaultId)
    .where('flow_mirrors.path', '=', path)
    .executeTakeFirst();
  return row ? { flow_id: row.flow_id, scope: row.scope as Scope } : null;
}

/** As `mirroredAt`, and the flow whose own path this is by its id, though it has no mirror yet. */
async function holderOf(queries: Queries, vaultId: string, path: string) {
  const mirrored = await mirroredAt(queries, vaultId, path);
  const flowId = `flow_${path.slice('meta/flows/'.length, -'.md'.length).replaceAll('-', '_')}`;
  if (mirrored || mirrorPathOf({ flow_id: flowId, vault_mirror_path: null }) !== path) return mirrored;
  const row = await queries
    .selectFrom('flows')
    .select('scope')
    .where('vault_id', '=', vaultId)
    .where('flow_id', '=', flowId)
    .where('retired_at', 'is', null)
    .executeTakeFirst();
  return row ? { flow_id: flowId, scope: row.scope as Scope } : null;
}

/** At the proposal: a path that belongs to another flow is a mistake, if its author may know of that flow. */
export async function assertMirrorPathFree(queries: Queries, principal: Principal, flow: Flow): Promise<void> {
  const holder = await holderOf(queries, principal.vault_id, mirrorPathOf(flow));
  if (!holder || holder.flow_id === flow.flow_id || !principal.visible_scopes.has(holder.scope)) return;
  const message = `is the mirror of ${holder.flow_id}; choose another, or null`;
  throw invalidDraft('FLOW_DRAFT_INVALID', [{ code: 'path_taken', message, path: '/flow/vault_mirror_path' }]);
}

/** At the approval, whoever holds it. */
export async function assertMirrorPathOurs(trx: Trx, vaultId: string, flow: Flow): Promise<void> {
  const holder = await holderOf(trx, vaultId, mirrorPathOf(flow));
  if (!holder || holder.flow_id === flow.flow_id) return;
  throw refusal('CONFLICT', 'Its mirror path belongs to another flow. Discard it and ask for another path.');
}
