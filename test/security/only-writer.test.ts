import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { routesOf } from '../../src/operations/index.ts';
import { createCatalogue } from '../../src/rooms.ts';
import { makeStore, onFirstDatabase, type TestStore } from '../support/databases.ts';
import { isOfFlowcharts } from '../support/flowchart-scene.ts';
import { isOfFlowise } from '../support/flowise-scene.ts';
import { sampleFlow } from '../support/flows.ts';
import { flowright, type Hub, type ProgramOptions, startHub } from '../support/program.ts';
import { countVersions, libraryFingerprint } from './fingerprint.ts';
import { AUTHORING_ON, type Inside, openInside, type Payload } from './inside.ts';
import { storeOf } from './library.ts';
import { makePlausible, type Plausible } from './plausible.ts';
import { ask, expectRefusal } from './rest.ts';
import { requestTo } from './routes.ts';

const THE_WRITER = 'proposal.approve';
const AT_ONCE = 4;
const RELABEL = [{ op_type: 'set_label', node_id: 'chatOpenAI_0', label: 'By hand' }];
/** So that what agents do to chatflows is done, and not refused before it could do anything. */
const AGENTS_WRITE = { FLOWRIGHT_FLOWISE_AGENT_WRITES: 'true' };
/** What was refused to one serves the next; making it takes its time. */
const isDear = (name: string) => isOfFlowcharts(name) || isOfFlowise(name);
const operations = await createCatalogue().all();
const others = operations.filter(({ name }) => name !== THE_WRITER);

const ROLES = ['viewer', 'editor', 'evaluator', 'admin'];
const CALLERS: { who: string; user: string | null; agent: boolean }[] = [
  ...ROLES.flatMap((role) => [
    { who: `a ${role}`, user: `the-${role}`, agent: false },
    { who: `the agent of a ${role}`, user: `the-${role}`, agent: true },
  ]),
  { who: 'a machine without an identity', user: null, agent: false },
];

async function addPeople(inside: Inside): Promise<void> {
  for (const role of ROLES) await inside.member(`the-${role}`, role);
}

onFirstDatabase((_engine, make) => {
  let store: TestStore;
  let inside: Inside;
  let plausible: Plausible;
  const done = new Set<string>();
  const unused = new Map<string, Payload[]>();

  beforeAll(async () => {
    store = await make();
    inside = await openInside(store, { ...AUTHORING_ON, ...AGENTS_WRITE });
    await addPeople(inside);
    plausible = await makePlausible(inside, store.home);
    // Whatever is seeded lazily is there before the first look.
    await inside.as('local', 'flow.list');
  });

  afterAll(async () => {
    await inside?.close();
    await plausible?.close();
    await store?.remove();
  });

  const fingerprint = () => libraryFingerprint(inside.app.services.database.queries);

  describe('[FLR-only-writer] [S003-3-no-silent-promotion] no operation but approve writes a flow', () => {
    it.each(CALLERS)('for $who', async ({ user, agent }) => {
      const before = await fingerprint();
      for (const { name } of others) {
        const inputs = unused.get(name) ?? (await plausible.inputsFor(name, user));
        if (isDear(name)) unused.set(name, inputs);
        for (const input of inputs) {
          const code = await inside.codeOf(user, name, input, { agent });
          if (code === 'done') {
            done.add(name);
            unused.delete(name);
          }
          expect(code, name).not.toBe('INTERNAL_ERROR');
          expect(await fingerprint(), `${name} as ${user}: ${code}`).toBe(before);
        }
      }
    });

    it('and each of them was really done by somebody', () => {
      expect(others.map(({ name }) => name).filter((name) => !done.has(name))).toEqual([]);
    });

    it('and every operation has its place in this walk', () => {
      expect([...plausible.names].sort()).toEqual(operations.map(({ name }) => name).sort());
    });
  });

  describe('[FLR-only-writer] approve', () => {
    it.each(CALLERS.filter(({ user, agent }) => agent || user !== 'the-admin'))(
      'writes nothing for $who',
      async (caller) => {
        const { user, agent } = caller;
        const proposal_id = await plausible.openProposal();
        const before = await fingerprint();
        const given = { proposal_id, waiver_reason: 'let me in' };
        expect(await inside.codeOf(user, THE_WRITER, given, { agent })).toBe('FORBIDDEN');
        expect(await fingerprint()).toBe(before);
        expect(await inside.as('local', 'proposal.get', { proposal_id })).toMatchObject({ status: 'proposed' });
      },
    );

    it('adds the one version that was asked for, for an admin', async () => {
      const { queries } = inside.app.services.database;
      const proposal_id = await plausible.openProposal();
      const before = { fingerprint: await fingerprint(), versions: await countVersions(queries) };
      await inside.as('the-admin', THE_WRITER, { proposal_id });
      expect(await fingerprint()).not.toBe(before.fingerprint);
      expect(await countVersions(queries)).toBe(before.versions + 1);
    });
  });
});

describe('[FLR-only-writer] through the doors', () => {
  let store: TestStore;
  let inside: Inside;
  let plausible: Plausible;
  let hub: Hub;
  let options: ProgramOptions;
  const tokens: Record<string, string> = {};
  const unused = new Map<string, Payload[]>();

  beforeAll(async () => {
    store = await makeStore('sqlite');
    options = { home: store.home, env: { ...AUTHORING_ON, ...AGENTS_WRITE } };
    inside = await openInside(store, { ...AUTHORING_ON, ...AGENTS_WRITE });
    await addPeople(inside);
    for (const role of ROLES) {
      tokens[role] = await inside.token(`the-${role}`);
      tokens[`${role} agent`] = await inside.token(`the-${role}`, { agent: true });
    }
    plausible = await makePlausible(inside, store.home);
    hub = await startHub({ ...options, env: { ...options.env, FLOWRIGHT_RATE_LIMIT_PER_MINUTE: '100000' } });
    await ask(hub, '/api/v1/flows', { token: tokens.admin });
  });

  afterAll(async () => {
    await hub?.stop();
    await inside?.close();
    await plausible?.close();
    await store?.remove();
  });

  const fingerprint = () => libraryFingerprint(inside.app.services.database.queries);

  const holders = ROLES.flatMap((role) => [role, `${role} agent`]);
  it.each(holders)('no route but that of approve writes a flow, with the token of a %s', async (holder) => {
    const before = await fingerprint();
    for (const operation of others) {
      const { name } = operation;
      const inputs = unused.get(name) ?? (await plausible.inputsFor(name, `the-${holder.split(' ')[0]}`));
      if (isDear(name)) unused.set(name, inputs);
      for (const route of routesOf(operation)) {
        for (const input of inputs) {
          const { path, ...question } = requestTo(route, input);
          const { status, text } = await ask(hub, path, { ...question, token: tokens[holder] });
          if (status < 300) unused.delete(name);
          expect(status, `${route.method} ${path}: ${text}`).toBeLessThan(500);
          expect(await fingerprint(), `${route.method} ${path} ${status}`).toBe(before);
        }
      }
    }
  });

  it('no tool writes a flow, in the session of an admin', async () => {
    const client = new Client({ name: 'only-writer', version: '1.0.0' });
    const requestInit = { headers: { authorization: `Bearer ${tokens.admin}` } };
    await client.connect(new StreamableHTTPClientTransport(new URL('/mcp', hub.url), { requestInit }));
    try {
      const before = await fingerprint();
      const { tools } = await client.listTools();
      const withTools = operations.filter(({ mcp }) => mcp !== undefined);
      expect(tools.map(({ name }) => name).sort()).toEqual(withTools.map(({ mcp }) => mcp?.tool).sort());
      for (const { name, mcp } of withTools) {
        for (const input of await plausible.inputsFor(name, 'the-admin')) {
          const answer = await client.callTool({ name: String(mcp?.tool), arguments: input });
          expect(answer.isError, `${name}: ${JSON.stringify(answer.content)}`).not.toBe(true);
          expect(await fingerprint(), name).toBe(before);
        }
      }
    } finally {
      await client.close();
    }
  });

  /** Every command that the program tells of, however deep. */
  async function commandsBelow(words: string[]): Promise<string[]> {
    const { stdout } = await flowright([...words, '--help'], options);
    const list = stdout.split('\nCommands:\n')[1] ?? '';
    const names = [...list.matchAll(/^ {2}([a-z-]+)/gm)].map(([, name]) => name as string);
    if (names.length === 0) return [words.join(' ')];
    return (await Promise.all(names.map((name) => commandsBelow([...words, name])))).flat();
  }

  /** Serve and do not end; what they serve is walked above. */
  const DOORS = ['hub', 'mcp'];
  /** The operator's own acts, named exceptions of the rule. */
  const OPERATOR_ACTS = ['flow store import', 'restore'];

  it('no command writes a flow, for the owner at the machine', async () => {
    const before = await fingerprint();
    const file = (name: string, value: unknown) => {
      const path = join(store.home, name);
      writeFileSync(path, typeof value === 'string' ? value : JSON.stringify(value));
      return path;
    };
    mkdirSync(join(store.home, 'out'), { recursive: true });
    const editor = file(
      'editor.sh',
      '#!/bin/sh\nsed -i "s/^intent:.*/intent: Edited/; s/title:.*/title: Anew/" "$1"\n',
    );
    const { ids } = plausible.scene;
    const { chatflow_id } = plausible.flowise;
    const chart = String(ids.flowchart_id);
    const asked = async (name: string) => inside.as('local', name, await plausible.scene.inputFor(name));
    const byHand: Record<string, string[]> = {
      'flow propose': [file('new.json', sampleFlow('flow_from_file')), '--intent', 'From a file'],
      'flow import': [file('import.json', sampleFlow('flow_from_bundle')), '--intent', 'From a file'],
      'flow edit': [plausible.flowId],
      'flow project': [plausible.flowId, '--harness', 'cli_runbook', '--out', join(store.home, 'out', 'AGENTS.md')],
      'flow store export': [join(store.home, 'out')],
      'flow run': [],
      'note put': ['notes/by-hand.md', '--file', file('note.md', '# By hand')],
      'note propose': ['notes/wished.md', '--file', file('wish.md', '# A wish'), '--intent', 'From a file'],
      'config show': [],
      'db status': [],
      'db migrate': [],
      backup: [join(store.home, 'out', 'backup.db')],
      doctor: [],
      init: [],
      openapi: ['--out', join(store.home, 'out', 'openapi.yaml')],
      signin: [],
      'flowchart save': [chart, file('graph.json', await asked('flowchart.graph'))],
      'flowchart validate': [chart],
      'flowchart import': [file('flowchart.json', await asked('flowchart.export'))],
      'flowchart export': [chart, '--out', join(store.home, 'out', 'flowchart.json')],
      'attachment upload': [file('notes.txt', 'Notes')],
      'attachment file': [String(ids.attachment_id), '--out', join(store.home, 'out', 'notes.txt')],
      'run watch': [String(ids.ended_run_id)],
      'flowchart run': [chart, '--detach'],
      demo: [],
      'server add': ['by-hand', '--url', 'http://127.0.0.1:9'],
      'knowledge refresh': ['--credentials'],
      'patch compile': [file('ops.json', RELABEL), '--chatflow-id', chatflow_id],
      'chatflow apply': [file('more-ops.json', RELABEL), '--chatflow-id', chatflow_id],
      'chatflow validate': ['--chatflow-id', chatflow_id],
      'chatflow export': ['--out', join(store.home, 'out', 'chatflows')],
    };
    const byOperation = new Map(
      operations.flatMap((operation) =>
        operation.cli && !operation.cli.byHand ? [[operation.cli.command.replace(/ [<[].*$/, ''), operation]] : [],
      ),
    );
    const all = await commandsBelow([]);
    expect(all).toEqual(
      expect.arrayContaining([...byOperation.keys(), ...Object.keys(byHand), ...DOORS, ...OPERATOR_ACTS]),
    );
    // Those that only read, and those about flowcharts and chatflows, were walked as operations, of which they are nothing but the
    // spelling.
    const isWalked = (command: string) => {
      const operation = byOperation.get(command);
      return operation?.effect === 'read' || isDear(operation?.name ?? '') || command === 'proposal approve';
    };
    const walk = all.filter((command) => ![...DOORS, ...OPERATOR_ACTS].includes(command) && !isWalked(command));
    // It puts back what `flow mirror propose` needs, so it does not run beside it.
    walk.sort((left, right) => Number(left === 'flow mirror restore') - Number(right === 'flow mirror restore'));
    const outcomes: Record<string, string> = {};
    const env = { ...AUTHORING_ON, EDITOR: `sh ${editor}` };
    const run = async (command: string) => {
      const name = byOperation.get(command)?.name;
      const args = name ? argumentsOf(name, (await plausible.inputsFor(name, 'local'))[0] ?? {}) : byHand[command];
      if (!args) throw new Error(`no plausible arguments are known for the command ${command}: add some`);
      const { status, stderr } = await flowright([...command.split(' '), ...args, '--yes'], { ...options, env });
      outcomes[command] = status === 0 ? 'done' : stderr;
    };
    for (let at = 0; at < walk.length; at += AT_ONCE) {
      const few = walk.slice(at, at + AT_ONCE);
      await Promise.all(few.map(run));
      expect(await fingerprint(), few.join(', ')).toBe(before);
    }
    const refused = Object.entries(outcomes).filter(([, outcome]) => outcome !== 'done');
    expect(
      refused.map(([command]) => command),
      JSON.stringify(refused),
    ).toEqual(['flow run']);
  });

  function argumentsOf(operation: string, input: Record<string, unknown>): string[] {
    const command = operations.find(({ name }) => name === operation)?.cli?.command ?? '';
    const positional = [...command.matchAll(/<([^>]+)>/g)].map(([, key]) => key as string);
    const named = Object.entries(input).filter(([key]) => !positional.includes(key));
    return [
      ...positional.map((key) => String(input[key])),
      ...named.map(([key, value]) => `--${key.replaceAll('_', '-')}=${value}`),
    ];
  }

  it('the operator takes in a store file, which is audited, and nobody else does', async () => {
    const folder = join(store.home, 'taken-in');
    mkdirSync(folder);
    const file = { vaults: { default: storeOf([sampleFlow('flow_taken_in')]) } };
    writeFileSync(join(folder, 'hub_flow_store.json'), JSON.stringify(file));
    const before = await fingerprint();
    for (const user of ['the-viewer', 'the-editor', 'the-evaluator']) {
      const env = { ...AUTHORING_ON, FLOWRIGHT_IDENTITY: user };
      const { status, stderr } = await flowright(['flow', 'store', 'import', folder, '--json'], { ...options, env });
      expect({ status, code: JSON.parse(stderr).code }, user).toEqual({ status: 1, code: 'FORBIDDEN' });
      expect(await fingerprint(), user).toBe(before);
    }
    const audited = async () => {
      const { entries } = await inside.as<{ entries: { action: string; outcome: string; user_id: string }[] }>(
        'local',
        'audit.list',
      );
      return entries.filter(({ action }) => action === 'flow.store.import');
    };
    const lines = (await audited()).length;
    const { status, stderr } = await flowright(['flow', 'store', 'import', folder, '--json'], options);
    expect(status, stderr).toBe(0);
    expect(await fingerprint()).not.toBe(before);
    expect((await audited()).length).toBe(lines + 1);
  });

  it('approve over REST is the one route that does', async () => {
    const proposal_id = await plausible.openProposal();
    const path = `/api/v1/proposals/${proposal_id}/approve`;
    const before = await fingerprint();
    for (const holder of holders.filter((name) => name !== 'admin')) {
      const reply = await ask(hub, path, { method: 'POST', token: tokens[holder], json: {} });
      expectRefusal(reply, 403, 'FORBIDDEN');
      expect(await fingerprint(), holder).toBe(before);
    }
    const reply = await ask(hub, path, { method: 'POST', token: tokens.admin, json: {} });
    expect(reply.status, reply.text).toBe(200);
    expect(await fingerprint()).not.toBe(before);
  });
});
