import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { routesOf } from '../../src/operations/index.ts';
import { createCatalogue } from '../../src/rooms.ts';
import type { Engine } from './databases.ts';
import { flowright, type Hub, MAIN, type ProgramOptions, programEnv } from './program.ts';

/** What a door answered: the JSON text as it came, payload or error envelope. */
export interface Answer {
  ok: boolean;
  text: string;
}

/** One way into the program. All doors are asked the same question as the same user. */
export interface DoorHandle {
  name: string;
  ask(operation: string, input: Record<string, unknown>): Promise<Answer>;
  close(): Promise<void>;
}

export interface DoorsOptions extends ProgramOptions {
  hub: Hub;
  /** Who asks: a user with a token, and the vault. */
  user: string;
  token: string;
  vault?: string;
  requestId?: string;
}

const REQUEST_ID = 'parity-test';

/** Every so many questions are asked at a command line too; starting a program is dear, and it asks as REST does. */
const AT_COMMAND_LINE = { sqlite: { own: 2, hub: 5 }, postgres: { own: 8, hub: 16 } };

/** The doors that get the question at this place of a list: every one at the first, and always with TEST_DATABASES=all. */
export function doorsInTurn(doors: readonly DoorHandle[], engine: Engine, turn: number): DoorHandle[] {
  if (process.env.TEST_DATABASES === 'all') return [...doors];
  const every = AT_COMMAND_LINE[engine];
  return doors.filter(({ name }) => {
    if (name === 'command line') return turn % every.own === 0;
    return name !== 'command line --hub' || turn % every.hub === 0;
  });
}

/** The five real doors: local command, command over a hub, REST, MCP over stdio, MCP over HTTP. */
export async function openDoors(options: DoorsOptions): Promise<DoorHandle[]> {
  return [
    commandDoor('command line', options, { FLOWRIGHT_IDENTITY: options.user }),
    commandDoor('command line --hub', options, { FLOWRIGHT_HUB: options.hub.url, FLOWRIGHT_HUB_TOKEN: options.token }),
    restDoor(options),
    await mcpDoor('MCP stdio', options, stdioTransport(options)),
    await mcpDoor('MCP HTTP', options, httpTransport(options)),
  ];
}

function commandDoor(name: string, options: DoorsOptions, env: Record<string, string>): DoorHandle {
  return {
    name,
    ask: async (operation, input) => {
      const args = [
        ...(await commandLine(operation, input)),
        '--json',
        '--yes',
        '--request-id',
        options.requestId ?? REQUEST_ID,
      ];
      if (options.vault) args.push('--vault', options.vault);
      const { status, stdout, stderr } = await flowright(args, { ...options, env: { ...options.env, ...env } });
      return status === 0 ? { ok: true, text: stdout.replace(/\n$/, '') } : { ok: false, text: stderr.trim() };
    },
    close: async () => {},
  };
}

/** `flow.get {flow_id, version}` → flow get ID --version V. */
async function commandLine(name: string, input: Record<string, unknown>): Promise<string[]> {
  const operation = (await createCatalogue().all()).find((candidate) => candidate.name === name);
  if (!operation?.cli) throw new Error(`${name} has no command`);
  const rest = { ...input };
  const words = operation.cli.command.split(' ').map((word) => {
    if (!word.startsWith('<')) return word;
    const key = word.slice(1, -1);
    const value = String(rest[key]);
    delete rest[key];
    return value;
  });
  const options = Object.entries(rest).map(([key, value]) => `--${key.replaceAll('_', '-')}=${value}`);
  return [...words, ...options];
}

function restDoor(options: DoorsOptions): DoorHandle {
  return {
    name: 'REST',
    ask: async (name, input) => {
      const operation = (await createCatalogue().all()).find((candidate) => candidate.name === name);
      const route = operation && routesOf(operation)[0];
      if (!route) throw new Error(`${name} has no route`);
      const rest = { ...input };
      const path = route.path.replace(/\{([^}]+)\}/g, (_, parameter: string) => {
        const key = route.rename?.[parameter] ?? parameter;
        const value = encodeURIComponent(String(rest[key]));
        delete rest[key];
        return value;
      });
      const url = new URL(path, options.hub.url);
      for (const [key, value] of Object.entries(rest)) url.searchParams.set(key, String(value));
      const headers: Record<string, string> = {
        authorization: `Bearer ${options.token}`,
        'x-request-id': options.requestId ?? REQUEST_ID,
      };
      if (options.vault) headers['x-vault-id'] = options.vault;
      const response = await fetch(url, { headers });
      return { ok: response.ok, text: await response.text() };
    },
    close: async () => {},
  };
}

type AnyTransport = StdioClientTransport | StreamableHTTPClientTransport;

function stdioTransport(options: DoorsOptions): StdioClientTransport {
  const env = programEnv({ ...options, env: { ...options.env, FLOWRIGHT_IDENTITY: options.user } });
  return new StdioClientTransport({
    command: process.execPath,
    args: [MAIN, 'mcp'],
    env: env as Record<string, string>,
  });
}

function httpTransport(options: DoorsOptions): StreamableHTTPClientTransport {
  const headers = { authorization: `Bearer ${options.token}` };
  return new StreamableHTTPClientTransport(new URL('/mcp', options.hub.url), { requestInit: { headers } });
}

async function mcpDoor(name: string, options: DoorsOptions, transport: AnyTransport): Promise<DoorHandle> {
  const client = new Client({ name: 'parity', version: '1.0.0' });
  await client.connect(transport);
  return {
    name,
    ask: async (operation, input) => {
      const arguments_ = options.vault ? { ...input, vault_id: options.vault } : input;
      const result = await client.callTool({
        name: operation.replace('.', '_'),
        arguments: arguments_,
        _meta: { request_id: options.requestId ?? REQUEST_ID },
      });
      const [first] = result.content as { type: string; text: string }[];
      return { ok: result.isError !== true, text: first?.text ?? '' };
    },
    close: () => client.close(),
  };
}
