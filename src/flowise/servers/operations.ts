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
import { ServerAddedResponse, ServerListResponse, ServerRemovedResponse, ServerTestResponse } from './answers.ts';
import { addedLines, serverTable, trialCard } from './render.ts';
import type { ServerBook } from './server.ts';
import { type Trial, tryServer, untried } from './try-server.ts';
import { unknownServer } from './unknown-server.ts';

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
    'Names a Flowise server for this vault. Give an API key (Flowise 3, or 2), or a user name and password (Flowise 2), or neither where Flowise 2 asks for nothing. The secret is sealed with the key of the data folder and never shown again. Replacing a server replaces its secret too.',
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
      default: z.boolean().default(false).describe('Meant from now on when no server is named'),
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
    const { server, replaced } = await flowise.add(trx, principal.vault_id, { ...given, is_default });
    return { ok: true as const, item: server, replaced, ...traceOf(context) };
  },
});

const test = defineOperation({
  name: 'server.test',
  summary: 'Try a Flowise server and say what is missing',
  description:
    'Asks a Flowise server for everything that Flowright reads there, changes nothing, and says which permissions are missing and what to do. A server that does not work is an answer with ok false, not an error. Whether the key may also write shows at the first write.',
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
    const servers = await flowise.list(principal.vault_id);
    const record = servers.find((server) => (name === undefined ? server.is_default : server.name === name));
    if (!record) throw unknownServer(servers, name);
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

export const operations: readonly AnyOperation[] = [list, add, test, remove];
