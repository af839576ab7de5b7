import type { Database, Queries, Trx } from '../database/index.ts';
import { applyRetirement, applyVersion, type Head, holdHead, readHead } from '../flows/apply.ts';
import { type FlowBundle, flowStateId, mirrorPathOf, validateFlowBundle } from '../flows/index.ts';
import type { Clock } from '../kernel/clock.ts';
import { sha256Hex } from '../kernel/hash.ts';
import type { Principal } from '../operations/index.ts';
import type { Policy } from '../policy/index.ts';
import type { Applied, Approver, ProposalRow, ProposalTarget, Rebase } from '../proposals/index.ts';
import { type Files, placeOf } from '../vault/index.ts';
import { invalidDraft } from './draft.ts';
import { assertAuthoringOpen, assertWithinCaps } from './gate.ts';
import { mirrorText } from './mirror-note.ts';
import { assertMirrorPathOurs, mirrorOf } from './mirror-rows.ts';
import { assertNewer, lineageConflict } from './precheck.ts';

export interface FlowTargetNeeds {
  database: Database;
  clock: Clock;
  policy: Policy;
  files: Files;
}

/** Flows as what a proposal changes: the only way, beside seeding and the operator's import, that one is written. */
export function createFlowTarget(needs: FlowTargetNeeds): ProposalTarget {
  return {
    apply: (trx, proposal, approver) => apply(needs, trx, proposal, approver),
    rebase,
    rivals: async (proposal) => ({ flow_id: flowIdOf(proposal) }),
  };
}

async function apply(needs: FlowTargetNeeds, trx: Trx, proposal: ProposalRow, approver: Approver): Promise<Applied> {
  const policy = needs.policy.values();
  assertAuthoringOpen(policy);
  const { dialect } = needs.database;
  const flowId = flowIdOf(proposal);
  const head = await holdHead(trx, dialect, proposal.vault_id, flowId);
  assertStillBased(proposal, head, approver.principal);
  if (proposal.flow_kind === 'retire') {
    await applyRetirement(trx, { dialect, clock: needs.clock }, proposal.vault_id, flowId);
    await removeMirror(needs, trx, proposal.vault_id, flowId);
    return { state_id: proposal.base_state_id, path: null };
  }
  const bundle = bundleOf(proposal);
  assertWithinCaps(policy, bundle.steps);
  assertNewer(bundle.flow.version, { version: proposal.base_version, state_id: '', sha256: null, scope: null });
  await assertMirrorPathOurs(trx, proposal.vault_id, bundle.flow);
  const stored = await applyVersion(
    trx,
    { dialect, clock: needs.clock },
    proposal.vault_id,
    bundle,
    proposal.proposal_id,
  );
  const state_id = flowStateId(stored.flow, stored.steps);
  const path = await planMirror(needs, trx, proposal, stored, approver);
  return { state_id, path };
}

function flowIdOf(proposal: ProposalRow): string {
  if (proposal.flow_id === null) throw new Error('a proposal of a flow has no flow_id');
  return proposal.flow_id;
}

/** The binding check: version, token, and the hash that nobody can make by chance or on purpose. */
function assertStillBased(proposal: ProposalRow, head: Head | null, reader: Principal): void {
  const seen = head && head.retired_at === null && reader.visible_scopes.has(head.scope) ? head : null;
  const isFree = proposal.flow_kind === 'new' || proposal.flow_kind === 'import';
  if (isFree) {
    if (head) throw lineageConflict('A flow with that id has come to be meanwhile.', seen);
    return;
  }
  if (!head || head.retired_at !== null) throw lineageConflict('The flow is no longer there.', null);
  const isSame =
    head.version === proposal.base_version &&
    head.state_id === proposal.base_state_id &&
    head.content_sha256 === proposal.base_sha256;
  if (!isSame) throw lineageConflict('The flow has changed since this was proposed.', seen);
}

/** What was proposed, judged again: nothing that lay in the database is believed. */
export function bundleOf(proposal: ProposalRow): FlowBundle {
  const verdict = validateFlowBundle(parsed(proposal.body));
  if (verdict.ok && verdict.bundle.flow.flow_id === proposal.flow_id) return verdict.bundle;
  throw invalidDraft(
    'FLOW_DRAFT_INVALID',
    verdict.ok ? [{ code: 'flow_id_mismatch', message: 'is another flow', path: '/flow/flow_id' }] : verdict.issues,
  );
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

async function planMirror(
  needs: FlowTargetNeeds,
  trx: Trx,
  proposal: ProposalRow,
  stored: FlowBundle,
  approver: Approver,
): Promise<string> {
  const { vault_id } = proposal;
  const path = mirrorPathOf(stored.flow);
  const before = await mirrorOf(trx, vault_id, stored.flow.flow_id);
  if (before && before.path !== path) await removeMirror(needs, trx, vault_id, stored.flow.flow_id);
  const text = mirrorText(stored, proposal, approver.principal.actor_hash, approver.at);
  const row = {
    vault_id,
    path,
    flow_id: stored.flow.flow_id,
    version: stored.flow.version,
    text_sha256: sha256Hex(text),
  };
  await trx
    .insertInto('flow_mirrors')
    .values(row)
    .onConflict((conflict) => conflict.columns(['vault_id', 'path']).doUpdateSet(row))
    .execute();
  // What we put there last is what we expect there; anything else is somebody's edit and will be kept aside. The edit
  // that this proposal was made from has come home.
  const place = placeOf(vault_id);
  const last = before?.path === path ? before.text_sha256 : null;
  const offered = offeredMirror(proposal);
  const isOffered = offered !== null && offered === sha256Hex((await needs.files.text(trx, place, path)) ?? '');
  const { flow_id } = stored.flow;
  await needs.files.plan(trx, { place, path, text, flow_id, before_sha256: isOffered ? offered : last });
  return path;
}

/** Hash of the edited mirror that was offered as this proposal. */
function offeredMirror(proposal: ProposalRow): string | null {
  const { mirror_sha256 } = JSON.parse(proposal.frontmatter_json) as { mirror_sha256?: string };
  return mirror_sha256 ?? null;
}

async function removeMirror(needs: FlowTargetNeeds, trx: Trx, vaultId: string, flowId: string): Promise<void> {
  const mirror = await mirrorOf(trx, vaultId, flowId);
  if (!mirror) return;
  await trx.deleteFrom('flow_mirrors').where('vault_id', '=', vaultId).where('flow_id', '=', flowId).execute();
  const { path, text_sha256 } = mirror;
  await needs.files.plan(trx, {
    place: placeOf(vaultId),
    path,
    text: null,
    flow_id: flowId,
    before_sha256: text_sha256,
  });
}

/** What is there now, for a reader who may see it. */
async function rebase(queries: Queries, proposal: ProposalRow, reader: Principal): Promise<Rebase | null> {
  if (proposal.status === 'approved' || proposal.status === 'discarded') return null;
  const head = await readHead(queries, proposal.vault_id, flowIdOf(proposal));
  if (!head || head.retired_at !== null || !reader.visible_scopes.has(head.scope)) return null;
  if (head.content_sha256 === proposal.base_sha256 && proposal.status === 'proposed') return null;
  return {
    current_version: head.version,
    current_state_id: head.state_id,
    advice:
      'Read the flow as it is now, repeat the edit on it, and propose again with this base_version and base_state_id.',
  };
}
