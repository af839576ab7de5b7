import type { Issue } from '../../kernel/errors.ts';

type Json = Record<string, unknown>;

export const RETENTION_MODES = ['forever', 'ttl', 'max_count', 'ttl_max_count'] as const;
export const DEFAULT_RETENTION = {
  retention_mode: 'ttl',
  retention_ttl_seconds: 3_600,
  retention_max_count: 25,
} as const;
export const MAX_TIMEOUT_SECONDS = 86_400;
export const NO_MATCH_POLICIES = ['fail', 'fallback', 'end'] as const;

const FAN_IN_MODES: Record<string, 'all' | 'any' | 'custom'> = {
  all: 'all',
  any: 'any',
  custom: 'custom',
  custom_n: 'custom',
  'custom-n': 'custom',
};
const MAX_KEY = 128;
/** Counts and seconds beyond this mean nothing to anybody. */
const MAX_NUMBER = 1_000_000_000;
const ONE_LINE = /^[^\p{Cc}\p{Cs}\u2028\u2029]*$/u;

/** Keys that a node of any type may carry. */
export const COMMON_KEYS = [
  'agent_id',
  'fan_in_mode',
  'fan_in_custom_count',
  'no_match_policy',
  'fallback_condition_key',
  'request_id',
  'correlation_id',
  'retention_mode',
  'retention_ttl_seconds',
  'retention_max_count',
  'timeout_seconds',
] as const;

/** What is found wrong, and the values that replace or remove (undefined) what was sent. */
interface Findings {
  set: Json;
  issues: Issue[];
}

/**
 * The keys of any type, as they are stored. What is not one of them is left as it is: a rule of one key must never cost
 * a node another. Pointers are relative to the config.
 */
export function normaliseCommonConfig(
  raw: Json,
  options: { retentionDefaults?: boolean } = {},
): { config: Json; issues: Issue[] } {
  const given = options.retentionDefaults ? { ...DEFAULT_RETENTION, ...withoutBlanks(raw) } : raw;
  const parts = [agent(given), fanIn(given), noMatch(given), trace(given), retention(given), timeout(given)];
  const changed: Json = Object.assign({}, ...parts.map(({ set }) => set));
  const entries = Object.entries(given).map(([key, value]) => [
    key,
    Object.hasOwn(changed, key) ? changed[key] : value,
  ]);
  return {
    config: Object.fromEntries(entries.filter(([, value]) => value !== undefined)),
    issues: parts.flatMap(({ issues }) => issues),
  };
}

/** A blank retention key is one that was not filled in. */
function withoutBlanks(raw: Json): Json {
  return Object.fromEntries(
    Object.entries(raw).filter(([key, value]) => !Object.hasOwn(DEFAULT_RETENTION, key) || !isBlank(value)),
  );
}

function agent(raw: Json): Findings {
  if (raw.agent_id === undefined) return none();
  if (raw.agent_id === null || raw.agent_id === '') return { set: { agent_id: undefined }, issues: [] };
  const id = wholeNumber(raw.agent_id);
  if (id === 0) return { set: { agent_id: undefined }, issues: [] };
  if (id === null || id < 0) {
    return fault('agent_invalid', '/agent_id', 'must be the id of an agent; leave it out');
  }
  return fault('agent_not_found', '/agent_id', `names agent ${id}, and there is none; leave it out`);
}

function fanIn(raw: Json): Findings {
  const found = none();
  const word = text(raw.fan_in_mode);
  const mode = word === '' && isText(raw.fan_in_mode) ? 'all' : fanInMode(word);
  if (Object.hasOwn(raw, 'fan_in_mode')) found.set.fan_in_mode = mode === 'all' ? undefined : mode;
  if (mode === undefined) {
    found.issues.push(routing('/fan_in_mode', 'must be all, any or custom'));
    return found;
  }
  if (mode !== 'custom') {
    // A count without its mode says nothing; kept, it would come alive with the next change of mode.
    if (Object.hasOwn(raw, 'fan_in_custom_count')) found.set.fan_in_custom_count = undefined;
    return found;
  }
  const count = wholeNumber(raw.fan_in_custom_count);
  if (count === null || count < 1 || count > MAX_NUMBER) {
    found.issues.push(
      routing('/fan_in_custom_count', 'must be a whole number of at least 1 when fan_in_mode is custom'),
    );
  } else {
    found.set.fan_in_custom_count = count;
  }
  return found;
}

function fanInMode(word: string): 'all' | 'any' | 'custom' | undefined {
  const known = word.toLowerCase();
  return Object.hasOwn(FAN_IN_MODES, known) ? FAN_IN_MODES[known] : undefined;
}

function noMatch(raw: Json): Findings {
  const found = none();
  const key = text(raw.fallback_condition_key);
  if (Object.hasOwn(raw, 'fallback_condition_key')) {
    found.set.fallback_condition_key = key === '' ? undefined : key;
    if (key.length > MAX_KEY || !isText(raw.fallback_condition_key) || !ONE_LINE.test(key)) {
      found.issues.push(routing('/fallback_condition_key', `must be a connector id of at most ${MAX_KEY} characters`));
    }
  }
  const policy = text(raw.no_match_policy).toLowerCase();
  if (Object.hasOwn(raw, 'no_match_policy')) found.set.no_match_policy = policy === '' ? undefined : policy;
  const isKnown = (NO_MATCH_POLICIES as readonly string[]).includes(policy);
  if (!isText(raw.no_match_policy) || (policy !== '' && !isKnown)) {
    found.issues.push(routing('/no_match_policy', 'must be fail, fallback or end'));
  } else if (policy === 'fallback' && key === '') {
    found.issues.push(
      routing('/fallback_condition_key', 'is needed when no_match_policy is fallback: name a connector'),
    );
  }
  return found;
}

function trace(raw: Json): Findings {
  const found = none();
  for (const key of ['request_id', 'correlation_id'] as const) {
    if (!Object.hasOwn(raw, key)) continue;
    const id = text(raw[key]);
    found.set[key] = id === '' ? undefined : id;
    if (!isText(raw[key]) || id.length > MAX_KEY || !ONE_LINE.test(id)) {
      found.issues.push({
        code: 'trace_id_invalid',
        message: `must be one line of at most ${MAX_KEY} characters`,
        path: `/${key}`,
      });
    }
  }
  return found;
}

function retention(raw: Json): Findings {
  const found = none();
  const wrong = (key: string, message: string) =>
    found.issues.push({ code: 'retention_config_invalid', message, path: `/${key}` });
  if (Object.hasOwn(raw, 'retention_mode')) {
    const mode = text(raw.retention_mode).toLowerCase();
    found.set.retention_mode = mode === '' ? undefined : mode;
    const isKnown = mode === '' || (RETENTION_MODES as readonly string[]).includes(mode);
    if (!isText(raw.retention_mode) || !isKnown) wrong('retention_mode', `must be ${RETENTION_MODES.join(', ')}`);
  }
  for (const key of ['retention_ttl_seconds', 'retention_max_count'] as const) {
    if (!Object.hasOwn(raw, key)) continue;
    if (isBlank(raw[key])) {
      found.set[key] = undefined;
      continue;
    }
    const number = wholeNumber(raw[key]);
    if (number === null || number < 1 || number > MAX_NUMBER) wrong(key, 'must be a whole number of at least 1');
    else found.set[key] = number;
  }
  return found;
}

function timeout(raw: Json): Findings {
  if (!Object.hasOwn(raw, 'timeout_seconds')) return none();
  if (isBlank(raw.timeout_seconds)) return { set: { timeout_seconds: undefined }, issues: [] };
  const seconds = wholeNumber(raw.timeout_seconds);
  if (seconds !== null && seconds >= 1 && seconds <= MAX_TIMEOUT_SECONDS) {
    return { set: { timeout_seconds: seconds }, issues: [] };
  }
  return fault('timeout_invalid', '/timeout_seconds', `must be a whole number from 1 to ${MAX_TIMEOUT_SECONDS}`);
}

/** A whole number, also where a form sent it as text. */
export function wholeNumber(value: unknown): number | null {
  if (typeof value === 'number') return Number.isSafeInteger(value) ? value : null;
  if (typeof value === 'string' && /^\s*-?\d{1,15}\s*$/.test(value)) return Number(value);
  return null;
}

function text(value: unknown): string {
  return typeof value === 'string' ? value.trim() : '';
}

function isText(value: unknown): boolean {
  return value === undefined || value === null || typeof value === 'string';
}

function isBlank(value: unknown): boolean {
  return value === undefined || value === null || (typeof value === 'string' && value.trim() === '');
}

function routing(path: string, message: string): Issue {
  return { code: 'routing_config_invalid', message, path };
}

function none(): Findings {
  return { set: {}, issues: [] };
}

function fault(code: string, path: string, message: string): Findings {
  return { set: {}, issues: [{ code, message, path }] };
}
