import { cut } from '../kernel/cut.ts';
import type { Issue } from '../kernel/errors.ts';
import { hideSecretsIn } from '../kernel/hide-secrets.ts';
import { hideSecretsInText } from '../kernel/secret-text.ts';
import { inert, inertLine } from '../kernel/terminal.ts';

/**
 * What a tool gave back. Only `summary` ever enters a prompt; `data` is the raw answer and is kept apart, `facts` and
 * `artifacts` are merged into the state of the tool's domain.
 */
export interface ToolResult {
  ok: boolean;
  summary: string;
  facts: Record<string, unknown>;
  data: unknown;
  error: ToolError | null;
  /** Ids, hashes and references that outlive the call. */
  artifacts: Record<string, unknown> | null;
}

export interface ToolError {
  type: string;
  message: string;
  detail: unknown;
}

/** How a tool tells its own answer; what it leaves out follows from the rules that fit every tool. */
export interface Telling {
  /** The answer in a few words, from its payload. */
  digest?: ((payload: never) => string) | undefined;
  facts?: ((payload: never) => Record<string, unknown>) | undefined;
  artifacts?: ((payload: never) => Record<string, unknown> | null) | undefined;
  /** Longest digest; 1,200 characters unless said. */
  maxChars?: number | undefined;
}

export const DIGEST_CHARS = 1_200;
const MESSAGE_CHARS = 300;
const JSON_CHARS = 200;
const TEXT_CHARS = 300;
/** More than is ever shown, and enough that no secret is cut where it still shows. */
const LOOKED_AT = 20_000;
const LONGEST_PARSED = 500_000;

/**
 * A raw answer as a ToolResult: the one place where it happens. A tool's own digest comes first. Without one the rules
 * of the contract apply, in their order: an error, a verdict on a flow, something with an id, a snapshot, a list, any
 * other object, anything else.
 */
export function toToolResult(toolName: string, raw: unknown, telling: Telling = {}): ToolResult {
  if (isToolResult(raw)) return raw;
  const byRule = wrap(toolName, raw);
  if (byRule.error?.type === 'ToolError') return byRule;
  const digest = told(telling.digest, raw);
  if (digest === undefined) return byRule;
  const isVerdict = isRecord(raw) && Object.hasOwn(raw, 'valid');
  return {
    ...byRule,
    summary: shown(digest, telling.maxChars ?? DIGEST_CHARS),
    // Any object with an id would pass for a chatflow; a tool that tells its own answer says what it is.
    facts: told(telling.facts, raw) ?? (isVerdict ? byRule.facts : {}),
    artifacts: told(telling.artifacts, raw) ?? null,
  };
}

/** What of a result may enter a prompt. */
export function resultToText(result: ToolResult): string {
  return result.summary;
}

export interface Failure {
  type: string;
  message: string;
  /** What another server answered, where one did: it names the cause. */
  body?: string | undefined;
  data?: unknown;
  detail?: unknown;
}

export function failure(toolName: string, { type, message, body, data = null, detail = null }: Failure): ToolResult {
  const said = shown(message, MESSAGE_CHARS);
  const text =
    body === undefined || message.includes(body)
      ? said
      : `${said}${/[.!?]$/.test(said) ? '' : ':'} ${shown(body, MESSAGE_CHARS)}`;
  const error = { type, message: text, detail: hideSecretsIn(detail) };
  return { ok: false, summary: `${toolName} failed: ${text}`, facts: {}, data, error, artifacts: null };
}

function wrap(toolName: string, raw: unknown): ToolResult {
  if (Array.isArray(raw)) {
    return success(`${toolName} returned ${raw.length} item(s).`, raw, { count: raw.length });
  }
  if (!isRecord(raw)) return success(shown(asText(raw), TEXT_CHARS), raw);
  if (has(raw, 'error') && raw.error !== null) return failed(toolName, raw);
  if (has(raw, 'valid')) return raw.valid === true ? validFlow(raw) : invalidFlow(raw);
  if (has(raw, 'id')) return chatflow(raw);
  if (has(raw, 'snapshotted')) return snapshot(raw);
  return success(shown(jsonText(raw), JSON_CHARS, ''), raw);
}

function failed(toolName: string, raw: Record<string, unknown>): ToolResult {
  const bodies = [raw.body, raw.detail, raw.details, raw.message].map(messageIn);
  return failure(toolName, {
    type: 'ToolError',
    message: messageIn(raw.error) ?? messageIn(raw.message) ?? asText(raw.error),
    body: bodies.find((text) => text !== undefined),
    data: raw,
    detail: raw.detail ?? raw.details ?? null,
  });
}

function messageIn(value: unknown): string | undefined {
  if (typeof value === 'string') {
    const body = value.startsWith('{') ? messageIn(parsedOrNull(value)) : undefined;
    return body ?? (value.trim() === '' ? undefined : value);
  }
  if (!isRecord(value)) return undefined;
  for (const key of ['message', 'error', 'body']) {
    const text = typeof value[key] === 'string' || isRecord(value[key]) ? messageIn(value[key]) : undefined;
    if (text !== undefined) return text;
  }
  return undefined;
}

function validFlow(raw: Record<string, unknown>): ToolResult {
  const facts = { node_count: countIn(raw, 'node_count', 'nodes'), edge_count: countIn(raw, 'edge_count', 'edges') };
  return success(`Flow data valid: ${facts.node_count} nodes, ${facts.edge_count} edges.`, raw, facts);
}

function invalidFlow(raw: Record<string, unknown>): ToolResult {
  const errors = (Array.isArray(raw.errors) ? raw.errors : []).map(issueText);
  const summary = `Flow data invalid: ${errors.length} error(s). First: ${errors[0] ?? 'it did not say which'}`;
  return {
    ok: false,
    summary,
    facts: { validation_errors: errors },
    data: raw,
    error: { type: 'ValidationError', message: summary, detail: errors.slice(0, 3) },
    artifacts: null,
  };
}

function issueText(error: unknown): string {
  if (!isRecord(error)) return shown(asText(error), MESSAGE_CHARS);
  const { path, message } = error as Partial<Issue>;
  const text = typeof message === 'string' ? message : jsonText(error);
  return shown(path ? `${path} ${text}` : text, MESSAGE_CHARS);
}

function chatflow(raw: Record<string, unknown>): ToolResult {
  const id = oneLine(raw.id);
  const name = oneLine(raw.name ?? '');
  return {
    ...success(`Chatflow '${name}' (id=${id}).`, raw, { chatflow_id: raw.id, chatflow_name: name }),
    artifacts: { chatflow_ids: [raw.id] },
  };
}

function snapshot(raw: Record<string, unknown>): ToolResult {
  const label = oneLine(raw.version_label ?? raw.label ?? raw.snapshot_label ?? '');
  const total = raw.total ?? raw.snapshot_count ?? raw.count ?? 1;
  return {
    ...success(`Snapshot saved as ${label} (total: ${oneLine(total)}).`, raw, { snapshot_label: label }),
    artifacts: { snapshot_labels: [label] },
  };
}

function success(summary: string, data: unknown, facts: Record<string, unknown> = {}): ToolResult {
  return { ok: true, summary, facts, data, error: null, artifacts: null };
}

const FIELDS: readonly (keyof ToolResult)[] = ['ok', 'summary', 'facts', 'data', 'error', 'artifacts'];

function isToolResult(raw: unknown): raw is ToolResult {
  if (!isRecord(raw) || Object.keys(raw).length !== FIELDS.length || !FIELDS.every((key) => has(raw, key)))
    return false;
  const { ok, summary, facts, error, artifacts } = raw;
  const fits = typeof ok === 'boolean' && typeof summary === 'string' && isRecord(facts);
  return fits && (error === null || isRecord(error)) && (artifacts === null || isRecord(artifacts));
}

/** A digest that stumbles over an answer it did not expect leaves the telling to the rules. */
function told<T>(tell: ((payload: never) => T) | undefined, raw: unknown): T | undefined {
  try {
    return tell?.(raw as never);
  } catch {
    return undefined;
  }
}

/** Without secrets and control characters, cut to length. Hidden before it is cut: half a secret has no shape. */
function shown(text: string, most: number, ellipsis = '…'): string {
  const hidden = inert(hideSecretsInText(text.slice(0, LOOKED_AT)));
  return cut(hidden, most, ellipsis);
}

function oneLine(value: unknown): string {
  return shown(inertLine(asText(value).slice(0, LOOKED_AT)), MESSAGE_CHARS);
}

function asText(value: unknown): string {
  return isRecord(value) || Array.isArray(value) ? jsonText(value) : String(value);
}

function jsonText(value: unknown): string {
  try {
    const text = JSON.stringify(value) ?? String(value);
    // Of a long one only the start is shown, and of that `shown` takes care.
    return text.length > LONGEST_PARSED ? text : JSON.stringify(hideSecretsIn(JSON.parse(text)));
  } catch {
    return 'an answer that cannot be written as JSON';
  }
}

function parsedOrNull(text: string): unknown {
  try {
    return JSON.parse(text.slice(0, LOOKED_AT));
  } catch {
    return null;
  }
}

function countIn(raw: Record<string, unknown>, count: string, list: string): number {
  if (typeof raw[count] === 'number') return raw[count];
  const items = raw[list];
  return typeof items === 'number' ? items : Array.isArray(items) ? items.length : 0;
}

function has(record: Record<string, unknown>, key: string): boolean {
  return Object.hasOwn(record, key);
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return value !== null && typeof value === 'object' && !Array.isArray(value);
}
