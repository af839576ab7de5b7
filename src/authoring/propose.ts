import type { Database } from '../database/index.ts';
import {
  ambiguousScope,
  type FlowBundle,
  type FlowLibrary,
  flowDefinitionForClient,
  mirrorPathOf,
} from '../flows/index.ts';
import { type ErrorCode, refusal } from '../kernel/errors.ts';
import type { Call, Principal, Scope } from '../operations/index.ts';
import type { Policy } from '../policy/index.ts';
import { earlierProposal, idempotencyOf, type ProposalDraft, type ProposalRow } from '../proposals/index.ts';
import { isAutoApprovable } from './auto-approvable.ts';
import {
  type LooseRequest,
  type ProposeRequest,
  readImportRequest,
  readProposeRequest,
  readRetireRequest,
} from './draft.ts';
import { assertAuthoringOpen, assertImportable, assertWithinCaps } from './gate.ts';
import { assertMirrorPathFree } from './mirror-rows.ts';
import { assertNewer, type Base, baseOfEdit, baseOfNew, type Precheck, visibleHead } from './precheck.ts';
import { mayWrite } from './write-authority.ts';

export const REVIEW_QUEUE = 'flow-authoring';

export interface ProposeNeeds {
  database: Database;
  policy: Policy;
  flows: FlowLibrary;
}

type ProposeContext = Call & ProposeNeeds;
type FlowKind = NonNullable<ProposalRow['flow_kind']>;

/**
 * The one handler behind every way of proposing a flow, at every door. The order of its checks is the contract: policy,
 * gate, draft, ambiguous scope, write authority, caps, what an import may bring, concurrency. The first that fails is
 * the answer. Nothing of the library changes here.
 */
export async function prepareProposal(context: ProposeContext, request: LooseRequest): Promise<ProposalDraft> {
  const policy = context.policy.values();
  assertAuthoringOpen(policy);
  const read = readProposeRequest(request);
  const isEdit = [request.flow_id, request.base_version, request.base_state_id].some((given) => given !== undefined);
  assertMayWrite(context.principal, read.bundle.flow.scope, 'FLOW_SCOPE_DENIED');
  assertWithinCaps(policy, read.bundle.steps);
  return draftOf(context, isEdit ? 'edit' : 'new', request, read, (where) =>
    isEdit
      ? baseOfEdit(where, { base_version: request.base_version, base_state_id: request.base_state_id })
      : baseOfNew(where),
  );
}

/** A portable bundle goes the same way; what it may not do has codes of its own. */
export async function prepareImport(context: ProposeContext, request: LooseRequest): Promise<ProposalDraft> {
  const policy = context.policy.values();
  assertAuthoringOpen(policy);
  const read = readImportRequest(request);
  assertMayWrite(context.principal, read.bundle.flow.scope, 'FLOW_IMPORT_SCOPE_DENIED');
  assertWithinCaps(policy, read.bundle.steps);
  assertImportable(policy, read.bundle.steps);
  return draftOf(context, 'import', request, read, baseOfNew);
}

/** Taking a flow out of use is a change like any other. Without a base the flow as it is now is meant. */
export async function prepareRetirement(
  context: ProposeContext,
  request: LooseRequest & { flow_id: string },
): Promise<ProposalDraft> {
  const { principal, database } = context;
  assertAuthoringOpen(context.policy.values());
  const read = readRetireRequest(request);
  assertClear(principal);
  await context.flows.ready(principal.vault_id);
  const where = { queries: database.queries, principal, flowId: request.flow_id };
  const idempotency = idempotencyOf(read.idempotency_key, request);
  const earlier = await earlierProposal(database.queries, principal, idempotency);
  // Once it is approved there is no flow left to look at, and the same request still gives the same proposal.
  const base = earlier ? baseOfEarlier(earlier) : await presentBase(where);
  const scope = base.scope as Scope;
  const isBased = request.base_version !== undefined || request.base_state_id !== undefined;
  if (isBased && !earlier) {
    await baseOfEdit(where, { base_version: request.base_version, base_state_id: request.base_state_id });
  }
  return {
    ...sharedFields(read, 'retire'),
    path: mirrorPathOf({ flow_id: request.flow_id, vault_mirror_path: null }),
    body: '',
    frontmatter: { type: 'flow', flow_id: request.flow_id, flow_version: base.version, scope },
    base_state_id: base.state_id,
    base_sha256: base.sha256,
    base_text: null,
    auto_approvable: false,
    flow: { flow_id: request.flow_id, kind: 'retire', version: null, base_version: base.version, scope },
    idempotency,
  };
}

async function draftOf(
  context: ProposeContext,
  kind: FlowKind,
  request: LooseRequest,
  read: ProposeRequest,
  findBase: (where: { queries: Database['queries']; principal: Principal; flowId: string }) => Promise<Base>,
): Promise<ProposalDraft> {
  const { principal, database } = context;
  await context.flows.ready(principal.vault_id);
  const { flow, steps }: FlowBundle = flowDefinitionForClient(read.bundle.flow, read.bundle.steps);
  // What is asked for, and not how a door words it: an edit may name its flow in its path, a bundle may be wrapped.
  const { idempotency_key, ...wish } = read;
  const { base_version, base_state_id } = request;
  const idempotency = idempotencyOf(idempotency_key, { kind, ...wish, base_version, base_state_id });
  const earlier = await earlierProposal(database.queries, principal, idempotency);
  const base = earlier
    ? baseOfEarlier(earlier)
    : await findBase({ queries: database.queries, principal, flowId: flow.flow_id });
  if (!earlier) {
    assertNewer(flow.version, base);
    await assertMirrorPathFree(database.queries, principal, flow);
  }
  return {
    ...sharedFields(read, kind),
    path: mirrorPathOf(flow),
    body: JSON.stringify({ flow, steps }, null, 2),
    frontmatter: { type: 'flow', flow_id: flow.flow_id, flow_version: flow.version, scope: flow.scope },
    base_state_id: base.state_id,
    base_sha256: base.sha256,
    base_text: null,
    auto_approvable: isAutoApprovable(steps),
    flow: { flow_id: flow.flow_id, kind, version: flow.version, base_version: base.version, scope: flow.scope },
    idempotency,
  };
}

function baseOfEarlier(row: ProposalRow): Base {
  const { base_version, base_state_id, base_sha256, scope } = row;
  return { version: base_version, state_id: base_state_id, sha256: base_sha256, scope: scope as Scope | null };
}

async function presentBase(where: Precheck): Promise<Base> {
  const { version, state_id, content_sha256, scope } = await visibleHead(where);
  return { version, state_id, sha256: content_sha256, scope };
}

function sharedFields(read: Omit<ProposeRequest, 'bundle'>, kind: FlowKind) {
  return {
    target: 'flow' as const,
    source: 'flow',
    intent: read.intent,
    labels: kind === 'import' ? ['import'] : [],
    external_ref: read.external_ref,
    review_queue: REVIEW_QUEUE,
  };
}

function assertClear(principal: Principal): void {
  if (principal.ambiguous) throw ambiguousScope();
}

function assertMayWrite(principal: Principal, scope: Scope, code: ErrorCode): void {
  assertClear(principal);
  if (mayWrite(principal, scope)) return;
  throw refusal(
    code,
    `You may not write ${scope} flows in this vault: personal ones need membership, project ones the role editor, org ones the role admin.`,
  );
}
