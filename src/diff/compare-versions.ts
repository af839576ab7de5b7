import { ambiguousScope, type FlowBundle, type FlowLibrary } from '../flows/index.ts';
import { keepReady, type Principal } from '../operations/index.ts';
import { diffFlows } from './diff-flows.ts';
import type { FlowDiffResult } from './diff-payload.ts';
import type { DraftReader } from './drafts.ts';

/** Two versions, and the answer made of them: both are kept ready by the library, so the answer is while they are. */
const answers = new WeakMap<FlowBundle, WeakMap<FlowBundle, FlowDiffResult>>();

/** Stands for the version before the first in the map of answers. */
const NOTHING = {} as FlowBundle;

export interface VersionsAsked {
  flow_id: string;
  from?: string | undefined;
  to?: string | undefined;
}

/** One version against another: by default the latest against the one before it. */
export async function compareVersions(
  flows: FlowLibrary,
  principal: Principal,
  { flow_id, from, to }: VersionsAsked,
): Promise<FlowDiffResult> {
  const numbers = await flows.versionNumbers(principal, flow_id);
  const newer = await flows.get(principal, { flow_id, version: to ?? numbers[0] });
  const base = from ?? numbers[numbers.indexOf(newer.flow.version) + 1];
  const older = base === undefined ? null : await flows.get(principal, { flow_id, version: base });
  const known = answers.get(older ?? NOTHING)?.get(newer);
  if (known) return known;
  const answer = keepReady(payload(principal, flow_id, null, older, newer));
  const beside = answers.get(older ?? NOTHING) ?? new WeakMap<FlowBundle, FlowDiffResult>();
  answers.set(older ?? NOTHING, beside.set(newer, answer));
  return answer;
}

/** What a proposal would change. */
export async function compareDraft(
  drafts: DraftReader,
  principal: Principal,
  flowId: string,
  proposalId: string,
): Promise<FlowDiffResult> {
  if (principal.ambiguous) throw ambiguousScope();
  const { base, draft, proposal_id } = await drafts.flowDraft(principal, flowId, proposalId);
  return payload(principal, flowId, proposal_id, base, draft);
}

function payload(
  { vault_id }: Principal,
  flow_id: string,
  proposal_id: string | null,
  older: FlowBundle | null,
  newer: FlowBundle | null,
): FlowDiffResult {
  return {
    schema: 'flowright.flow_diff/v1',
    vault_id,
    flow_id,
    from: older?.flow.version ?? null,
    to: newer?.flow.version ?? null,
    proposal_id,
    ...diffFlows(older, newer),
  };
}
