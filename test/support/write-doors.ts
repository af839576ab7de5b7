import { mkdtempSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { type AnyOperation, type HttpRoute, routesOf } from '../../src/operations/index.ts';
import { createCatalogue } from '../../src/rooms.ts';
import type { Answer, DoorHandle, DoorsOptions } from './doors.ts';
import { flowright, MAIN, programEnv } from './program.ts';

/** The five real doors for operations that write: inputs are whole JSON values, and each door sends them its own way. */
export async function openWriteDoors(options: DoorsOptions): Promise<DoorHandle[]> {
  const operations = await createCatalogue().all();
  const named = (name: string): AnyOperation => {
    const found = operations.find((operation) => operation.name === name);
    if (!found) throw new Error(`there is no operation ${name}`);
    return found;
  };
  const own = { FLOWRIGHT_IDENTITY: options.user };
  const remote = { FLOWRIGHT_HUB: options.hub.url, FLOWRIGHT_HUB_TOKEN: options.token };
  const stdio = new StdioClientTransport({
    command: process.execPath,
    args: [MAIN, 'mcp'],
    env: programEnv({ ...options, env: { ...options.env, ...own } }) as Record<string, string>,
  });
  const http = new StreamableHTTPClientTransport(new URL('/mcp', options.hub.url), {
    requestInit: { headers: { authorization: `Bearer ${options.token}` } },
  });
  return [
    commandDoor('command line', options, own, named),
    commandDoor('command line --hub', options, remote, named),
    restDoor(options, named),
    await mcpDoor('MCP stdio', options, stdio, named),
    await mcpDoor('MCP HTTP', options, http, named),
  ];
}

type Named = (name: string) => AnyOperation;
type Input = Record<string, unknown>;

function commandDoor(name: string, options: DoorsOptions, env: Record<string, string>, named: Named): DoorHandle {
  return {
    name,
    ask: async (operation, input): Promise<Answer> => {
      const args = [
        ...commandLine(named(operation), input, options.home),
        '--json',
        '--yes',
        '--request-id',
        requestId(options),
      ];
      if (options.vault) args.push('--vault', options.vault);
      const { status, stdout, stderr } = await flowright(args, { ...options, env: { ...options.env, ...env } });
      return status === 0 ? { ok: true, text: stdout.replace(/\n$/, '') } : { ok: false, text: stderr.trim() };
    },
    close: async () => {},
  };
}

/** What stands in the place of `<file>` is the whole input, in a file; other fields are arguments and options. */
function commandLine({ name, cli }: AnyOperation, input: Input, home: string): string[] {
  if (!cli) throw new Error(`${name} has no command`);
  const rest = { ...input };
  const words = cli.command.split(' ').flatMap((word) => {
    if (!/^[<[]/.test(word)) return [word];
    const key = word.slice(1, -1);
    if (key === 'file') return [inputFile(rest, home)];
    if (word.startsWith('[') && rest[key] === undefined) return [];
    const value = String(rest[key]);
    delete rest[key];
    return [value];
  });
  const options = Object.entries(rest).map(([key, value]) => {
    const option = `--${key.replaceAll('_', '-')}`;
    return value === true ? option : `${option}=${asText(value)}`;
  });
  return [...words, ...options];
}

function inputFile(rest: Input, home: string): string {
  const file = join(mkdtempSync(join(home, 'input-')), 'input.json');
  writeFileSync(file, JSON.stringify(rest));
  for (const key of Object.keys(rest)) delete rest[key];
  return file;
}

function asText(value: unknown): string {
  if (Array.isArray(value)) return value.join(',');
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

function restDoor(options: DoorsOptions, named: Named): DoorHandle {
  return {
    name: 'REST',
    ask: async (name, input): Promise<Answer> => {
      const route = routeFor(named(name), input);
      const rest = { ...input };
      const path = route.path.replace(/\{([^}]+)\}/g, (_, parameter: string) => {
        const key = route.rename?.[parameter] ?? parameter;
        const value = encodeURIComponent(String(rest[key]));
        delete rest[key];
        return value;
      });
      const url = new URL(path, options.hub.url);
      const headers: Record<string, string> = {
        authorization: `Bearer ${options.token}`,
        'x-request-id': requestId(options),
        accept: 'application/json',
      };
      if (options.vault) headers['x-vault-id'] = options.vault;
      const init: RequestInit = { method: route.method, headers };
      if (route.method === 'GET')
        for (const [key, value] of Object.entries(rest)) url.searchParams.set(key, asText(value));
      else {
        headers['content-type'] = 'application/json';
        init.body = JSON.stringify(rest);
      }
      const response = await fetch(url, init);
      return { ok: response.ok, text: await response.text() };
    },
    close: async () => {},
  };
}

/** Of several routes the one whose parameters the input has: an edit that names its flow goes to that flow. */
function routeFor(operation: AnyOperation, input: Input): HttpRoute {
  const routes = routesOf(operation).filter((route) =>
    [...route.path.matchAll(/\{([^}]+)\}/g)].every(([, parameter]) => {
      const key = route.rename?.[parameter as string] ?? (parameter as string);
      return input[key] !== undefined;
    }),
  );
  const route = routes.at(-1);
  if (!route) throw new Error(`${operation.name} has no route for this input`);
  return route;
}

async function mcpDoor(
  name: string,
  options: DoorsOptions,
  transport: StdioClientTransport | StreamableHTTPClientTransport,
  named: Named,
): Promise<DoorHandle> {
  const client = new Client({ name: 'write-doors', version: '1.0.0' });
  await client.connect(transport);
  return {
    name,
    ask: async (operation, input): Promise<Answer> => {
      const tool = named(operation).mcp?.tool;
      if (!tool) throw new Error(`${operation} has no tool`);
      const result = await client.callTool({
        name: tool,
        arguments: options.vault ? { ...input, vault_id: options.vault } : input,
        _meta: { request_id: requestId(options) },
      });
      const [first] = result.content as { type: string; text: string }[];
      return { ok: result.isError !== true, text: first?.text ?? '' };
    },
    close: () => client.close(),
  };
}

function requestId(options: DoorsOptions): string {
  return options.requestId ?? 'parity-test';
}
