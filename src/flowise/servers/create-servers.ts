import { createHash } from 'node:crypto';
import type { Database, Queries } from '../../database/index.ts';
import { type Clock, isoNow } from '../../kernel/clock.ts';
import type { Config, Origins } from '../../kernel/config.ts';
import { badRequest, refusal } from '../../kernel/errors.ts';
import type { Log } from '../../kernel/log.ts';
import type { FlowiseClient } from '../client/client.ts';
import { createClient } from '../client/create-client.ts';
import { configuredServers, meantServer } from './configured.ts';
import { type KnownServer, readAuth } from './known-server.ts';
import type { ServerBook, ServerRecord } from './server.ts';
import { markServer, removeStoredServer, storedServers, storeServer } from './stored.ts';
import { unknownServer } from './unknown-server.ts';

/** How long requests under way may go on once the program ends. */
const CLOSE_GRACE_MS = 2_000;

export interface ServersOptions {
  database: Database;
  config: Config;
  /** Which settings come from the environment; for what is told of a server. */
  origins?: Origins;
  clock: Clock;
  log: Log;
  /** Asked only where something is sealed or opened. */
  sealingKey: () => Buffer;
}

export function createServers(options: ServersOptions): ServerBook {
  const { database, config, origins, clock, log, sealingKey } = options;
  const clients = new Map<string, { fingerprint: string; client: FlowiseClient }>();

  /** What config.yaml or the environment names hides an added one of the same name. */
  const known = async (queries: Queries, vaultId: string): Promise<KnownServer[]> => {
    const configured = configuredServers(config, origins, vaultId);
    const names = new Set(configured.map(({ name }) => name));
    const stored = await storedServers(queries, vaultId, sealingKey);
    return [...configured, ...stored.filter(({ name }) => !names.has(name))].sort((a, b) => (a.name < b.name ? -1 : 1));
  };
  const records = async (queries: Queries, vaultId: string): Promise<ServerRecord[]> => {
    const servers = await known(queries, vaultId);
    const meant = meantServer(servers, config.flowise_server, vaultId);
    return servers.map(({ name, url, auth, origin }) => ({
      name,
      url,
      auth,
      origin,
      is_default: name === meant?.name,
    }));
  };
  const recordOf = async (queries: Queries, vaultId: string, name: string): Promise<ServerRecord> =>
    (await records(queries, vaultId)).find((candidate) => candidate.name === name) as ServerRecord;
  const isConfigured = (vaultId: string, name: string): boolean =>
    configuredServers(config, origins, vaultId).some((server) => server.name === name);

  return {
    list: (vaultId) => records(database.queries, vaultId),
    client: async (vaultId, name) => {
      const servers = await known(database.queries, vaultId);
      const server = name === undefined ? meantServer(servers, config.flowise_server, vaultId) : named(servers, name);
      if (!server) throw unknownServer(servers, name, config.flowise_server);
      const auth = server.secret();
      const place = `${vaultId} ${server.name}`;
      const fingerprint = fingerprintOf([server.url, auth]);
      const kept = clients.get(place);
      if (kept?.fingerprint === fingerprint) return kept.client;
      // Questions under way end over the old connections.
      void kept?.client.close().catch(() => {});
      const client = createClient({
        server: server.name,
        url: server.url,
        auth,
        timeoutSeconds: config.flowise_timeout_seconds,
        log,
      });
      clients.set(place, { fingerprint, client });
      return client;
    },
    add: async (trx, vaultId, server) => {
      const { name, is_default } = server;
      if (isConfigured(vaultId, name)) {
        throw refusal(
          'CONFLICT',
          `Flowise server ${name} is named by config.yaml or the environment: change it there, or choose another name.`,
        );
      }
      const read = readAuth(server);
      if (typeof read === 'string') throw invalid('invalid_server', `is not right: ${read}`, '');
      const { address, auth } = read;
      const before = await known(trx, vaultId);
      const earlier = named(before, name);
      const isKept = earlier !== null && earlier.auth !== 'none' && auth.kind === 'none' && server.auth !== 'none';
      // Whoever may name a server must not be able to have its key sent to another one.
      if (isKept && earlier.url !== address.url) {
        throw invalid(
          'secret_of_another_address',
          `is not that of ${name} until now (${earlier.url}), and its stored key goes nowhere else: give the key again, or say that it needs none (--no-key, auth none)`,
          '/url',
        );
      }
      const stored = { vault_id: vaultId, name, url: address.url, auth: isKept ? null : auth, now: isoNow(clock) };
      const replaced = await storeServer(trx, stored, sealingKey);
      // What is meant stays meant, unless somebody says otherwise: a second server must not leave none.
      const meant = meantServer(before, config.flowise_server, vaultId);
      if (is_default || !meant) await markServer(trx, vaultId, name);
      else if (meant.origin === 'added' && !meant.isMarked) await markServer(trx, vaultId, meant.name);
      return { server: await recordOf(trx, vaultId, name), replaced, secret_kept: isKept };
    },
    setDefault: async (trx, vaultId, name) => {
      if (isConfigured(vaultId, name)) {
        throw refusal(
          'CONFLICT',
          `Flowise server ${name} is named by config.yaml or the environment, and so is whether it is meant: set flowise_server: ${name} in config.yaml, or FLOWRIGHT_FLOWISE_SERVER=${name}.`,
        );
      }
      const servers = await known(trx, vaultId);
      if (!named(servers, name)) throw unknownServer(servers, name);
      await markServer(trx, vaultId, name);
      const record = await recordOf(trx, vaultId, name);
      if (record.is_default) return record;
      throw refusal(
        'CONFLICT',
        `The setting flowise_server says that ${config.flowise_server} is meant when none is named: change or remove it in config.yaml or the environment.`,
      );
    },
    remove: async (trx, vaultId, name) => {
      if (await removeStoredServer(trx, vaultId, name)) return;
      if (!isConfigured(vaultId, name)) throw unknownServer(await known(trx, vaultId), name);
      throw refusal('CONFLICT', `Flowise server ${name} is named by config.yaml or the environment: remove it there.`);
    },
    close: async () => {
      const open = [...clients.values()];
      clients.clear();
      await Promise.all(open.map(({ client }) => client.close(CLOSE_GRACE_MS)));
    },
  };
}

function invalid(code: string, message: string, path: string) {
  return badRequest([{ code, message, path }], 'The server');
}

function named(servers: readonly KnownServer[], name: string): KnownServer | null {
  return servers.find((server) => server.name === name) ?? null;
}

/** Tells two ways of asking apart without keeping the secret. */
function fingerprintOf(parts: unknown): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex');
}
