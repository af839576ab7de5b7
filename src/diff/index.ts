export type { ChangedStep, ChangeKind, FlowChange, FlowDiff } from './change.ts';
export { compareDraft } from './compare-versions.ts';
export { diffFlows } from './diff-flows.ts';
export { FlowDiffResponse } from './diff-payload.ts';
export type { DraftReader, ProposedDraft } from './drafts.ts';
export { type NamedDiff, renderFlowDiff } from './render.ts';
export type { Bump, Class } from './version-class.ts';
