import * as z from 'zod';
import { SERVER_NAME } from '../../kernel/flowise-settings.ts';
import {
  type AnyOperation,
  type Context,
  defineOperation,
  pageInput,
  plainText,
  traceOf,
} from '../../operations/index.ts';
import { ADDRESS_RULE, readAddress } from '../client/address.ts';
import { API_KEY_RE } from '../client/authentication.ts';
import type { FlowiseClient } from '../client/client.ts';
import {
  ServerAddedResponse,
  ServerDefaultResponse,
  ServerListResponse,
  ServerRemovedResponse,
  ServerTestResponse,
} from './answers.ts';
import { TWO_WAYS } from './known-server.ts';
import { addedLines, serverTable, trialCard } from './render.ts';
import type { ServerBook } from './server.ts';
import { serverNamed } from './server-named.ts';
import { type Trial, tryServer, untried } from './try-server.ts';

export interface ServerNeeds {
  flowise: ServerBook;
}

const tag = 'Flowise servers';
const MAX_URL = 2_048;
const MAX_SECRET = 1_024;
const Name = z.string().regex(SERVER_NAME, 'must be lower case letters, digits, . _ and -, at most 64');

const list = defineOperation({
  name: 'server.list',
  summary: 'List the Flowise servers of this vault',
  description:
    'Lists the Flowise servers that this vault works with: those that were added, and those that config.yaml or the environment names. Keys are never shown.',
  input: z.strictObject({ ...pageInput }),
  output: ServerListResponse,
  access: { can: 'read' },
  effect: 'read',
  http: { method: 'GET', path: '/api/v1/servers', tag },
  mcp: { tool: 'server_list' },
  cli: { command: 'server list', examples: ['flowright server list'], render: serverTable },
  handle: async (context: Context<ServerNeeds>, { limit, offset }) => {
    const all = await context.flowise.list(context.principal.vault_id);
    const items = all.slice(offset, offset + limit);
    const page = { count: items.length, total_count: all.length, limit, offset };
    return { ok: true as const, ...page, items, ...traceOf(context) };
  },
});

const add = defineOperation({
  name: 'server.add',
  summary: 'Add a Flowise server, or replace the one of that name',
  description:
    'Names a Flowise server for this vault. Give an API key (Flowise 3, or 2), or a user name and password (Flowise 2), or neither where Flowise 2 asks for nothing. The secret is sealed with the key of the data folder and never shown again. Replacing a server without a secret keeps the stored one as long as the address is the same; auth none drops it. The first server of a vault is meant when none is named.',
  input: z
    .strictObject({
      name: Name.describe('What to call it: lower case letters, digits, . _ and -'),
      url: plainText(MAX_URL)
        .refine((url) => readAddress(url) !== null, ADDRESS_RULE)
        .describe('Its address, such as http://127.0.0.1:3000, with or without /api/v1'),
      api_key: z
        .string()
        .regex(API_KEY_RE, 'must be a key: visible characters without spaces')
        .optional()
        .describe('API key made in Flowise'),
      username: plainText(MAX_SECRET)
        .regex(/^[^:]+$/, 'must not be empty or hold a colon')
        .optional()
        .describe('User name, of Flowise 2 with FLOWISE_USERNAME'),
      password: plainText(MAX_SECRET).optional().describe('Password that goes with the user name'),
      auth: z.literal('none').optional().describe('The server wants no key: drops a stored one'),
      default: z.boolean().default(false).describe('Meant from now on when no server is named'),
    })
    .refine(({ url, api_key, username, auth }) => !(api_key ?? username ?? auth) || !readAddress(url)?.username, {
      message: `cannot be taken: ${TWO_WAYS}`,
      path: ['url'],
    })
    .refine(({ api_key, username, auth }) => auth === undefined || (api_key ?? username) === undefined, {
      message: 'none cannot go with an API key or a user name',
      path: ['auth'],
    })
    .refine(({ api_key, username }) => api_key === undefined || username === undefined, {
      message: 'cannot go with api_key: give one or the other',
      path: ['username'],
    })
    .refine(({ username, password }) => password === undefined || username !== undefined, {
      message: 'needs a username beside it',
      path: ['password'],
    }),
  output: ServerAddedResponse,
  access: { can: 'administer' },
  effect: 'write',
  http: { method: 'PUT', path: '/api/v1/servers/{name}', tag },
  cli: { command: 'server add <name>', byHand: true, render: addedLines },
  errors: ['CONFLICT'],
  audit: ({ name }, { item, replaced }) => ({ server: name, auth: item.auth, replaced }),
  handle: async (context: Context<ServerNeeds>, { default: is_default, ...given }) => {
    const { trx, flowise, principal } = context;
    const { server, ...how } = await flowise.add(trx, principal.vault_id, { ...given, is_default });
    return { ok: true as const, item: server, ...how, ...traceOf(context) };
  },
});

const setDefault = defineOperation({
  name: 'server.default',
  summary: 'Make a Flowise server the one that is meant when none is named',
  description:
    'Marks one of the servers that were added. A server of config.yaml or the environment becomes the usual one through the setting flowise_server, which wins over the mark.',
  input: z.strictObject({ name: Name.describe('Name from server list') }),
  output: ServerDefaultResponse,
  access: { can: 'administer' },
  effect: 'write',
  http: { method: 'PUT', path: '/api/v1/servers/{name}/default', tag },
  cli: {
    command: 'server default <name>',
    examples: ['flowright server default staging'],
    render: ({ item }) => `Flowise server ${item.name} (${item.url}) is meant from now on when none is named.`,
  },
  errors: ['CONFLICT', 'FLOWISE_SERVER_UNKNOWN'],
  audit: ({ name }) => ({ server: name }),
  handle: async (context: Context<ServerNeeds>, { name }) => {
    const { trx, flowise, principal } = context;
    const item = await flowise.setDefault(trx, principal.vault_id, name);
    return { ok: true as const, item, ...traceOf(context) };
  },
});

const test = defineOperation({
  name: 'server.test',
  summary: 'Try a Flowise server and say what is missing',
  description:
    'Asks a Flowise server for everything that Flowright reads and writes there, changes nothing, and says which permissions are missing and what to do. Whether the key may write is tried on Flowise 3 with requests that cannot change anything: they name a thing that nobody has, or leave out what must be there. A server that does not work is an answer with ok false, not an error.',
  input: z.strictObject({ name: Name.optional().describe('Name from server list; the usual one when left out') }),
  output: ServerTestResponse,
  access: { can: 'write' },
  effect: 'read',
  reaches: 'elsewhere',
  http: [
    { method: 'GET', path: '/api/v1/servers/{name}/test', tag },
    { method: 'GET', path: '/api/v1/server-test', tag },
  ],
  mcp: { tool: 'server_test' },
  cli: {
    command: 'server test [name]',
    examples: ['flowright server test', 'flowright server test staging --json'],
    render: trialCard,
    isBadNews: ({ ok }) => !ok,
  },
  errors: ['FLOWISE_SERVER_UNKNOWN'],
  handle: async (context: Context<ServerNeeds>, { name }) => {
    const { flowise, principal } = context;
    const record = await serverNamed(flowise, principal.vault_id, name);
    const { ok, ...trial } = await trialOf(flowise, principal.vault_id, record.name);
    return { ok, ...record, ...trial, ...traceOf(context) };
  },
});

async function trialOf(flowise: ServerBook, vaultId: string, name: string): Promise<Trial> {
  let client: FlowiseClient;
  try {
    client = await flowise.client(vaultId, name);
  } catch (error) {
    return untried(error);
  }
  return tryServer(client);
}

const remove = defineOperation({
  name: 'server.remove',
  summary: 'Remove a Flowise server from this vault',
  description:
    'Forgets a Flowise server that was added, and its key. What is recorded of its chatflows stays. Nothing changes on the server.',
  input: z.strictObject({ name: Name.describe('Name from server list') }),
  output: ServerRemovedResponse,
  access: { can: 'administer' },
  effect: 'destructive',
  http: { method: 'DELETE', path: '/api/v1/servers/{name}', tag },
  cli: { command: 'server remove <name>', render: ({ name }) => `Flowise server ${name} is removed.` },
  errors: ['CONFLICT', 'FLOWISE_SERVER_UNKNOWN'],
  audit: ({ name }) => ({ server: name }),
  handle: async (context: Context<ServerNeeds>, { name }) => {
    const { trx, flowise, principal } = context;
    await flowise.remove(trx, principal.vault_id, name);
    return { ok: true as const, removed: true as const, name, ...traceOf(context) };
  },
});

export const operations: readonly AnyOperation[] = [list, add, setDefault, test, remove];
