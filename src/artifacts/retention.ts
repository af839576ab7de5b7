import type { RetentionMode } from '../database/index.ts';

const DEFAULT_TTL_SECONDS = 3_600;
const DEFAULT_MAX_COUNT = 25;
/** A hundred years: longer than anybody waits, and still a date. */
const MAX_TTL_SECONDS = 36_500 * 86_400;
const MAX_COUNT = 1_000_000;

const WORDS: Record<string, RetentionMode> = {
  forever: 'forever',
  none: 'forever',
  disabled: 'forever',
  max: 'max_count',
  max_count: 'max_count',
  ttl_max: 'ttl_max_count',
  'ttl+max': 'ttl_max_count',
  ttl_max_count: 'ttl_max_count',
};

export interface Retention {
  retention_mode: RetentionMode;
  expires_at: string | null;
  /** How many artifacts of the node and type stay, the new one included; null: all of them. */
  keep: number | null;
}

/** What becomes of an artifact that is written now by a node with this config. Pure; never throws. */
export function retentionOf(config: Readonly<Record<string, unknown>>, now: Date): Retention {
  const { mode, seconds, keep } = rulesOf(config);
  const expires_at = seconds === null ? null : new Date(now.getTime() + seconds * 1_000).toISOString();
  return { retention_mode: mode, expires_at, keep };
}

interface Rules {
  mode: RetentionMode;
  /** Null: it does not expire. */
  seconds: number | null;
  keep: number | null;
}

/** A config is read once, however often its node runs. */
const known = new WeakMap<object, Rules>();

function rulesOf(config: Readonly<Record<string, unknown>>): Rules {
  let rules = known.get(config);
  if (!rules) {
    rules = readRules(config);
    known.set(config, rules);
  }
  return rules;
}

function readRules(config: Readonly<Record<string, unknown>>): Rules {
  const word = typeof config.retention_mode === 'string' ? config.retention_mode.trim().toLowerCase() : '';
  const mode = (Object.hasOwn(WORDS, word) ? WORDS[word] : undefined) ?? 'ttl';
  const expires = mode === 'ttl' || mode === 'ttl_max_count';
  const counts = mode === 'max_count' || mode === 'ttl_max_count';
  const seconds = wholeNumber(config.retention_ttl_seconds, DEFAULT_TTL_SECONDS, MAX_TTL_SECONDS);
  return {
    mode,
    seconds: expires ? seconds : null,
    keep: counts ? wholeNumber(config.retention_max_count, DEFAULT_MAX_COUNT, MAX_COUNT) : null,
  };
}

/** At least 1; what is no number at all is the default, never the minimum. */
function wholeNumber(raw: unknown, fallback: number, maximum: number): number {
  const number = typeof raw === 'string' && /^\s*-?\d{1,15}\s*$/.test(raw) ? Number(raw) : raw;
  if (typeof number !== 'number' || !Number.isFinite(number)) return fallback;
  return Math.min(Math.max(Math.trunc(number), 1), maximum);
}
