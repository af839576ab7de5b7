import type { FlowBundle } from '../flows/index.ts';
import type { Principal } from '../operations/index.ts';

/** A proposal as a difference: what it was based on, and what it would make of it. */
export interface ProposedDraft {
  proposal_id: string;
  /** Null for a new flow. */
  base: FlowBundle | null;
  /** Null when it retires the flow. */
  draft: FlowBundle | null;
}

/** Reads proposals for the principal. One that is not there, or may not be seen, is refused with NOT_FOUND. */
export interface DraftReader {
  flowDraft(principal: Principal, flowId: string, proposalId: string): Promise<ProposedDraft>;
}
