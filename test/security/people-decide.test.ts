import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import * as flows from '../../src/flows/index.ts';
import { type AnyOperation, routesOf } from '../../src/operations/index.ts';
import { createCatalogue } from '../../src/rooms.ts';
import { makeStore, type TestStore } from '../support/databases.ts';
import { type Hub, type ProgramOptions, startHub } from '../support/program.ts';
import { must, tokenFor } from './people.ts';
import { ask, expectRefusal } from './rest.ts';

const PEOPLE_ONLY = ['administer', 'approve', 'evaluate'];
const operations = await createCatalogue().all();
const forPeople = operations.filter(({ access }) => 'can' in access && PEOPLE_ONLY.includes(access.can));
const routes = forPeople.flatMap((operation) =>
  routesOf(operation).map(({ method, path }) => ({ name: operation.name, method, path: filled(path) })),
);

let store: TestStore;
let hub: Hub;
let options: ProgramOptions;
const tokens = { owner: '', agent: '', viewer: '', editor: '', evaluator: '' };

beforeAll(async () => {
  store = await makeStore('sqlite');
  options = { home: store.home };
  tokens.owner = await tokenFor(options, 'local');
  tokens.agent = await tokenFor(options, 'local', { agent: true });
  for (const role of ['viewer', 'editor', 'evaluator'] as const) {
    tokens[role] = await tokenFor(options, `the-${role}`, { role });
  }
  hub = await startHub(options);
});

afterAll(async () => {
  await hub?.stop();
  await store?.remove();
});

describe('[FLR-people-decide] operations for people', () => {
  it('are all of token, user, member and vault administration and the audit log', () => {
    const names = forPeople.map(({ name }) => name);
    const changing = operations.filter(({ effect }) => effect !== 'read').map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining(changing));
    expect(names).toEqual(
      expect.arrayContaining([
        'token.create',
        'token.list',
        'user.disable',
        'member.set',
        'vault.create',
        'audit.list',
      ]),
    );
  });

  it.each(forPeople.map(({ name }) => name))('%s has no MCP tool', (name) => {
    expect(operations.find((operation) => operation.name === name)?.mcp).toBeUndefined();
  });

  it.each(routes)('$name refuses the agent of an admin at $method $path', async ({ method, path }) => {
    const body = path.includes('the-viewer') ? { role: 'admin' } : { user: 'agent-made', vault_id: 'agent-made' };
    const json = method === 'GET' || method === 'DELETE' ? {} : { json: body };
    const reply = await ask(hub, path, { method, token: tokens.agent, ...json });
    expectRefusal(reply, 403, 'FORBIDDEN');
    expect(reply.body.message).toMatch(/agent/);
  });

  it.each(routes)('$name refuses every other role at $method $path', async ({ method, path }) => {
    for (const token of [tokens.viewer, tokens.editor, tokens.evaluator]) {
      const reply = await ask(hub, path, { method, token, ...(method === 'GET' ? {} : { json: {} }) });
      expectRefusal(reply, 403, 'FORBIDDEN');
    }
    expectRefusal(await ask(hub, path, { method }), 401, 'UNAUTHORIZED');
  });

  it('refuse before they look at what was sent', async () => {
    const reply = await ask(hub, '/api/v1/users?extra=1', { method: 'POST', token: tokens.agent, json: {} });
    expectRefusal(reply, 403, 'FORBIDDEN');
  });

  it('nothing an agent asked for was done', async () => {
    const everything = await Promise.all(
      ['/api/v1/users', '/api/v1/members', '/api/v1/vaults', '/api/v1/tokens'].map((path) =>
        ask(hub, path, { token: tokens.owner }),
      ),
    );
    for (const { text } of everything) expect(text).not.toContain('agent-made');
    expect(everything[0]?.body.users).toHaveLength(4);
  });

  it('are not offered over MCP, and calling them by a likely name is refused', async () => {
    const client = new Client({ name: 'people-decide', version: '1.0.0' });
    const headers = { authorization: `Bearer ${tokens.owner}` };
    const transport = new StreamableHTTPClientTransport(new URL('/mcp', hub.url), { requestInit: { headers } });
    await client.connect(transport);
    try {
      const me = await client.callTool({ name: 'whoami', arguments: {} });
      expect(me.structuredContent).toMatchObject({ user_id: 'local', kind: 'agent', role: 'admin' });
      const { tools } = await client.listTools();
      const offered = tools.map(({ name }) => name).sort();
      expect(offered).toEqual(['flow_get', 'flow_list', 'flow_search', 'vault_list', 'whoami']);
      for (const { name } of forPeople) {
        for (const tool of [name, name.replace('.', '_')]) {
          await expect(client.callTool({ name: tool, arguments: { user: 'agent-made' } })).rejects.toThrow(/no tool/);
        }
      }
    } finally {
      await client.close();
    }
  });

  it('a token for an agent stays one, whatever the role becomes', async () => {
    const token = await tokenFor(options, 'bot', { role: 'viewer', agent: true });
    await must(['member', 'set', 'bot', '--role', 'admin'], options);
    expect((await ask(hub, '/api/v1/whoami', { token })).body).toMatchObject({ kind: 'agent', role: 'admin' });
    expectRefusal(await ask(hub, '/api/v1/members', { token }), 403, 'FORBIDDEN');
  });
});

describe('[S002-1.4-no-public-writes] flows', () => {
  const named = (pattern: RegExp) => operations.filter(({ name }: AnyOperation) => pattern.test(name));

  it('are only read by the operations of the catalogue', () => {
    const ofFlows = named(/^flow\./);
    expect(ofFlows.map(({ name }) => name)).toEqual(['flow.list', 'flow.get', 'flow.search']);
    expect(ofFlows.every(({ effect }) => effect === 'read')).toBe(true);
    for (const operation of ofFlows) {
      expect(routesOf(operation).every(({ method }) => method === 'GET')).toBe(true);
    }
  });

  it('have no create, update or delete in the library', () => {
    const writers = Object.keys(flows).filter((name) =>
      /^(create|add|update|put|set|delete|remove|upsert)/i.test(name),
    );
    expect(writers).toEqual([]);
  });

  it.each(
    ['/api/v1/flows', '/api/v1/flows/flow_capture_to_note', '/api/v1/flows/flow_new', '/api/flows'].flatMap((path) =>
      ['POST', 'PUT', 'PATCH', 'DELETE'].map((method) => ({ method, path })),
    ),
  )('$method $path is not allowed, also for the owner', async ({ method, path }) => {
    const before = (await ask(hub, '/api/v1/flows', { token: tokens.owner })).text;
    const reply = await ask(hub, path, { method, token: tokens.owner, json: { flow: {}, steps: [] } });
    expectRefusal(reply, 405, 'METHOD_NOT_ALLOWED');
    expect(reply.headers.allow).toBe('GET');
    expect((await ask(hub, '/api/v1/flows', { token: tokens.owner })).text).toBe(before);
  });
});

function filled(path: string): string {
  return path.replace('{id}', 'tok_0000000000000000').replace('{user}', 'the-viewer');
}
