export type * from './client/client.ts';
export { CHATFLOW_TYPES } from './client/client.ts';
export { type AnchorMetrics, type Compilation, toolPlaceholder } from './compiler/compilation.ts';
export { type CompileOptions, compile, compileDraft, EMPTY_FLOW } from './compiler/compile.ts';
export { guardWrite } from './compiler/guard.ts';
export { isAgentflow } from './compiler/kinds.ts';
export { MAX_OPS, PatchOp, PatchOps } from './compiler/ops.ts';
export { type ParsedOps, parseOps } from './compiler/parse-ops.ts';
export { payloadHash } from './compiler/payload-hash.ts';
export { opsFor, type Rebuild } from './compiler/rebuild.ts';
export { didYouMean, similarNames } from './compiler/similar.ts';
export { type ValidateOptions, type Validation, validateFlow } from './compiler/validate.ts';
export { diffFlows } from './flow/compare.ts';
export type * from './flow/diff.ts';
export { diffLines, NO_CHANGES, renderDiff } from './flow/diff-lines.ts';
export {
  flowHash,
  isDeeperThan,
  MAX_FLOW_CHARS,
  MAX_FLOW_DEPTH,
  type ParsedFlow,
  parseFlow,
  semanticHash,
} from './flow/flow-text.ts';
export type * from './flow/model.ts';
export {
  inputNamed,
  type NodeView,
  referencesIn,
  sourceAnchorOf,
  sourceHandles,
  targetAnchorOf,
  targetHandles,
  viewOf,
} from './flow/node-view.ts';
export { containsPlaceholder, hiddenValue, hideSecrets } from './flow/secrets.ts';
export { type Finals, finalise, isFinalOf, stampFlow, stampOf, toolRefsIn, unstampFlow } from './flow/stamp.ts';
export { type FlowSummary, type NodeSummary, summariseFlow } from './flow/summary.ts';
export { SUMMARY_CHARS, summaryText } from './flow/summary-text.ts';
export {
  CARRIED_NODE_FIELDS,
  type CredentialDefinition,
  type NodeInput,
  type NodeOption,
  type NodeOutput,
  type NodeSchema,
  type NodeSchemas,
  PARAM_TYPES,
} from './node-schema.ts';
export { createServers } from './servers/create-servers.ts';
export type { FlowiseServers, ServerBook, ServerRecord } from './servers/server.ts';
export { serverNamed } from './servers/server-named.ts';
export { opensNewestSecret } from './servers/stored.ts';
