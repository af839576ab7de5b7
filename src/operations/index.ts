export { Catalogue, type Part, type Room } from './catalogue.ts';
export { digestList } from './digest.ts';
export { assertShallow, baseType, decodeText, unwrap } from './input.ts';
export { type AuditPort, createInvoke, type Invoke } from './invoke.ts';
export { issuesOf, jsonPointer } from './issues.ts';
export {
  type AnyOperation,
  type Call,
  type Context,
  type Door,
  defineOperation,
  type HttpRoute,
  type Operation,
  type RawAnswer,
  routesOf,
} from './operation.ts';
export { DEFAULT_PAGE, MAX_PAGE, pageInput, pageOutput } from './paging.ts';
export { freeText, plainText } from './plain-text.ts';
export { actorHash, type Principal } from './principal.ts';
export { type Capability, may, ROLES, type Role } from './role.ts';
export { type RunOptions, runTool, type ToolEvent } from './run-tool.ts';
export { isScope, LOWEST_SCOPES, narrowScopes, resolveVisibleScopes, SCOPES, type Scope } from './scope.ts';
export {
  DIGEST_CHARS,
  resultToText,
  type Telling,
  type ToolError,
  type ToolResult,
  toToolResult,
} from './tool-result.ts';
export { traceOf, traceOutput } from './trace.ts';
export { type ErrorEnvelope, errorEnvelope, keepReady, toJson, toJsonBytes } from './wire.ts';
