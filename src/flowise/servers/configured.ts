import type { Config, Origins } from '../../kernel/config.ts';
import { configuredServer, type KnownServer } from './known-server.ts';

/** The vault that FLOWISE_API_URL serves, as every setting that names none. */
const DEFAULT_VAULT = 'default';
/** The name of the server of FLOWISE_API_URL. */
export const DEFAULT_SERVER = 'default';

/** Servers of one vault that config.yaml or the environment names. */
export function configuredServers(config: Config, origins: Origins | undefined, vaultId: string): KnownServer[] {
  const originOf = (key: 'flowise_api_url' | 'flowise_servers') =>
    origins?.[key] === 'environment' ? ('environment' as const) : ('config' as const);
  const servers = new Map<string, KnownServer>();
  if (config.flowise_api_url !== null && vaultId === DEFAULT_VAULT) {
    const given = { url: config.flowise_api_url, api_key: config.flowise_api_key };
    servers.set(DEFAULT_SERVER, configuredServer(DEFAULT_SERVER, given, originOf('flowise_api_url')));
  }
  for (const server of config.flowise_servers) {
    // One that the list names itself says more than the two short settings.
    if (server.vault === vaultId) {
      servers.set(server.name, configuredServer(server.name, server, originOf('flowise_servers')));
    }
  }
  return [...servers.values()];
}

/**
 * The server that is meant when none is named: the one of the setting flowise_server, else the one marked, else the
 * only one, else the one called default, else the only one of the settings. Null when nothing says which.
 */
export function meantServer(
  servers: readonly KnownServer[],
  wanted: string | null,
  vaultId: string,
): KnownServer | null {
  const named = servers.find(({ name }) => name === wanted);
  if (named) return named;
  // A setting that misses must not send a write to another server; other vaults have other servers.
  if (wanted !== null && vaultId === DEFAULT_VAULT) return null;
  const marked = servers.find(({ isMarked }) => isMarked);
  if (marked) return marked;
  if (servers.length === 1) return servers[0] as KnownServer;
  const called = servers.find(({ name }) => name === DEFAULT_SERVER);
  if (called) return called;
  const configured = servers.filter(({ origin }) => origin !== 'added');
  return configured.length === 1 ? (configured[0] as KnownServer) : null;
}
