import type { FlowiseClient, FlowiseServers } from '../flowise/index.ts';
import type { Clock } from '../kernel/clock.ts';
import type { Config } from '../kernel/config.ts';
import type { Log } from '../kernel/log.ts';
import type { Knowledge } from './port.ts';
import { FlowiseKnowledgeProvider } from './provider.ts';
import { serverFolder, sourceHost } from './server-folder.ts';

export interface KnowledgeParts {
  config: Config;
  clock: Clock;
  log: Log;
  servers: FlowiseServers;
  /** Where servers get a folder each, unless a setting names one for all. */
  schemasDir: string;
  /** Snapshots that came with the program. */
  baselineDir: string;
}

/** One provider a server for the life of the process, so that what was read once is not read again. */
export function createKnowledge(parts: KnowledgeParts): Knowledge {
  const providers = new Map<string, { client: FlowiseClient; provider: FlowiseKnowledgeProvider }>();
  return {
    session: async (vaultId, server) => {
      const client = await parts.servers.client(vaultId, server);
      const key = `${vaultId}~${client.server}`;
      const known = providers.get(key);
      // A server that was given another address or key has another client.
      if (known?.client === client) return known.provider.openSession();
      const provider = providerOf(parts, vaultId, client);
      providers.set(key, { client, provider });
      return provider.openSession();
    },
  };
}

function providerOf(parts: KnowledgeParts, vaultId: string, client: FlowiseClient): FlowiseKnowledgeProvider {
  const { config, clock, log, baselineDir } = parts;
  return new FlowiseKnowledgeProvider({
    folder: serverFolder(parts, vaultId, client.server),
    baselineDir,
    host: sourceHost(client.url),
    client,
    clock,
    log,
    repairLog: config.knowledge_repair_log,
    credentialTtlSeconds: config.credential_snapshot_ttl_seconds,
    templateTtlSeconds: config.template_snapshot_ttl_seconds,
  });
}
