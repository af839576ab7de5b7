import { writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { NotImplementedError, WorkdayKnowledgeProvider } from '../../src/knowledge/index.ts';
import { actionsFromMcp } from '../../src/knowledge/workday/from-mcp.ts';
import { actionsFromOpenApi } from '../../src/knowledge/workday/from-openapi.ts';
import type { AnyOperation } from '../../src/operations/index.ts';
import { createHttpServer } from '../../src/surfaces/http/server.ts';
import { openTestApp } from '../support/app.ts';
import { makeStore } from '../support/databases.ts';
import { tempFolder } from '../support/home.ts';
import { refreshScene } from './refresh-scene.ts';

const TIMEOUT_MS = 10_000;
const NOT_YET = 'Workday knowledge refresh not yet implemented';

describe('Workday, unconfigured', () => {
  it('refreshes nothing, says so and is no failure [S000-M4-no-op]', async () => {
    const scene = await refreshScene(null);
    for (const input of [{ workday_mcp: true }, { workday_api: true }, { workday_mcp: true, dry_run: true }]) {
      const { exit_code, parts } = await scene.refresh(input);
      expect([exit_code, parts[0].outcome, parts[0].line]).toEqual([0, 'not_implemented', NOT_YET]);
    }
    expect((await scene.refresh({ workday_mcp: true, workday_api: true, validate: true })).exit_code).toBe(0);
  });

  it('raises in the words of the contract, with and without a folder [S000-M4-not-yet-populated] [S000-B5-workday-provider]', () => {
    for (const provider of [new WorkdayKnowledgeProvider(), new WorkdayKnowledgeProvider(join(tempFolder(), 'none'))]) {
      expect(() => provider.workday_mcp.get('anything')).toThrow(NotImplementedError);
      expect(() => provider.workday_mcp.get('anything')).toThrow('WorkdayMcpStore not yet populated');
      expect(() => provider.workday_api.get('anything')).toThrow('WorkdayApiStore not yet populated');
      expect(() => provider.workday_api.find(['hr'])).toThrow(NotImplementedError);
    }
  });
});

interface Rpc {
  id?: number;
  method: string;
  params?: { cursor?: string };
}

/** Speaks just enough of the protocol to page, to hang and to go on for ever. */
async function mcpServer(
  listTools: (cursor: string | undefined, response: ServerResponse) => unknown,
): Promise<{ url: string; tokens: (string | undefined)[] }> {
  const tokens: (string | undefined)[] = [];
  const server = createServer(async (request: IncomingMessage, response: ServerResponse) => {
    tokens.push(request.headers.authorization);
    if (request.method !== 'POST') return void response.writeHead(405).end();
    let body = '';
    for await (const chunk of request) body += chunk;
    const { id, method, params } = JSON.parse(body) as Rpc;
    if (id === undefined) return void response.writeHead(202).end();
    const hello = {
      protocolVersion: '2025-06-18',
      capabilities: { tools: {} },
      serverInfo: { name: 'x', version: '1' },
    };
    const known: Record<string, () => unknown> = {
      initialize: () => hello,
      'tools/list': () => listTools(params?.cursor, response),
    };
    const result = known[method]?.();
    if (response.writableEnded || result === undefined) {
      if (known[method]) return;
      const error = { code: -32_601, message: 'Method not found' };
      response
        .writeHead(200, { 'content-type': 'application/json' })
        .end(JSON.stringify({ jsonrpc: '2.0', id, error }));
      return;
    }
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ jsonrpc: '2.0', id, result }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`, tokens };
}

const tool = (name: string, more: object = {}) => ({ name, inputSchema: { type: 'object' }, ...more });

describe('Workday from an MCP server', () => {
  it('knows the tools of a real one, our own [FLR-workday-mcp]', async () => {
    const store = await makeStore('sqlite');
    const app = await openTestApp(store);
    const server = await createHttpServer(app);
    onTestFinished(async () => {
      await server.close();
      await app.close();
      await store.remove();
    });
    const principal = await app.principals.local({
      identity: 'local',
      vaultId: 'default',
      narrowTo: null,
      agent: false,
    });
    const call = { principal, door: 'cli', request_id: 'test', correlation_id: undefined } as const;
    const create = (await app.catalogue.all()).find(({ name }) => name === 'token.create') as AnyOperation;
    const { token } = (await app.invoke(create, call, { user: 'local' })) as { token: string };
    const url = `${await server.listen({ host: '127.0.0.1', port: 0 })}/mcp`;
    const scene = await refreshScene(null, { env: { WORKDAY_MCP_URL: url, WORKDAY_MCP_TOKEN: token } });
    const { parts } = await scene.refresh({ workday_mcp: true });
    const tools = (await app.catalogue.all()).filter(({ mcp }) => mcp).length;
    expect(parts[0]).toMatchObject({ outcome: 'written', items: tools });
    const folder = join(scene.deps.knowledgeFolders.schemasDir, 'workday');
    const { workday_mcp } = new WorkdayKnowledgeProvider(folder);
    const found = workday_mcp.get('milestone_list');
    expect(Object.keys(found ?? {})).toEqual(['action', 'description', 'input_schema', 'output_schema']);
    expect(found?.input_schema).toMatchObject({ type: 'object', properties: { status: {} } });
    expect(workday_mcp.get('no_such_tool')).toBeNull();
    expect(workday_mcp.find(['milestone', 'list'])).toHaveLength(3);
    const [mcp] = (await scene.ask('knowledge.status', {})).parts.slice(3);
    expect(mcp).toMatchObject({ state: 'ok', origin: 'own', source: 'mcp_tools_list', source_host: url });
    expect(JSON.stringify([parts, mcp])).not.toContain(token);
  });

  it('reads page by page with its token, and tells what came and went [FLR-workday-mcp]', async () => {
    let tools = [tool('getWorkers', { description: 'Lists workers' }), tool('getMyInfo')];
    const server = await mcpServer((cursor) =>
      cursor === undefined ? { tools: [tools[0]], nextCursor: 'two' } : { tools: tools.slice(1) },
    );
    const env = { WORKDAY_MCP_URL: server.url, WORKDAY_MCP_TOKEN: 'wd-token' };
    const scene = await refreshScene(null, { env });
    const first = await scene.refresh({ workday_mcp: true });
    expect(first.parts[0].line).toBe(
      '[workday_mcp] 0 items in snapshot, 2 in tools/list — 2 new: getWorkers, getMyInfo',
    );
    expect(new Set(server.tokens)).toEqual(new Set(['Bearer wd-token']));
    tools = [tool('getWorkers', { description: 'Lists all workers' })];
    const { parts } = await scene.refresh({ workday_mcp: true });
    expect(parts[0].line).toContain(
      '1 changed: getWorkers description changed; 1 removed (warning only, kept): getMyInfo',
    );
    const { workday_mcp } = new WorkdayKnowledgeProvider(join(scene.deps.knowledgeFolders.schemasDir, 'workday'));
    expect([workday_mcp.get('getMyInfo'), workday_mcp.get('getWorkers')?.output_schema]).toEqual([null, null]);
  });

  it.each([
    ['never answers', () => undefined, 500, 'no answer within 0.5 seconds'],
    [
      'pages for ever',
      (cursor: string | undefined) => ({ tools: [], nextCursor: `${cursor ?? ''}x` }),
      TIMEOUT_MS,
      'page',
    ],
    [
      'lists too many',
      () => ({ tools: Array.from({ length: 2_100 }, (_, at) => tool(`t${at}`)) }),
      TIMEOUT_MS,
      'more than 2000 tools',
    ],
    [
      'answers too much',
      () => ({ tools: [tool('a', { description: 'x'.repeat(21_000_000) })] }),
      TIMEOUT_MS,
      'too large',
    ],
  ])('gives up on one that %s [FLR-workday-mcp]', async (_, answer, timeoutMs, reason) => {
    const { url } = await mcpServer(answer);
    const asked = actionsFromMcp({ url, token: 'wd-secret', timeoutMs });
    await expect(asked).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
      message: expect.stringMatching(new RegExp(reason, 'i')),
    });
    await expect(asked).rejects.not.toMatchObject({ message: expect.stringContaining('wd-secret') });
  });

  it('keeps what it knew when the server is gone [FLR-workday-mcp]', async () => {
    const scene = await refreshScene(null, { env: { WORKDAY_MCP_URL: `${await closedPort()}/mcp` } });
    const payload = await scene.refresh({ workday_mcp: true });
    expect(payload).toMatchObject({ exit_code: 2, parts: [{ outcome: 'failed', error: { code: 'CONFIG_INVALID' } }] });
    expect(payload.parts[0].line).toContain('ECONNREFUSED');
  });
});

const SPEC = {
  openapi: '3.1.0',
  paths: {
    '/workers/{id}': {
      parameters: [{ name: 'id', in: 'path', required: true, schema: { type: 'string' } }],
      get: {
        operationId: 'getWorker',
        summary: 'One worker',
        parameters: [{ $ref: '#/components/parameters/Fields' }],
        responses: {
          404: {},
          200: { content: { 'application/json': { schema: { $ref: '#/components/schemas/Worker' } } } },
        },
      },
      put: {
        requestBody: {
          required: true,
          content: { 'application/json': { schema: { $ref: '#/components/schemas/Worker' } } },
        },
        responses: { 204: { description: 'done' } },
      },
    },
  },
  components: {
    parameters: { Fields: { name: 'fields', in: 'query', description: 'Which', schema: { type: 'string' } } },
    schemas: {
      Worker: {
        type: 'object',
        properties: { name: { type: 'string' }, manager: { $ref: '#/components/schemas/Worker' } },
      },
    },
  },
};

function spec(content: string, name = 'spec.json'): string {
  const path = join(tempFolder(), name);
  writeFileSync(path, content);
  return path;
}

describe('Workday from an OpenAPI file', () => {
  it('knows the operations, with references in place and circles left open [FLR-workday-openapi]', async () => {
    const scene = await refreshScene(null, { env: { WORKDAY_API_SPEC: spec(JSON.stringify(SPEC)) } });
    expect((await scene.refresh({ workday_api: true })).parts[0]).toMatchObject({
      outcome: 'written',
      new: ['getWorker', 'PUT /workers/{id}'],
    });
    const { workday_api } = new WorkdayKnowledgeProvider(join(scene.deps.knowledgeFolders.schemasDir, 'workday'));
    const worker = {
      type: 'object',
      properties: { name: { type: 'string' }, manager: { $ref: '#/components/schemas/Worker' } },
    };
    expect(workday_api.get('getWorker')).toEqual({
      action: 'getWorker',
      description: 'One worker',
      input_schema: {
        type: 'object',
        properties: { id: { type: 'string' }, fields: { type: 'string', description: 'Which' } },
        required: ['id'],
      },
      output_schema: worker,
    });
    expect(workday_api.get('PUT /workers/{id}')).toMatchObject({
      input_schema: { properties: { body: worker }, required: ['id', 'body'] },
      output_schema: null,
    });
    expect((await scene.refresh({ workday_api: true, validate: true })).exit_code).toBe(0);
  });

  it('reads YAML too [FLR-workday-openapi]', () => {
    const yaml = 'openapi: 3.0.3\npaths:\n  /a:\n    get:\n      operationId: a\n      responses: {}\n';
    expect(actionsFromOpenApi(spec(yaml, 'spec.yaml')).map(({ action }) => action)).toEqual(['a']);
  });

  it.each([
    ['is not there', () => join(tempFolder(), 'none.json'), 'no such file'],
    ['is no OpenAPI 3', () => spec('{"swagger": "2.0"}'), 'openapi: 3.x'],
    ['is not JSON', () => spec('{"openapi": '), 'JSON'],
    ['is a bomb of aliases', () => spec(bomb(), 'bomb.yaml'), 'alias'],
    ['has no operations', () => spec('{"openapi": "3.0.0", "paths": {}}'), 'no operations'],
    ['has too many', () => spec(JSON.stringify(many(2_001))), 'more than 2000 operations'],
  ])('refuses a file that %s [FLR-workday-openapi]', (_, path, reason) => {
    expect(() => actionsFromOpenApi(path())).toThrow(
      expect.objectContaining({ code: 'CONFIG_INVALID', message: expect.stringContaining(reason) }),
    );
  });

  it('does not grow without bounds on schemas that hold each other [FLR-workday-openapi]', () => {
    const names = Array.from({ length: 30 }, (_, at) => `S${at}`);
    const properties = Object.fromEntries(names.map((name) => [name, { $ref: `#/components/schemas/${name}` }]));
    const schemas = Object.fromEntries(names.map((name) => [name, { type: 'object', properties }]));
    const body = { content: { 'application/json': { schema: { $ref: '#/components/schemas/S0' } } } };
    const document = {
      openapi: '3.0.0',
      paths: { '/a': { post: { operationId: 'a', requestBody: body } } },
      components: { schemas },
    };
    expect(JSON.stringify(actionsFromOpenApi(spec(JSON.stringify(document)))).length).toBeLessThan(1_000_000);
  });
});

/** An address at which nobody listens any more. */
async function closedPort(): Promise<string> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return `http://127.0.0.1:${port}`;
}

function many(count: number): object {
  const paths = Object.fromEntries(Array.from({ length: count }, (_, at) => [`/p${at}`, { get: { responses: {} } }]));
  return { openapi: '3.0.0', paths };
}

/** Ten levels, each ten times the one before. */
function bomb(): string {
  const levels = Array.from(
    { length: 10 },
    (_, at) =>
      `l${at}: &l${at} [${Array(10)
        .fill(at === 0 ? 'x' : `*l${at - 1}`)
        .join(', ')}]`,
  );
  return `openapi: 3.0.0\n${levels.join('\n')}\npaths: {}\n`;
}
