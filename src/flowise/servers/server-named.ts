import type { FlowiseServers, ServerRecord } from './server.ts';
import { unknownServer } from './unknown-server.ts';

/** The named server, else the one that is meant: for what needs its name alone, and so no key. */
export async function serverNamed(
  servers: Pick<FlowiseServers, 'list'>,
  vaultId: string,
  name?: string,
): Promise<ServerRecord> {
  const all = await servers.list(vaultId);
  const found = all.find((server) => (name === undefined ? server.is_default : server.name === name));
  if (!found) throw unknownServer(all, name);
  return found;
}
