import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { Client as OldClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport as OldStdioTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport as OldHttpTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeFolder } from '../support/home.ts';
import { flowrightJson, type Hub, MAIN, programEnv, startHub } from '../support/program.ts';

interface Tool {
  name: string;
  title?: string;
  description?: string;
  inputSchema: { type: string; properties?: Record<string, unknown>; additionalProperties?: unknown };
  outputSchema?: { type: string; required?: string[] };
  annotations?: Record<string, boolean>;
}
interface Answer {
  isError?: boolean;
  structuredContent?: Record<string, unknown>;
  content: { type: string; text: string }[];
}
/** What both generations of the client can do. Both check structuredContent against the announced output schema. */
interface Session {
  version: string | undefined;
  listTools(): Promise<{ tools: Tool[] }>;
  call(name: string, args?: Record<string, unknown>, meta?: Record<string, unknown>): Promise<Answer>;
  close(): Promise<void>;
}

const READING = [
  'flow_diff',
  'flow_export',
  'flow_get',
  'flow_list',
  'flow_mirrors',
  'flow_project',
  'flow_search',
  'flow_versions',
  'note_get',
  'note_list',
  'proposal_diff',
  'proposal_get',
  'proposal_list',
  'vault_list',
  'whoami',
];
/** Wishes and words about them; whatever decides is for people. */
const ASKING = [
  'flow_import',
  'flow_mirror_propose',
  'flow_propose',
  'flow_retire',
  'proposal_comment',
  'proposal_create',
  'proposal_withdraw',
];
/** Of flowcharts and what belongs to them; deleting is for people. */
const READING_FLOWCHARTS = [
  'attachment_file',
  'attachment_get',
  'attachment_list',
  'flowchart_diff',
  'flowchart_export',
  'flowchart_get',
  'flowchart_graph',
  'flowchart_list',
  'flowchart_node_types',
  'flowchart_runtime',
  'flowchart_validate',
  'flowchart_versions',
  'llmctl_get_decision_artifact',
  'llmctl_get_memory',
  'llmctl_get_milestone',
  'llmctl_get_node_artifact',
  'llmctl_get_plan',
  'memory_list',
  'memory_search',
  'milestone_list',
  'milestone_search',
  'node_run_get',
  'plan_list',
  'plan_search',
  'run_compare',
  'run_events',
  'run_list',
  'run_show',
  'run_status',
  'run_trace',
  'task_get',
  'task_list',
];
const CHANGING_FLOWCHARTS = [
  'attachment_upload',
  'flowchart_create',
  'flowchart_import',
  'flowchart_run',
  'flowchart_save',
  'flowchart_update',
  'memory_create',
  'memory_update',
  'milestone_create',
  'milestone_update',
  'plan_create',
  'plan_patch',
  'plan_update',
  'run_cancel',
  'run_control',
  'run_pause',
  'run_resume',
  'run_retry',
  'run_rewind',
  'run_skip',
  'task_answer',
];
/** What asks or changes another server; versions and labels are kept here. */
function reachesFlowise(tool: string): boolean {
  const isHere = ['chatflow_history', 'chatflow_label', 'knowledge_nodes', 'knowledge_status', 'server_list'].includes(
    tool,
  );
  return /^(chatflow|knowledge|patch|server)_/.test(tool) && !isHere;
}

const READING_FLOWISE = [
  'chatflow_diff',
  'chatflow_export',
  'chatflow_get',
  'chatflow_history',
  'chatflow_list',
  'chatflow_validate',
  'knowledge_audit',
  'knowledge_node',
  'knowledge_nodes',
  'knowledge_status',
  'patch_compile',
  'server_list',
  'server_test',
];
/** Adding and removing servers is for people; what writes to Flowise asks who calls. */
const CHANGING_FLOWISE = [
  'chatflow_apply',
  'chatflow_label',
  'chatflow_promote',
  'chatflow_restore',
  'chatflow_sync',
  'knowledge_refresh',
];
const SELF = { name: 'mcp-test', version: '1.0.0' };
const { folder: home, remove } = makeFolder();
const program = () => ({
  command: process.execPath,
  args: [MAIN, 'mcp'],
  env: programEnv({ home }) as Record<string, string>,
});
let hub: Hub;
let requestInit: { headers: Record<string, string> };

beforeAll(async () => {
  await flowrightJson(['vault', 'create', 'second', '--no-starters'], { home });
  const { token } = await flowrightJson<{ token: string }>(['token', 'create', '--user', 'local'], { home });
  requestInit = { headers: { authorization: `Bearer ${token}` } };
  hub = await startHub({ home });
});
afterAll(async () => {
  await hub?.stop();
  remove();
});

const endpoint = () => new URL('/mcp', hub.url);

async function current(door: string, mode: 'legacy' | { pin: string }): Promise<Session> {
  const client = new Client(SELF, { versionNegotiation: { mode } });
  await client.connect(
    door === 'stdio'
      ? new StdioClientTransport(program())
      : new StreamableHTTPClientTransport(endpoint(), { requestInit }),
  );
  return {
    version: client.getNegotiatedProtocolVersion(),
    listTools: async () => (await client.listTools()) as { tools: Tool[] },
    call: async (name, args = {}, _meta = {}) =>
      (await client.callTool({ name, arguments: args, _meta })) as unknown as Answer,
    close: () => client.close(),
  };
}

async function previous(door: string): Promise<Session> {
  const client = new OldClient(SELF);
  const transport =
    door === 'stdio' ? new OldStdioTransport(program()) : new OldHttpTransport(endpoint(), { requestInit });
  // The old transport's own types leave out undefined where our compiler wants it said.
  await client.connect(transport as Parameters<typeof client.connect>[0]);
  return {
    version: undefined,
    listTools: async () => (await client.listTools()) as { tools: Tool[] },
    call: async (name, args = {}, _meta = {}) =>
      (await client.callTool({ name, arguments: args, _meta })) as unknown as Answer,
    close: () => client.close(),
  };
}

const CLIENTS = ['stdio', 'HTTP'].flatMap((door) => [
  { door, client: 'v2 client at 2026-07-28', open: () => current(door, { pin: '2026-07-28' }) },
  { door, client: 'v2 client at 2025-11-25', open: () => current(door, 'legacy') },
  { door, client: 'v1 client', open: () => previous(door) },
]);

describe.each(CLIENTS)('[FLR-mcp-old-and-new] the $client over $door', ({ client, open }) => {
  let session: Session;

  beforeAll(async () => {
    session = await open();
  });
  afterAll(() => session?.close());

  it('is served at its own version of the protocol', () => {
    if (session.version) expect(client).toContain(session.version);
  });

  it('sees tools that read and tools that ask, with input and output schemas', async () => {
    const { tools } = await session.listTools();
    const later = [...READING_FLOWCHARTS, ...CHANGING_FLOWCHARTS, ...READING_FLOWISE, ...CHANGING_FLOWISE];
    expect(tools.map(({ name }) => name).sort()).toEqual([...READING, ...ASKING, ...later].sort());
    for (const tool of tools) {
      const isReading = [...READING, ...READING_FLOWCHARTS, ...READING_FLOWISE].includes(tool.name);
      expect(tool.annotations, tool.name).toMatchObject({
        readOnlyHint: isReading,
        idempotentHint: isReading,
        destructiveHint: false,
        openWorldHint: reachesFlowise(tool.name),
      });
      expect(tool.inputSchema).toMatchObject({ type: 'object', additionalProperties: false });
      expect(Object.keys(tool.inputSchema.properties ?? {})).toContain('vault_id');
      expect(tool.outputSchema?.type).toBe('object');
      if (!later.includes(tool.name)) expect(tool.outputSchema?.required).toContain('schema');
      expect(tool.description).toMatch(/\S/);
      for (const schema of [tool.inputSchema, tool.outputSchema]) expect(brokenReferences(schema)).toEqual([]);
    }
  });

  it('[S003-6-gate] is told how to propose, and that proposing is switched off', async () => {
    const { tools } = await session.listTools();
    const propose = tools.find(({ name }) => name === 'flow_propose');
    expect(Object.keys(propose?.inputSchema.properties ?? {}).sort()).toEqual([
      'base_state_id',
      'base_version',
      'external_ref',
      'flow',
      'flow_id',
      'idempotency_key',
      'intent',
      'steps',
      'vault_id',
    ]);
    const { isError, content } = await session.call('flow_propose', { flow: {}, steps: [], intent: 'x' });
    expect(isError).toBe(true);
    expect(JSON.parse(content[0]?.text ?? '')).toMatchObject({ code: 'FLOW_AUTHORING_DISABLED' });
  });

  it.each<[string, Record<string, unknown>, string]>([
    ['flow_list', { limit: 2 }, 'knowtation.flow_list/v0'],
    ['flow_get', { flow_id: 'flow_overseer_handover' }, 'knowtation.flow_get/v0'],
    ['flow_search', { query: 'handover' }, 'flowright.flow_search/v1'],
    ['vault_list', {}, 'flowright.vault_list/v1'],
    ['whoami', {}, 'flowright.whoami/v1'],
  ])('calls %s and gets the payload twice, as text and as structure', async (tool, args, schema) => {
    const { content, structuredContent, isError } = await session.call(tool, args);
    expect(isError ?? false).toBe(false);
    expect(content).toHaveLength(1);
    expect(content[0]?.type).toBe('text');
    expect(structuredContent).toEqual(JSON.parse(content[0]?.text ?? ''));
    expect(structuredContent?.schema).toBe(schema);
  });

  it('[FLR-people-decide] is an agent, whoever owns the token', async () => {
    expect((await session.call('whoami')).structuredContent).toMatchObject({ user_id: 'local', kind: 'agent' });
    await expect(session.call('token_create', { user: 'eve', role: 'admin' })).rejects.toThrow(/token_create/);
  });

  it('is told of an unknown tool as a protocol error that names the way out', async () => {
    await expect(session.call('flow_lst')).rejects.toMatchObject({
      code: -32_602,
      message: expect.stringMatching(/flow_lst.*tools\/list/),
    });
  });

  it('is told of an unknown argument, and of a missing one, as an answer it can read and mend', async () => {
    const odd = await session.call('flow_list', { colour: 'red' }, { request_id: 'mcp-1' });
    expect(odd.isError).toBe(true);
    expect(odd.structuredContent).toBeUndefined();
    expect(JSON.parse(odd.content[0]?.text ?? '')).toMatchObject({
      code: 'BAD_REQUEST',
      details: { errors: [{ code: 'unknown_key', path: '/colour' }] },
      request_id: 'mcp-1',
    });
    const short = await session.call('flow_get');
    expect(JSON.parse(short.content[0]?.text ?? '')).toMatchObject({ details: { errors: [{ path: '/flow_id' }] } });
  });

  it('chooses the vault by vault_id, and is told of one that is not there as of one that is not its own', async () => {
    const other = await session.call('flow_list', { vault_id: 'second' });
    expect(other.structuredContent).toMatchObject({ vault_id: 'second', flows: [] });
    const none = await session.call('flow_list', { vault_id: 'nowhere' }, { request_id: 'mcp-2' });
    expect(none.isError).toBe(true);
    expect(JSON.parse(none.content[0]?.text ?? '')).toMatchObject({ code: 'NOT_FOUND', request_id: 'mcp-2' });
  });

  it('keeps its request id only when that is short and plain', async () => {
    const { content } = await session.call('flow_get', { flow_id: 'flow_x' }, { request_id: 'two words\n' });
    expect(JSON.parse(content[0]?.text ?? '').request_id).toMatch(/^[0-9a-f-]{36}$/);
  });
});

/** References inside a schema that lead nowhere. */
function brokenReferences(schema: unknown): string[] {
  const references = [...JSON.stringify(schema).matchAll(/"\$ref":"([^"]+)"/g)].map(([, target]) => target as string);
  return references.filter((target) => {
    const steps = target.replace(/^#\/?/, '').split('/');
    return (
      steps.reduce<unknown>((place, step) => (place as Record<string, unknown> | undefined)?.[step], schema) ===
      undefined
    );
  });
}
