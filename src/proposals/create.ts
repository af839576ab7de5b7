import { randomUUID } from 'node:crypto';
import { appendEvent, type Database, type Queries, type Trx, takeTurns } from '../database/index.ts';
import { stableStringify } from '../kernel/canonical-json.ts';
import { type Clock, isoNow } from '../kernel/clock.ts';
import { refusal } from '../kernel/errors.ts';
import { sha256Hex } from '../kernel/hash.ts';
import { type Principal, SCOPES, type Scope } from '../operations/index.ts';
import { flag, NO_TRIGGERS, type Policy } from '../policy/index.ts';
import { concernedScopes } from './concerned-scopes.ts';
import { findByIdempotencyKey, insertProposal } from './proposal-store.ts';
import { NOT_EVALUATED, type ProposalRow } from './record.ts';

/** A change somebody asks for, checked already; what becomes of it is the policy's matter. */
export interface ProposalDraft {
  target: ProposalRow['target'];
  path: string;
  source: string;
  intent: string;
  body: string;
  frontmatter: Record<string, unknown>;
  labels: string[];
  external_ref: string;
  base_state_id: string;
  base_sha256: string | null;
  base_text: string | null;
  review_queue: string;
  auto_approvable: boolean;
  flow: {
    flow_id: string;
    kind: NonNullable<ProposalRow['flow_kind']>;
    version: string | null;
    base_version: string | null;
    scope: Scope;
  } | null;
  idempotency: Idempotency | null;
}

/** A client's own key for a request, and the request it was used for. */
export interface Idempotency {
  key: string;
  request_sha256: string;
}

export function idempotencyOf(key: string | undefined, request: unknown): Idempotency | null {
  return key === undefined ? null : { key, request_sha256: sha256Hex(stableStringify(request)) };
}

/** What the same request made before, if it was sent before under the same key. */
export async function earlierProposal(
  queries: Queries,
  principal: Principal,
  idempotency: Idempotency | null,
): Promise<ProposalRow | null> {
  if (!idempotency) return null;
  const earlier = await findByIdempotencyKey(queries, principal.vault_id, principal.user_id, idempotency.key);
  if (!earlier || earlier.request_sha256 === idempotency.request_sha256) return earlier;
  throw refusal('CONFLICT', 'The idempotency key was used for another proposal. Choose a new key for a new proposal.');
}

const UNREADABLE_TRIGGERS = 'triggers_unreadable';

/**
 * The one way a proposal comes to be, for notes and flows alike: every creation passes the evaluation policy and the
 * review triggers. The same key from the same author gives the same proposal again.
 */
export async function createProposal(
  trx: Trx,
  needs: { database: Database; clock: Clock; policy: Policy },
  principal: Principal,
  draft: ProposalDraft,
): Promise<ProposalRow> {
  const { flow, frontmatter, labels, idempotency, ...plain } = draft;
  if (idempotency) {
    await takeTurns(trx, needs.database.dialect, `idempotency:${principal.vault_id}:${idempotency.key}`);
    const earlier = await earlierProposal(trx, principal, idempotency);
    if (earlier) return earlier;
  }
  const flagged = flagsOf(needs.policy, draft);
  const isPending = flagged.reasons.length > 0 || needs.policy.values().proposal_evaluation_required;
  const now = isoNow(needs.clock);
  const row = await insertProposal(trx, {
    ...plain,
    proposal_id: randomUUID(),
    vault_id: principal.vault_id,
    status: 'proposed',
    frontmatter_json: JSON.stringify(frontmatter),
    labels_json: JSON.stringify(labels),
    label_words: labels.length === 0 ? '' : `\n${labels.map((label) => label.toLowerCase()).join('\n')}\n`,
    flow_id: flow?.flow_id ?? null,
    flow_kind: flow?.kind ?? null,
    flow_version: flow?.version ?? null,
    base_version: flow?.base_version ?? null,
    scope: flow?.scope ?? null,
    auto_approvable: Number(draft.auto_approvable),
    review_queue: flagged.review_queue ?? draft.review_queue,
    review_severity: flagged.review_severity,
    flag_reasons_json: JSON.stringify(flagged.reasons),
    evaluation_status: isPending ? 'pending' : 'none',
    evaluation_json: JSON.stringify(NOT_EVALUATED),
    waiver_json: null,
    proposed_by: principal.user_id,
    proposed_as: principal.kind,
    actor_hash: principal.actor_hash,
    decided_by: null,
    decided_at: null,
    decision_note: '',
    self_approved: 0,
    applied_state_id: null,
    idempotency_key: idempotency?.key ?? null,
    request_sha256: idempotency?.request_sha256 ?? null,
    created_at: now,
    updated_at: now,
  });
  await announce(trx, needs.clock, row, 'proposal.created');
  return row;
}

/** Triggers that cannot be read might flag anything, so then everything is flagged. */
function flagsOf(policy: Policy, draft: ProposalDraft) {
  const triggers = policy.triggers();
  const flagged = flag('value' in triggers ? triggers.value : NO_TRIGGERS, { ...draft, body: writtenWords(draft) });
  if ('value' in triggers) return flagged;
  return { ...flagged, reasons: [UNREADABLE_TRIGGERS], review_severity: 'elevated' as const };
}

/** Every text as it was written: of a flow the values of its bundle, not the JSON around them; of a note its front block too. */
function writtenWords(draft: ProposalDraft): string {
  const body = draft.target === 'flow' && draft.body !== '' ? (JSON.parse(draft.body) as unknown) : draft.body;
  return textsIn([body, draft.frontmatter]).join('\n');
}

function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  if (value === null || typeof value !== 'object') return [];
  if (Array.isArray(value)) return value.flatMap(textsIn);
  return Object.entries(value).flatMap(([key, member]) => [key, ...textsIn(member)]);
}

/** The event of a proposal: who may see it follows from the scope it carries, the higher of what the flow is and would be. */
export async function announce(trx: Trx, clock: Clock, row: ProposalRow, type: string): Promise<void> {
  const { proposal_id, target, flow_id, flow_kind } = row;
  const concerned = await concernedScopes(trx, row);
  const scope = SCOPES.findLast((each) => concerned.includes(each)) ?? null;
  await appendEvent(trx, clock, {
    stream: `vault:${row.vault_id}`,
    type,
    payload: { proposal_id, target, flow_id, flow_kind, scope },
  });
}
