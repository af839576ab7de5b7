export { anchorsOf, type NodeAnchors } from './anchors.ts';
export type { KnowledgeRefreshResponse } from './answers.ts';
export { createKnowledge, type KnowledgeParts } from './create-knowledge.ts';
export { bannedKeys, CREDENTIAL_FIELDS } from './credential-lint.ts';
export { normaliseNode } from './normalise-node.ts';
export { refreshOperation } from './operations.ts';
export type * from './port.ts';
export { FlowiseKnowledgeProvider } from './provider.ts';
export { parseReference, type ReferenceIssue, writeReference } from './reference.ts';
export { type KnowledgeFolders, refreshKnowledge } from './refresh.ts';
export { PARTS as REFRESH_PARTS } from './refresh-report.ts';
export { serverFolder, sourceHost } from './server-folder.ts';
export {
  credentialsSlice,
  nodeNamesSlice,
  nodeParamsSlice,
  SLICE_LIMITS,
  templatesSlice,
} from './slices.ts';
export {
  readSnapshot,
  SNAPSHOT_KINDS,
  type SnapshotKind,
  type SnapshotMeta,
  type SnapshotReading,
} from './snapshot-file.ts';
export type { StoreContext } from './store-context.ts';
export type { WorkdayAction } from './workday/action.ts';
export { NotImplementedError, WorkdayKnowledgeProvider } from './workday/provider.ts';
