export { flowDefinitionForClient, flowSummaryForClient } from './client-view.ts';
export {
  buildFlowStepId,
  FLOW_ID_RE,
  FLOW_RUN_ID_RE,
  FLOW_STEP_ID_RE,
  mirrorPathOf,
  SEMVER_RE,
} from './flow-id.ts';
export type { FlowPage } from './flow-pages.ts';
export {
  AUTOMATABLE_KINDS,
  type Flow,
  type FlowBundle,
  FlowIdSchema,
  FlowSchema,
  type FlowStep,
  FlowStepSchema,
  type FlowSummary,
  ScopeSchema,
  VERIFICATION_KINDS,
  VersionSchema,
} from './flow-schema.ts';
export { readVersion } from './flow-store.ts';
export { ambiguousScope, FlowLibrary } from './library.ts';
export { MAX_FLOW_SUMMARIES, MAX_STEPS_PER_FLOW } from './limits.ts';
export { getFlow, listFlows, searchFlows } from './read.ts';
export { NO_STARTERS, readStarterBundles, STARTER_FLOWS_DIRNAME, seedStarterFlows } from './starter.ts';
export { ABSENT_FLOW_STATE_ID, flowStateId } from './state-id.ts';
export {
  FLOW_STORE_FILENAME,
  type FlowStoreFile,
  getFlowStorePath,
  getVaultFlowStore,
  loadFlowStore,
  saveFlowStore,
} from './store-file.ts';
export { exportFlowStore, type ImportReport, importFlowStore } from './store-transfer.ts';
export { validateFlowBundle } from './validate.ts';
export { FlowVersionsResponse, type FlowVersionsResult, MAX_VERSIONS_LISTED } from './versions.ts';
