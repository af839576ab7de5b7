import { type Issue, refusal } from './errors.ts';
import { FLOWISE_SETTINGS } from './flowise-settings.ts';
import { hideUrlPassword, REDACTED } from './secrets.ts';
import { flag, httpAddress, integer, optional, type Setting, setting, text, words } from './setting.ts';

const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'];

/**
 * Settings in layers: defaults < config.yaml < environment < flags. Each value remembers the layer it came from.
 * Pure: the layers are read elsewhere and handed in.
 */
export const SETTINGS = {
  host: setting({
    env: 'FLOWRIGHT_HOST',
    default: '127.0.0.1',
    parse: text('be a host name or address', (value) => /^[A-Za-z0-9.:_-]{1,255}$/.test(value)),
    summary: 'Address the hub listens on',
  }),
  port: setting({
    env: 'FLOWRIGHT_PORT',
    default: 7480,
    parse: integer(0, 65_535),
    summary: 'Port the hub listens on',
  }),
  allow_remote: setting({
    env: 'FLOWRIGHT_ALLOW_REMOTE',
    default: false,
    parse: flag,
    summary: 'Permit listening on an address other than loopback',
  }),
  allowed_hosts: setting({
    env: 'FLOWRIGHT_ALLOWED_HOSTS',
    default: [] as string[],
    parse: words(),
    summary: 'Further Host names the hub answers to',
  }),
  allowed_origins: setting({
    env: 'FLOWRIGHT_ALLOWED_ORIGINS',
    default: [] as string[],
    parse: words(),
    summary: 'Web origins that may call the hub',
  }),
  database_url: setting({
    env: 'DATABASE_URL',
    default: null as string | null,
    parse: optional(
      text('be a postgres:// address, or left out for the embedded database', (value) =>
        /^postgres(ql)?:\/\//.test(value),
      ),
    ),
    summary: 'PostgreSQL address; without it the embedded database is used',
    show: (value) => (value === null ? null : hideUrlPassword(value)),
  }),
  identity: setting({
    env: 'FLOWRIGHT_IDENTITY',
    default: null as string | null,
    parse: optional(text('be a user id', (value) => value.length <= 128)),
    summary: 'User that local commands and stdio MCP act as',
  }),
  vault: setting({
    env: 'FLOWRIGHT_VAULT',
    default: 'default',
    parse: text('be a vault id', (value) => value !== '' && value.length <= 256),
    summary: 'Vault used when none is named',
  }),
  hub_url: setting({
    env: 'FLOWRIGHT_HUB',
    default: null as string | null,
    parse: optional(httpAddress),
    summary: 'Hub that commands talk to instead of the local store',
    show: (value) => (value === null ? null : hideUrlPassword(value)),
  }),
  hub_token: setting({
    env: 'FLOWRIGHT_HUB_TOKEN',
    default: null as string | null,
    parse: optional(text('be a token', (value) => value.length <= 512)),
    summary: 'Bearer token for that hub',
    secret: true,
  }),
  vaults_dir: setting({
    env: 'FLOWRIGHT_VAULTS_DIR',
    default: null as string | null,
    parse: optional(
      text('be the absolute path of a folder', (value) => value.startsWith('/') && value.length <= 1_024),
    ),
    summary: 'Folder with one folder of notes for each vault; vaults/ in the data folder when left out',
  }),
  llm: setting({
    env: 'FLOWRIGHT_LLM',
    default: null as string | null,
    parse: optional(
      text('be provider:model, for example openai:gpt-5-mini', (value) => /^(openai|anthropic):\S{1,200}$/.test(value)),
    ),
    summary:
      'Model that nodes ask, as provider:model; providers are openai (and whatever speaks its protocol) and anthropic',
  }),
  llm_base_url: setting({
    env: 'FLOWRIGHT_LLM_BASE_URL',
    default: null as string | null,
    parse: optional(httpAddress),
    summary: 'Address of a model server other than the provider itself, such as Ollama, vLLM or a gateway',
    show: (value) => (value === null ? null : hideUrlPassword(value)),
  }),
  llm_api_key: setting({
    env: 'FLOWRIGHT_LLM_API_KEY',
    default: null as string | null,
    parse: optional(text('be a key', (value) => value.length <= 1_024)),
    summary: 'Key for the model server; OPENAI_API_KEY or ANTHROPIC_API_KEY when left out',
    secret: true,
  }),
  llm_timeout_seconds: setting({
    env: 'FLOWRIGHT_LLM_TIMEOUT_SECONDS',
    default: 120,
    parse: integer(1, 3_600),
    summary: 'Longest time one call to a model may take',
  }),
  runs_at_once: setting({
    env: 'FLOWRIGHT_RUNS_AT_ONCE',
    default: 32,
    parse: integer(1, 10_000),
    summary: 'Runs that one process walks at the same time; more wait in line',
  }),
  'retention.run_days': setting({
    env: 'FLOWRIGHT_RETENTION_RUN_DAYS',
    default: 90,
    parse: integer(0, 36_500),
    summary: 'Days that finished runs are kept; 0 keeps them for ever',
  }),
  'retention.event_hours': setting({
    env: 'FLOWRIGHT_RETENTION_EVENT_HOURS',
    default: 168,
    parse: integer(1, 87_600),
    summary: 'Hours that events can be replayed',
  }),
  attachment_limit_bytes: setting({
    env: 'FLOWRIGHT_ATTACHMENT_LIMIT_BYTES',
    default: 10 * 1_048_576,
    parse: integer(1_024, 100 * 1_048_576),
    summary: 'Largest attachment',
  }),
  ...FLOWISE_SETTINGS,
  'flow.visible_scopes': setting({
    env: 'FLOWRIGHT_FLOW_VISIBLE_SCOPES',
    default: null as string[] | null,
    parse: optional(words(['personal', 'project', 'org'])),
    summary: 'Narrows the flow scopes that local commands see',
  }),
  rate_limit_per_minute: setting({
    env: 'FLOWRIGHT_RATE_LIMIT_PER_MINUTE',
    default: 1_200,
    parse: integer(1, 100_000_000),
    summary: 'Requests a subject may make to one route in a minute',
  }),
  body_limit_bytes: setting({
    env: 'FLOWRIGHT_BODY_LIMIT_BYTES',
    default: 2 * 1_048_576,
    parse: integer(1_024, 256 * 1_048_576),
    summary: 'Largest request body',
  }),
  token_days: setting({
    env: 'FLOWRIGHT_TOKEN_DAYS',
    default: 90,
    parse: integer(1, 3_650),
    summary: 'Days until a new token expires',
  }),
  log_level: setting({
    env: 'FLOWRIGHT_LOG_LEVEL',
    default: 'info',
    parse: text(`be one of ${LOG_LEVELS.join(', ')}`, (value) => LOG_LEVELS.includes(value)),
    summary: 'How much the hub writes to its log',
  }),
};

export type SettingKey = keyof typeof SETTINGS;
export type Config = { [K in SettingKey]: (typeof SETTINGS)[K]['default'] };
export type Origin = 'default' | 'config.yaml' | 'environment' | 'flag';
export type Origins = Record<SettingKey, Origin>;

export interface ConfigLayers {
  /** The parsed config.yaml, nested as written. */
  file?: unknown;
  environment?: Record<string, string | undefined>;
  flags?: Partial<Record<SettingKey, unknown>>;
}

export const SETTING_KEYS = Object.keys(SETTINGS) as SettingKey[];

export function resolveConfig(layers: ConfigLayers): { config: Config; origins: Origins } {
  const issues: Issue[] = [];
  const file = flatten(layers.file, issues);
  const config: Record<string, unknown> = {};
  const origins: Record<string, Origin> = {};
  for (const key of SETTING_KEYS) {
    const { env, alias, default: fallback, parse } = SETTINGS[key] as Setting<unknown>;
    const environment = layers.environment?.[env] || (alias && layers.environment?.[alias]);
    const candidates: [Origin, unknown][] = [
      ['flag', layers.flags?.[key]],
      ['environment', environment === '' ? undefined : environment],
      ['config.yaml', file.get(key)],
    ];
    const [origin, raw] = candidates.find(([, value]) => value !== undefined) ?? ['default', undefined];
    origins[key] = origin;
    config[key] = fallback;
    if (raw === undefined) continue;
    const parsed = parse(raw);
    if ('value' in parsed) config[key] = parsed.value;
    else issues.push({ code: 'invalid_setting', message: `${key} (${origin}) must ${parsed.must}`, path: `/${key}` });
  }
  for (const key of file.keys()) {
    if (!Object.hasOwn(SETTINGS, key)) {
      issues.push({ code: 'unknown_setting', message: `config.yaml has an unknown setting ${key}`, path: `/${key}` });
    }
  }
  if (issues.length > 0) {
    const list = issues.map((issue) => issue.message).join('; ');
    throw refusal('CONFIG_INVALID', `The configuration is not valid: ${list}.`, { errors: issues });
  }
  return { config: config as Config, origins: origins as Origins };
}

/** A value as it may be shown: secrets hidden, unset as null. */
export function shownValue(key: SettingKey, value: unknown): unknown {
  const { secret, show } = SETTINGS[key] as Setting<unknown>;
  if (secret) return value === null ? null : REDACTED;
  return show ? show(value) : value;
}

/** {flow: {visible_scopes: […]}} becomes flow.visible_scopes; a list or a scalar ends the path. */
function flatten(file: unknown, issues: Issue[], prefix = '', into = new Map<string, unknown>()): Map<string, unknown> {
  if (file === undefined || file === null) return into;
  if (typeof file !== 'object' || Array.isArray(file)) {
    issues.push({ code: 'invalid_setting', message: 'config.yaml must be a list of `key: value` lines', path: '' });
    return into;
  }
  for (const [key, value] of Object.entries(file)) {
    const path = prefix + key;
    const nested =
      value !== null && typeof value === 'object' && !Array.isArray(value) && Object.keys(value).length > 0;
    if (nested) flatten(value, issues, `${path}.`, into);
    else into.set(path, value);
  }
  return into;
}
