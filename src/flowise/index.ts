export type * from './client/client.ts';
export { CHATFLOW_TYPES } from './client/client.ts';
export { type AnchorMetrics, type Compilation, toolPlaceholder } from './compiler/compilation.ts';
export { MAX_OPS, PatchOp, PatchOps } from './compiler/ops.ts';
export type * from './flow/diff.ts';
export type * from './flow/model.ts';
export {
  type CredentialDefinition,
  type NodeInput,
  type NodeOption,
  type NodeOutput,
  type NodeSchema,
  type NodeSchemas,
  PARAM_TYPES,
} from './node-schema.ts';
export type { FlowiseServers, ServerRecord } from './servers/server.ts';
