import { type Issue, refusal } from './errors.ts';
import { hideUrlPassword, REDACTED } from './secrets.ts';

/**
 * Settings in layers: defaults < config.yaml < environment < flags. Each value remembers the layer it came from.
 * Pure: the layers are read elsewhere and handed in.
 */
interface Setting<T> {
  env: string;
  /** An older name of the same variable. */
  alias?: string;
  default: T;
  /** The value, or a sentence fragment that says what it must be. */
  parse(raw: unknown): { value: T } | { must: string };
  summary: string;
  secret?: boolean;
  /** How to show a value that is not secret as a whole. */
  show?(value: T): unknown;
}

type Parsed<T> = { value: T } | { must: string };

const text =
  (must: string, accepts: (text: string) => boolean) =>
  (raw: unknown): Parsed<string> =>
    typeof raw === 'string' && accepts(raw) ? { value: raw } : { must };

function integer(minimum: number, maximum: number) {
  return (raw: unknown): Parsed<number> => {
    const number = typeof raw === 'string' && /^\d+$/.test(raw) ? Number(raw) : raw;
    const fits = typeof number === 'number' && Number.isInteger(number) && number >= minimum && number <= maximum;
    return fits ? { value: number } : { must: `be a whole number from ${minimum} to ${maximum}` };
  };
}

function flag(raw: unknown): Parsed<boolean> {
  if (raw === true || raw === 'true' || raw === '1') return { value: true };
  if (raw === false || raw === 'false' || raw === '0') return { value: false };
  return { must: 'be true or false' };
}

function words(allowed?: readonly string[]) {
  return (raw: unknown): Parsed<string[]> => {
    const list = typeof raw === 'string' ? raw.split(',').map((word) => word.trim()) : raw;
    const fits = Array.isArray(list) && list.every((word) => typeof word === 'string' && word !== '');
    if (!fits || (allowed && !list.every((word) => allowed.includes(word)))) {
      return { must: allowed ? `be a list of ${allowed.join(', ')}` : 'be a list of words' };
    }
    return { value: list };
  };
}

function optional<T>(parse: (raw: unknown) => Parsed<T>) {
  return (raw: unknown): Parsed<T | null> => (raw === null || raw === '' ? { value: null } : parse(raw));
}

const httpAddress = text('be an http:// or https:// address', (value) => /^https?:\/\/[^\s/]+/.test(value));

export const SERVER_NAME = /^[a-z0-9][a-z0-9._-]{0,63}$/;

/** A Flowise server named in config.yaml or FLOWISE_INSTANCES. */
export interface ConfiguredServer {
  name: string;
  url: string;
  api_key?: string;
  username?: string;
  password?: string;
  /** Whose members may use it. */
  vault: string;
}

const SERVER_LIST =
  'be a list of servers with name (lower case, digits, . _ -), url and optionally api_key, username, password, vault; names only once';

/** Also takes the words id and endpoint for name and url, and a list as JSON text. */
function serverList(raw: unknown): Parsed<ConfiguredServer[]> {
  const list = typeof raw === 'string' ? parsedJson(raw) : raw;
  if (!Array.isArray(list)) return { must: SERVER_LIST };
  const servers = list.map(configuredServer);
  const names = new Set(servers.map((server) => `${server?.vault} ${server?.name}`));
  const isSound = servers.every((server) => server !== null) && names.size === servers.length;
  return isSound ? { value: servers as ConfiguredServer[] } : { must: SERVER_LIST };
}

function configuredServer(entry: unknown): ConfiguredServer | null {
  if (entry === null || typeof entry !== 'object') return null;
  const {
    name,
    id,
    url,
    endpoint,
    vault = 'default',
    api_key,
    username,
    password,
    ...others
  } = entry as Record<string, unknown>;
  const server = { name: name ?? id, url: url ?? endpoint, vault, api_key, username, password };
  const isSound =
    Object.keys(others).every((key) => key === 'timeout') &&
    Object.values(server).every((value) => value === undefined || typeof value === 'string') &&
    SERVER_NAME.test(String(server.name)) &&
    'value' in httpAddress(server.url);
  if (!isSound) return null;
  return Object.fromEntries(
    Object.entries(server).filter(([, value]) => value !== undefined),
  ) as unknown as ConfiguredServer;
}

function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'];

function setting<T>(definition: Setting<T>): Setting<T> {
  return definition;
}

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
  flowise_api_url: setting({
    env: 'FLOWISE_API_URL',
    alias: 'FLOWISE_API_ENDPOINT',
    default: null as string | null,
    parse: optional(httpAddress),
    summary: 'Flowise server, named default; further ones with `flowright server add` or flowise_servers',
    show: (value) => (value === null ? null : hideUrlPassword(value)),
  }),
  flowise_api_key: setting({
    env: 'FLOWISE_API_KEY',
    default: null as string | null,
    parse: optional(text('be a key', (value) => value.length <= 1_024)),
    summary: 'API key for that Flowise server',
    secret: true,
  }),
  flowise_servers: setting({
    env: 'FLOWISE_INSTANCES',
    default: [] as ConfiguredServer[],
    parse: serverList,
    summary:
      'Further Flowise servers: a list of name, url, and api_key or username and password, and the vault they serve',
    show: (servers) => servers.map(({ name, url, vault }) => ({ name, url: hideUrlPassword(url), vault })),
  }),
  flowise_server: setting({
    env: 'FLOWRIGHT_FLOWISE_SERVER',
    default: null as string | null,
    parse: optional(text('be the name of a server', (value) => SERVER_NAME.test(value))),
    summary: 'Flowise server that is meant when none is named',
  }),
  flowise_timeout_seconds: setting({
    env: 'FLOWISE_TIMEOUT',
    default: 30,
    parse: integer(1, 3_600),
    summary: 'Longest time one request to a Flowise server may take; a prediction gets four times that',
  }),
  flowise_agent_writes: setting({
    env: 'FLOWRIGHT_FLOWISE_AGENT_WRITES',
    default: false,
    parse: flag,
    summary: 'Permit agents to write to Flowise without a person',
  }),
  flowise_sync_minutes: setting({
    env: 'FLOWRIGHT_FLOWISE_SYNC_MINUTES',
    default: 0,
    parse: integer(0, 10_080),
    summary: 'How often the hub records edits made in Flowise itself; 0 only on demand',
  }),
  'retention.chatflow_versions': setting({
    env: 'FLOWRIGHT_RETENTION_CHATFLOW_VERSIONS',
    default: 200,
    parse: integer(0, 100_000),
    summary: 'Versions kept of one chatflow, beside labelled ones; 0 keeps all',
  }),
  knowledge_schemas_dir: setting({
    env: 'KNOWLEDGE_SCHEMAS_DIR',
    default: null as string | null,
    parse: optional(text('be the path of a folder', (value) => value.length <= 1_024)),
    summary: 'Folder for snapshots of Flowise knowledge; schemas/<server>/ in the data folder when left out',
  }),
  node_snapshot_from_api: setting({
    env: 'NODE_SNAPSHOT_FROM_API',
    default: false,
    parse: flag,
    summary: 'Refreshing nodes also asks the Flowise server, not only the reference',
  }),
  credential_snapshot_ttl_seconds: setting({
    env: 'CREDENTIAL_SNAPSHOT_TTL_SECONDS',
    default: 3_600,
    parse: integer(0, 31_536_000),
    summary: 'Age from which known credentials are asked for again',
  }),
  template_snapshot_ttl_seconds: setting({
    env: 'TEMPLATE_SNAPSHOT_TTL_SECONDS',
    default: 86_400,
    parse: integer(0, 31_536_000),
    summary: 'Age from which known templates are asked for again',
  }),
  knowledge_repair_log: setting({
    env: 'KNOWLEDGE_REPAIR_LOG',
    default: true,
    parse: flag,
    summary: 'Log what was missing in the knowledge and fetched',
  }),
  workday_mcp_url: setting({
    env: 'WORKDAY_MCP_URL',
    default: null as string | null,
    parse: optional(httpAddress),
    summary: 'MCP server whose tools are the Workday knowledge',
    show: (value) => (value === null ? null : hideUrlPassword(value)),
  }),
  workday_mcp_token: setting({
    env: 'WORKDAY_MCP_TOKEN',
    default: null as string | null,
    parse: optional(text('be a token', (value) => value.length <= 4_096)),
    summary: 'Bearer token for that MCP server',
    secret: true,
  }),
  workday_api_spec: setting({
    env: 'WORKDAY_API_SPEC',
    default: null as string | null,
    parse: optional(text('be the path of an OpenAPI file', (value) => value.length <= 1_024)),
    summary: 'OpenAPI file (JSON or YAML) whose operations are the Workday knowledge',
  }),
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
