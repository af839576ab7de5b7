export { unknownProposal } from './approve.ts';
export { createProposal, earlierProposal, idempotencyOf, type ProposalDraft } from './create.ts';
export { ExternalRef, IdempotencyKey, MAX_INTENT } from './input.ts';
export { createNoteTarget } from './note-target.ts';
export { findProposal } from './proposal-store.ts';
export { ProposalId, type ProposalRow, type Rebase } from './record.ts';
export type { Applied, Approver, ProposalTarget, ProposalTargets } from './target.ts';
