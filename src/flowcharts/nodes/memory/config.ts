import type { Issue } from '../../../kernel/errors.ts';
import { fitsMemory, MAX_MEMORY_BYTES } from '../../../memories/index.ts';
import { wholeNumber } from '../common-config.ts';
import { DEFAULT_RETRY_COUNT, MAX_RETRY_COUNT } from '../failure-fields.ts';
import type { Mode } from '../modes.ts';
import { NodeFailure } from '../node-type.ts';

type Json = Record<string, unknown>;

export type Action = 'add' | 'retrieve';
export type StoreMode = 'append' | 'replace';

/** What a memory node does, as it is understood when it runs. */
export interface MemoryConfig {
  action: Action;
  mode: Mode;
  /** Null in rows that were never saved under today's rules: then the model may choose, and appending loses nothing. */
  store_mode: StoreMode | null;
  additive_prompt: string;
  retry_count: number;
  fallback_enabled: boolean;
  limit: number;
  query: string;
  query_source_path: string;
  text: string;
  text_source_path: string;
  route_key: string;
  require_result: boolean;
}

export const DEFAULT_LIMIT = 10;
export const MAX_LIMIT = 50;
const CODE = 'memory_config_invalid';

const ACTIONS = words<Action>({
  add: ['store', 'append', 'upsert', 'create', 'create_or_update'],
  retrieve: ['fetch', 'read', 'query', 'search', 'list'],
});
const MODES = words<Mode>({ llm_guided: ['llm-guided'], deterministic: [] });
const STORE_MODES = words<StoreMode>({ replace: ['overwrite', 'set'], append: ['additive', 'add', 'store'] });
const TEXTS = [
  'additive_prompt',
  'query',
  'query_source_path',
  'text',
  'text_source_path',
  'route_key',
] as const satisfies readonly (keyof MemoryConfig)[];

/** As a save stores it. Keys that are not of memory nodes stay as they came. */
export function normaliseMemoryConfig(raw: Json): { config: Json; issues: Issue[] } {
  const { config, issues } = understand(raw);
  if (isBlank(raw.action)) issues.unshift(issue('action', 'is required: add or retrieve'));
  const stored: Json = { ...raw, ...config, store_mode: config.store_mode ?? 'replace' };
  for (const key of TEXTS) if (key !== 'additive_prompt' && stored[key] === '') delete stored[key];
  return { config: stored, issues };
}

/** As a run understands what is stored. A row from before today's rules may lack an action; looking up harms nothing. */
export function readMemoryConfig(raw: Json): MemoryConfig {
  const { config, issues } = understand(raw);
  const [first] = issues;
  if (first) throw new NodeFailure(CODE, `The config of the node is not valid: ${first.path} ${first.message}.`);
  return config;
}

/** The hard cut: three keys get values of today's rules, whatever they held; nothing else is touched. */
export function migrateMemoryConfig(raw: Json): Json {
  const count = wholeNumber(raw.retry_count);
  const isDeterministic = typeof raw.mode === 'string' && raw.mode.trim().toLowerCase() === 'deterministic';
  return {
    ...raw,
    mode: isDeterministic ? 'deterministic' : 'llm_guided',
    retry_count: count === null ? DEFAULT_RETRY_COUNT : clampRetries(count),
    fallback_enabled: flag(raw.fallback_enabled) ?? true,
  };
}

function understand(raw: Json): { config: MemoryConfig; issues: Issue[] } {
  const issues: Issue[] = [];
  const refuse = (key: string, message: string) => void issues.push(issue(key, message));
  const word = <T extends string>(key: string, known: ReadonlyMap<string, T>, canonical: string): T | null => {
    if (isBlank(raw[key])) return null;
    const found = typeof raw[key] === 'string' ? known.get(raw[key].trim().toLowerCase()) : undefined;
    if (found === undefined) refuse(key, `must be ${canonical}`);
    return found ?? null;
  };
  const switched = (key: string, fallback: boolean): boolean => {
    if (isBlank(raw[key])) return fallback;
    const value = flag(raw[key]);
    if (value === null) refuse(key, 'must be true or false');
    return value ?? fallback;
  };
  const number = (key: string, fallback: number, minimum: number, maximum: number): number => {
    if (isBlank(raw[key])) return fallback;
    const value = wholeNumber(raw[key]);
    if (value !== null && value >= minimum) return Math.min(value, maximum);
    refuse(key, `must be a whole number of at least ${minimum}`);
    return fallback;
  };
  const text = (key: string): string => {
    const value = raw[key] ?? '';
    if (typeof value !== 'string') refuse(key, 'must be a text');
    else if (!fitsMemory(value)) refuse(key, `must have at most ${MAX_MEMORY_BYTES} bytes`);
    else if (/\0|\p{Cs}/u.test(value)) refuse(key, 'must not hold NUL or half a character');
    else return value.trim();
    return '';
  };
  const config: MemoryConfig = {
    action: word('action', ACTIONS, 'add or retrieve') ?? 'retrieve',
    mode: word('mode', MODES, 'llm_guided or deterministic') ?? 'llm_guided',
    store_mode: word('store_mode', STORE_MODES, 'append or replace'),
    additive_prompt: text('additive_prompt'),
    retry_count: number('retry_count', DEFAULT_RETRY_COUNT, 0, MAX_RETRY_COUNT),
    fallback_enabled: switched('fallback_enabled', true),
    limit: number('limit', DEFAULT_LIMIT, 1, MAX_LIMIT),
    query: text('query'),
    query_source_path: text('query_source_path'),
    text: text('text'),
    text_source_path: text('text_source_path'),
    route_key: text('route_key'),
    require_result: switched('require_result', false),
  };
  return { config, issues };
}

function words<T extends string>(aliases: Record<T, readonly string[]>): ReadonlyMap<string, T> {
  const entries = Object.entries(aliases) as [T, readonly string[]][];
  return new Map(entries.flatMap(([word, others]) => [word, ...others].map((each) => [each, word] as const)));
}

const FLAGS = new Map([
  ...['1', 'true', 'yes', 'on'].map((word) => [word, true] as const),
  ...['0', 'false', 'no', 'off'].map((word) => [word, false] as const),
]);

function flag(value: unknown): boolean | null {
  if (typeof value === 'boolean') return value;
  if (typeof value !== 'string' && typeof value !== 'number') return null;
  return FLAGS.get(String(value).trim().toLowerCase()) ?? null;
}

function clampRetries(count: number): number {
  return Math.min(Math.max(count, 0), MAX_RETRY_COUNT);
}

function isBlank(value: unknown): boolean {
  return value === undefined || value === null || (typeof value === 'string' && value.trim() === '');
}

function issue(key: string, message: string): Issue {
  return { code: CODE, message, path: `/${key}` };
}
