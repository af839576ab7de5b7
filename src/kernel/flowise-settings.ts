import { hideUrlPassword } from './secrets.ts';
import { flag, httpAddress, integer, optional, type Parsed, setting, text } from './setting.ts';

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

/** Flowise servers, what is known of them, and what fills the Workday knowledge. */
export const FLOWISE_SETTINGS = {
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
};
