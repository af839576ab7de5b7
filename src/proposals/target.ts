import type { Queries, Trx } from '../database/index.ts';
import type { Principal } from '../operations/index.ts';
import type { ProposalRow, Rebase } from './record.ts';

/** Who decides, and when. */
export interface Approver {
  principal: Principal;
  at: string;
}

export interface Applied {
  /** Token of what is there now. */
  state_id: string;
  /** The file that the change writes; its text is planned, and written after the commit. */
  path: string | null;
}

/** What proposals can change. Each kind of thing says how; the lifecycle around it is the same for all. */
export interface ProposalTarget {
  /** Checks against what is there now, and does it, in the approval's transaction. Throws a conflict. */
  apply(trx: Trx, proposal: ProposalRow, approver: Approver): Promise<Applied>;
  /** What the proposal would have to be based on now; null when it still fits or the reader may not know. */
  rebase(queries: Queries, proposal: ProposalRow, reader: Principal): Promise<Rebase | null>;
  /** Which open proposals lose by this one. */
  rivals(proposal: ProposalRow): Promise<{ flow_id: string } | { path: string }>;
}

export type ProposalTargets = Record<ProposalRow['target'], ProposalTarget>;
