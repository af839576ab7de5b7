export type { FlowChange, FlowDiff } from './change.ts';
export { compareDraft } from './compare-versions.ts';
export { diffFlows } from './diff-flows.ts';
export { FlowDiffResponse } from './diff-payload.ts';
export type { DraftReader, ProposedDraft } from './drafts.ts';
export { renderFlowDiff } from './render.ts';
export type { Bump } from './version-class.ts';
