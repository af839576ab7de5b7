export {
  type ContextReferences,
  type ContextSource,
  type ContextSources,
  parseReferences,
  type Reference,
  readSources,
} from './context-references.ts';
export { type ArtifactFilter, type ArtifactPage, artifactHistory, hydrateArtifacts, listArtifacts } from './history.ts';
export {
  inChunks,
  type NodeRunRow,
  type NodeRunState,
  parseObject,
  readNodeRuns,
  readStates,
} from './node-run-state.ts';
export { ArtifactRecord, derivedCorrelationId, derivedRequestId } from './record.ts';
export { type Retention, retentionOf } from './retention.ts';
export { sweepArtifacts } from './sweep.ts';
