import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { Client as OldClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport as OldStdioTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport as OldHttpTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { MAIN, type ProgramOptions, programEnv } from '../support/program.ts';

/** Who calls, and over what. */
export interface Caller {
  program: ProgramOptions;
  door: 'stdio' | 'HTTP';
  user: string;
  /** Over HTTP: the hub and the user's token. */
  hub?: { url: string };
  token?: string;
  vault?: string;
}

const SELF = { name: 'mcp-test', version: '1.0.0' };

export async function currentClient(caller: Caller, mode: 'legacy' | { pin: string }): Promise<Client> {
  const client = new Client(SELF, { versionNegotiation: { mode } });
  await client.connect(
    caller.door === 'stdio'
      ? new StdioClientTransport(command(caller))
      : new StreamableHTTPClientTransport(endpoint(caller), { requestInit: { headers: headers(caller) } }),
  );
  return client;
}

export async function previousClient(caller: Caller): Promise<OldClient> {
  const client = new OldClient(SELF);
  const transport =
    caller.door === 'stdio'
      ? new OldStdioTransport(command(caller))
      : new OldHttpTransport(endpoint(caller), { requestInit: { headers: headers(caller) } });
  // The old transport's own types leave out undefined where our compiler wants it said.
  await client.connect(transport as Parameters<typeof client.connect>[0]);
  return client;
}

function command({ program, user, vault }: Caller) {
  const env = { ...program.env, FLOWRIGHT_IDENTITY: user, ...(vault ? { FLOWRIGHT_VAULT: vault } : {}) };
  return {
    command: process.execPath,
    args: [MAIN, 'mcp'],
    env: programEnv({ ...program, env }) as Record<string, string>,
  };
}

function endpoint({ hub }: Caller): URL {
  return new URL('/mcp', hub?.url);
}

function headers({ token, vault }: Caller): Record<string, string> {
  return { authorization: `Bearer ${token}`, ...(vault ? { 'x-vault-id': vault } : {}) };
}
