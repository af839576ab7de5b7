import { type Flow, type FlowBundle, validateFlowBundle } from '../flows/index.ts';
import { ERRORS, type ErrorCode, type Issue, refusal } from '../kernel/errors.ts';
import { freeText, jsonPointer } from '../operations/index.ts';
import { ExternalRef, IdempotencyKey, MAX_INTENT } from '../proposals/index.ts';

/** What a client sends to propose a flow, before anything of it is believed. */
export type LooseRequest = Record<string, unknown>;

export interface ProposeRequest {
  bundle: FlowBundle;
  intent: string;
  external_ref: string;
  idempotency_key: string | undefined;
}

/** A flag that a draft cannot give itself is accepted and ignored; any other unknown key is an issue. */
const COMMON_KEYS = ['intent', 'external_ref', 'source_vault_hint', 'idempotency_key', 'auto_approvable'];
const PROPOSE_KEYS = [...COMMON_KEYS, 'flow', 'steps', 'flow_id', 'base_version', 'base_state_id'];
const IMPORT_KEYS = [...COMMON_KEYS, 'flow', 'steps', 'bundle', 'schema'];
const BUNDLE_KEYS = ['schema', 'flow', 'steps'];
const MAX_IMPORT_REF = 256;
const MAX_HINT = 128;

/** Every mistake of a proposal at once, each with its place. */
export function readProposeRequest(request: LooseRequest): ProposeRequest {
  const issues = [...unknownKeys(request, PROPOSE_KEYS, []), ...commonIssues(request)];
  const verdict = validateFlowBundle({ flow: request.flow, steps: request.steps });
  if (!verdict.ok) issues.push(...verdict.issues);
  const inner = (request.flow as Partial<Flow> | undefined)?.flow_id;
  if (request.flow_id !== undefined && typeof inner === 'string' && request.flow_id !== inner) {
    issues.push({ code: 'flow_id_mismatch', message: 'must be the flow that is edited', path: '/flow/flow_id' });
  }
  if (!verdict.ok || issues.length > 0) throw invalidDraft('FLOW_DRAFT_INVALID', issues);
  return { ...commonFields(request), bundle: verdict.bundle, external_ref: asText(request.external_ref).trim() };
}

/** The same for a portable bundle, which may stand under `bundle` or at the top. */
export function readImportRequest(request: LooseRequest): ProposeRequest {
  const isWrapped = request.bundle !== undefined;
  const holder = isWrapped ? asRecord(request.bundle) : request;
  const keys = isWrapped ? [...COMMON_KEYS, 'bundle'] : IMPORT_KEYS;
  const issues = [...unknownKeys(request, keys, []), ...commonIssues(request)];
  if (isWrapped) issues.push(...unknownKeys(holder, BUNDLE_KEYS, ['bundle']));
  const verdict = validateFlowBundle({ flow: holder.flow, steps: holder.steps });
  const prefix = isWrapped ? '/bundle' : '';
  if (!verdict.ok) issues.push(...verdict.issues.map((issue) => ({ ...issue, path: prefix + issue.path })));
  if (!verdict.ok || issues.length > 0) throw invalidDraft('FLOW_IMPORT_BUNDLE_MALFORMED', issues);
  const hint = asText(request.source_vault_hint).trim();
  const ref = asText(request.external_ref).trim();
  const external_ref = hint === '' ? ref : `${ref} source_vault_hint=${hint}`.trim();
  return { ...commonFields(request), bundle: verdict.bundle, external_ref };
}

export function readRetireRequest(request: LooseRequest): Omit<ProposeRequest, 'bundle'> {
  const issues = commonIssues(request);
  if (issues.length > 0) throw invalidDraft('FLOW_DRAFT_INVALID', issues);
  return { ...commonFields(request), external_ref: asText(request.external_ref).trim() };
}

export function invalidDraft(code: ErrorCode, issues: Issue[]) {
  const [first] = issues;
  const rest = issues.length > 1 ? ` (and ${issues.length - 1} more)` : '';
  const place = first ? ` ${first.path || '/'} ${first.message}${rest}.` : '';
  return refusal(code, `The draft was refused:${place} ${ERRORS[code].next}`, { errors: issues });
}

function commonIssues(request: LooseRequest): Issue[] {
  const issues: Issue[] = [];
  const { intent, external_ref, source_vault_hint, idempotency_key } = request;
  if (typeof intent !== 'string' || intent.trim() === '') {
    issues.push({ code: 'intent_missing', message: 'must say why', path: '/intent' });
  } else if (intent.length > MAX_INTENT) {
    issues.push({ code: 'too_big', message: `must have at most ${MAX_INTENT} characters`, path: '/intent' });
  } else if (!freeText(MAX_INTENT).safeParse(intent).success) {
    issues.push({ code: 'invalid_format', message: 'must not hold NUL or half a character', path: '/intent' });
  }
  if (external_ref !== undefined && !fits(external_ref, MAX_IMPORT_REF)) {
    const message = `must be one line of at most ${MAX_IMPORT_REF} characters`;
    issues.push({ code: 'invalid_format', message, path: '/external_ref' });
  }
  if (source_vault_hint !== undefined && !fits(source_vault_hint, MAX_HINT)) {
    const message = `must be one line of at most ${MAX_HINT} characters`;
    issues.push({ code: 'invalid_format', message, path: '/source_vault_hint' });
  }
  if (idempotency_key !== undefined && !IdempotencyKey.safeParse(idempotency_key).success) {
    const message = 'must be one line of at most 128 characters';
    issues.push({ code: 'invalid_format', message, path: '/idempotency_key' });
  }
  return issues;
}

function commonFields(request: LooseRequest): { intent: string; idempotency_key: string | undefined } {
  return { intent: asText(request.intent), idempotency_key: request.idempotency_key as string | undefined };
}

function fits(value: unknown, maximum: number): boolean {
  return typeof value === 'string' && value.length <= maximum && ExternalRef.safeParse(value).success;
}

const MAX_UNKNOWN = 100;

function unknownKeys(record: LooseRequest, known: readonly string[], path: PropertyKey[]): Issue[] {
  return Object.keys(record)
    .filter((key) => !known.includes(key))
    .slice(0, MAX_UNKNOWN)
    .map((key) => ({
      code: 'unknown_key',
      message: 'is not a known key',
      path: jsonPointer([...path, key.slice(0, MAX_UNKNOWN)]),
    }));
}

function asText(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function asRecord(value: unknown): LooseRequest {
  return value !== null && typeof value === 'object' && !Array.isArray(value) ? (value as LooseRequest) : {};
}
