import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import * as flows from '../../src/flows/index.ts';
import { type AnyOperation, routesOf } from '../../src/operations/index.ts';
import { createCatalogue } from '../../src/rooms.ts';
import { makeStore, type TestStore } from '../support/databases.ts';
import { isOfFlowcharts } from '../support/flowchart-scene.ts';
import { sampleFlow } from '../support/flows.ts';
import { type Hub, type ProgramOptions, startHub } from '../support/program.ts';
import { must, tokenFor } from './people.ts';
import { ask, expectRefusal } from './rest.ts';

const PEOPLE_ONLY = ['administer', 'approve', 'evaluate'];
const operations = await createCatalogue().all();
const capabilityOf = ({ access }: AnyOperation) => ('can' in access ? access.can : 'anything');
const forPeople = operations.filter((operation) => PEOPLE_ONLY.includes(capabilityOf(operation)));
const routes = forPeople.flatMap((operation) =>
  routesOf(operation).map(({ method, path }) => ({
    name: operation.name,
    can: capabilityOf(operation),
    method,
    path: filled(path),
  })),
);

/** Writes that decide nothing: wishes and words about them, and what follows from the library anyway. */
const UNDECIDED = [
  'flow.propose',
  'flow.import',
  'flow.retire',
  'flow.mirror_propose',
  'flow.mirror_restore',
  'proposal.create',
  'proposal.comment',
  'proposal.withdraw',
];
/** What editors change, themselves or through their agents; deleting is not among it. */
const OF_FLOWCHARTS = operations
  .filter(({ name, effect }) => isOfFlowcharts(name) && effect === 'write')
  .map(({ name }) => name);
/** What editors do about chatflows; that an agent writes to Flowise only where an admin said so is tested there. */
const OF_FLOWISE = [
  'chatflow.apply',
  'chatflow.label',
  'chatflow.promote',
  'chatflow.restore',
  'chatflow.sync',
  'knowledge.refresh',
];
/** For people too, but by who asks and not by what they may: agents propose instead. */
const BY_KIND = ['note.put'];

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
  it('are all administration, the audit log, and every decision', () => {
    const names = forPeople.map(({ name }) => name);
    const changing = operations.filter(({ effect }) => effect !== 'read').map(({ name }) => name);
    expect(changing.filter((name) => !names.includes(name)).sort()).toEqual(
      [...UNDECIDED, ...BY_KIND, ...OF_FLOWCHARTS, ...OF_FLOWISE].sort(),
    );
    expect(OF_FLOWCHARTS.filter((name) => !WRITES_OF_FLOWCHARTS.includes(name))).toEqual([]);
    expect(names).toEqual(
      expect.arrayContaining([
        'token.create',
        'token.list',
        'user.disable',
        'member.set',
        'vault.create',
        'audit.list',
        'policy.set',
        'proposal.evaluate',
        'proposal.approve',
        'proposal.discard',
        'flowchart.delete',
        'attachment.delete',
        'artifact.of_plan_delete',
        'server.add',
        'server.remove',
      ]),
    );
  });

  it.each([...forPeople.map(({ name }) => name), ...BY_KIND])('%s has no MCP tool', (name) => {
    expect(operations.find((operation) => operation.name === name)?.mcp).toBeUndefined();
  });

  it.each(routes)('$name refuses the agent of an admin at $method $path', async ({ method, path }) => {
    const body = path.includes('the-viewer') ? { role: 'admin' } : { user: 'agent-made', vault_id: 'agent-made' };
    const json = method === 'GET' || method === 'DELETE' ? {} : { json: body };
    const reply = await ask(hub, path, { method, token: tokens.agent, ...json });
    expectRefusal(reply, 403, 'FORBIDDEN');
    expect(reply.body.message).toMatch(/agent/);
  });

  it.each(routes)('$name refuses every other role at $method $path', async ({ can, method, path }) => {
    const others = [tokens.viewer, tokens.editor, ...(can === 'evaluate' ? [] : [tokens.evaluator])];
    for (const token of others) {
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
      expect(offered).toEqual(OFFERED);
      for (const name of [...forPeople.map((operation) => operation.name), ...BY_KIND]) {
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
  const ofFlows = operations.filter(({ name }) => name.startsWith('flow.'));

  it('are read by the operations of the catalogue, or proposed', () => {
    const writing = ofFlows.filter(({ effect }) => effect !== 'read');
    expect(writing.map(({ name }) => name).sort()).toEqual(UNDECIDED.filter((name) => name.startsWith('flow.')).sort());
    for (const operation of ofFlows) {
      const methods = routesOf(operation).map(({ method }) => method);
      expect(new Set(methods), operation.name).toEqual(new Set([operation.effect === 'read' ? 'GET' : 'POST']));
    }
  });

  it('have no create, update or delete in the library', () => {
    const writers = Object.keys(flows).filter((name) =>
      /^(create|add|apply|update|put|set|delete|remove|retire|upsert)/i.test(name),
    );
    expect(writers).toEqual([]);
  });

  const addresses = [
    { path: '/api/v1/flows', allow: 'GET, POST' },
    { path: '/api/flows', allow: 'GET, POST' },
    { path: '/api/v1/flows/flow_capture_to_note', allow: 'GET' },
    { path: '/api/v1/flows/flow_new', allow: 'GET' },
    { path: '/api/v1/flows/flow_capture_to_note/versions', allow: 'GET' },
    { path: '/api/v1/flows/flow_capture_to_note/proposals', allow: 'POST' },
    { path: '/api/v1/flows/flow_capture_to_note/retire', allow: 'POST' },
    { path: '/api/v1/flows/import', allow: 'POST' },
  ];
  const without = addresses.flatMap(({ path, allow }) =>
    ['POST', 'PUT', 'PATCH', 'DELETE']
      .filter((method) => !allow.includes(method))
      .map((method) => ({ method, path, allow })),
  );
  const bundle = sampleFlow('flow_new');
  const library = async () => (await ask(hub, '/api/v1/flows', { token: tokens.owner })).text;

  it.each(without)('$method $path is not allowed, also for the owner', async ({ method, path, allow }) => {
    const before = await library();
    const reply = await ask(hub, path, { method, token: tokens.owner, json: { ...bundle, intent: 'x' } });
    expectRefusal(reply, 405, 'METHOD_NOT_ALLOWED');
    expect(reply.headers.allow?.split(', ').sort().join(', ')).toBe(allow);
    expect(await library()).toBe(before);
  });

  it.each(
    ['', '/import', '/flow_capture_to_note/proposals', '/flow_capture_to_note/retire'].map(
      (end) => `/api/v1/flows${end}`,
    ),
  )('[S003-6-gate] POST %s is refused while authoring is off, also for the owner', async (path) => {
    const before = await library();
    const json = path.endsWith('/retire') ? { intent: 'x' } : { ...bundle, intent: 'x' };
    expectRefusal(await ask(hub, path, { method: 'POST', token: tokens.owner, json }), 403, 'FLOW_AUTHORING_DISABLED');
    expect(await library()).toBe(before);
    expect((await ask(hub, '/api/v1/proposals', { token: tokens.owner })).body.proposals).toEqual([]);
  });
});

const WRITES_OF_FLOWCHARTS = [
  'attachment.upload',
  'flowchart.create',
  'flowchart.import',
  'flowchart.run',
  'flowchart.save',
  'flowchart.update',
  'memory.create',
  'memory.update',
  'milestone.create',
  'milestone.update',
  'plan.create',
  'plan.patch',
  'plan.stage_add',
  'plan.stage_update',
  'plan.task_add',
  'plan.task_update',
  'plan.update',
  'run.cancel',
  'run.control',
  'run.pause',
  'run.resume',
  'run.retry',
  'run.rewind',
  'run.skip',
  'task.answer',
];

const OFFERED = [
  'attachment_file',
  'attachment_get',
  'attachment_list',
  'attachment_upload',
  'chatflow_apply',
  'chatflow_diff',
  'chatflow_export',
  'chatflow_get',
  'chatflow_history',
  'chatflow_label',
  'chatflow_list',
  'chatflow_promote',
  'chatflow_restore',
  'chatflow_sync',
  'chatflow_validate',
  'flow_diff',
  'flow_export',
  'flow_get',
  'flow_import',
  'flow_list',
  'flow_mirror_propose',
  'flow_mirrors',
  'flow_project',
  'flow_propose',
  'flow_retire',
  'flow_search',
  'flow_versions',
  'flowchart_create',
  'flowchart_diff',
  'flowchart_export',
  'flowchart_get',
  'flowchart_graph',
  'flowchart_import',
  'flowchart_list',
  'flowchart_node_types',
  'flowchart_run',
  'flowchart_runtime',
  'flowchart_save',
  'flowchart_update',
  'flowchart_validate',
  'flowchart_versions',
  'knowledge_audit',
  'knowledge_node',
  'knowledge_nodes',
  'knowledge_refresh',
  'knowledge_status',
  'llmctl_get_decision_artifact',
  'llmctl_get_memory',
  'llmctl_get_milestone',
  'llmctl_get_node_artifact',
  'llmctl_get_plan',
  'memory_create',
  'memory_list',
  'memory_search',
  'memory_update',
  'milestone_create',
  'milestone_list',
  'milestone_search',
  'milestone_update',
  'node_run_get',
  'note_get',
  'note_list',
  'patch_compile',
  'plan_create',
  'plan_list',
  'plan_patch',
  'plan_search',
  'plan_update',
  'proposal_comment',
  'proposal_create',
  'proposal_diff',
  'proposal_get',
  'proposal_list',
  'proposal_withdraw',
  'run_cancel',
  'run_compare',
  'run_control',
  'run_events',
  'run_list',
  'run_pause',
  'run_resume',
  'run_retry',
  'run_rewind',
  'run_show',
  'run_skip',
  'run_status',
  'run_trace',
  'server_list',
  'server_test',
  'task_answer',
  'task_get',
  'task_list',
  'vault_list',
  'whoami',
];

function filled(path: string): string {
  return path
    .replace('/proposals/{id}', '/proposals/00000000-0000-4000-8000-000000000000')
    .replace('{id}', 'tok_0000000000000000')
    .replace(/\{\w+_id\}/g, '1')
    .replace('{user}', 'the-viewer')
    .replace('{name}', 'agent-made')
    .replace('{key}', 'flow_authoring_writes_enabled');
}
