import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Client } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { currentClient } from '../integration/mcp-sessions.ts';
import { makeStore, type TestStore } from '../support/databases.ts';
import { sampleFlow } from '../support/flows.ts';
import { flowright, type Hub, type ProgramOptions, startHub } from '../support/program.ts';
import { countVersions, libraryFingerprint } from './fingerprint.ts';
import { AUTHORING_ON, approve, type Inside, openInside, type Payload, type Proposed, propose } from './inside.ts';
import { ask, expectRefusal } from './rest.ts';

const RUBRIC = ['accurate', 'no_secrets', 'matches_intent', 'pii', 'tone'];
/** Also where evaluators may approve and everything must be evaluated: nothing of that is for agents. */
const env = { ...AUTHORING_ON, HUB_EVALUATOR_MAY_APPROVE: '1', FLOWRIGHT_RATE_LIMIT_PER_MINUTE: '100000' };

let store: TestStore;
let hub: Hub;
let options: ProgramOptions;
let inside: Inside;
const agents: Record<string, string> = {};
let ownersToken: string;
let waiting: string;
let note: string;

beforeAll(async () => {
  store = await makeStore('sqlite');
  options = { home: store.home, env };
  inside = await openInside(store, env);
  ownersToken = await inside.token('local');
  agents.owner = await inside.token('local', { agent: true });
  for (const role of ['viewer', 'editor', 'evaluator', 'admin']) {
    agents[role] = await inside.token(`the-${role}`, { role, agent: true });
  }
  waiting = (await propose(inside, 'local', sampleFlow('flow_waiting'))).proposal_id;
  note = String(
    (await inside.as('local', 'proposal.create', { path: 'notes/wish.md', body: 'Text', intent: 'A wish' }))
      .proposal_id,
  );
  hub = await startHub(options);
});

afterAll(async () => {
  await hub?.stop();
  await inside?.close();
  await store?.remove();
});

/** Decisions and direct writes, as a request of each. */
const acts = (): { act: string; operation: string; method: string; path: string; json: Payload }[] =>
  [waiting, note].flatMap((id) => [
    {
      act: 'evaluates',
      operation: 'proposal.evaluate',
      method: 'POST',
      path: `/api/v1/proposals/${id}/evaluation`,
      json: { outcome: 'pass', checklist: RUBRIC },
    },
    {
      act: 'approves',
      operation: 'proposal.approve',
      method: 'POST',
      path: `/api/v1/proposals/${id}/approve`,
      json: {},
    },
    {
      act: 'waives',
      operation: 'proposal.approve',
      method: 'POST',
      path: `/api/v1/proposals/${id}/approve`,
      json: { waiver_reason: 'I know best' },
    },
    {
      act: 'discards',
      operation: 'proposal.discard',
      method: 'POST',
      path: `/api/v1/proposals/${id}/discard`,
      json: { reason: 'No' },
    },
    {
      act: 'sets a policy',
      operation: 'policy.set',
      method: 'PUT',
      path: '/api/v1/policy/evaluator_may_approve',
      json: { value: 'true' },
    },
    {
      act: 'writes a note',
      operation: 'note.put',
      method: 'PUT',
      path: '/api/v1/notes/notes%2Fby-agent.md',
      json: { body: 'Mine' },
    },
  ]);

const state = async () => {
  const proposals = await Promise.all(
    [waiting, note].map((proposal_id) => inside.as('local', 'proposal.get', { proposal_id })),
  );
  const written = await inside.codeOf('local', 'note.get', { path: 'notes/by-agent.md' });
  const { policies } = await inside.as<{ policies: unknown[] }>('local', 'policy.show');
  return JSON.stringify([proposals, written, policies, await libraryFingerprint(inside.app.services.database.queries)]);
};

describe('[FLR-people-decide] an agent never evaluates, approves, waives, discards, sets a policy or writes a note', () => {
  it.each(['owner', 'admin', 'evaluator', 'editor', 'viewer'])(
    'over REST, with the token for an agent of the %s',
    async (who) => {
      const before = await state();
      for (const { act, method, path, json } of acts()) {
        const reply = await ask(hub, path, { method, token: agents[who], json });
        expect(reply, `${act}: ${reply.text}`).toMatchObject({ status: 403, body: { code: 'FORBIDDEN' } });
        if (who === 'owner') expect(reply.body.message, act).toMatch(/agent/);
      }
      expect(await state()).toBe(before);
    },
  );

  it('inside the program either, whatever kind of agent it is', async () => {
    const before = await state();
    const bodies: Record<string, Payload> = {
      'proposal.evaluate': { proposal_id: waiting, outcome: 'fail', comment: 'No' },
      'proposal.approve': { proposal_id: waiting, waiver_reason: 'I know best' },
      'proposal.discard': { proposal_id: waiting },
      'policy.set': { key: 'evaluator_may_approve', value: 'true' },
      'note.put': { path: 'notes/by-agent.md', body: 'Mine' },
    };
    for (const user of ['local', 'the-admin', 'the-evaluator', 'the-editor', 'the-viewer', null]) {
      for (const [name, input] of Object.entries(bodies)) {
        expect(await inside.codeOf(user, name, input, { agent: true }), `${user} ${name}`).toBe('FORBIDDEN');
      }
    }
    expect(await state()).toBe(before);
  });

  it.each(['stdio', 'HTTP'] as const)('in an MCP session of the owner over %s, by any name', async (door) => {
    const before = await state();
    const client = await session(door);
    try {
      expect((await client.callTool({ name: 'whoami', arguments: {} })).structuredContent).toMatchObject({
        user_id: 'local',
        kind: 'agent',
        role: 'admin',
      });
      const { tools } = await client.listTools();
      expect(tools.filter(({ name }) => /approve|evaluat|discard|waive|policy|note_put/.test(name))).toEqual([]);
      for (const { operation, json } of acts()) {
        for (const name of [operation, operation.replace('.', '_'), operation.split('.').reverse().join('_')]) {
          const call = client.callTool({ name, arguments: { ...json, proposal_id: waiting } });
          await expect(call, name).rejects.toThrow(/no tool/);
        }
      }
    } finally {
      await client.close();
    }
    expect(await state()).toBe(before);
  });

  it('at the command line, with the token for an agent', async () => {
    const before = await state();
    const file = join(store.home, 'note.md');
    writeFileSync(file, 'Mine');
    const agent = { ...options, env: { FLOWRIGHT_HUB: hub.url, FLOWRIGHT_HUB_TOKEN: agents.owner ?? '' } };
    const commands = [
      ['proposal', 'approve', waiting],
      ['proposal', 'evaluate', waiting, '--outcome', 'pass', '--checklist', RUBRIC.join(',')],
      ['proposal', 'discard', waiting],
      ['policy', 'set', 'evaluator_may_approve', 'true'],
      ['note', 'put', 'notes/by-agent.md', '--file', file],
    ];
    await Promise.all(
      commands.map(async (args) => {
        const { status, stderr } = await flowright([...args, '--json'], agent);
        expect({ status, code: JSON.parse(stderr).code }, args.join(' ')).toEqual({ status: 1, code: 'FORBIDDEN' });
      }),
    );
    expect(await state()).toBe(before);
  });

  it('with the session of a person at the MCP door, which makes it an agent’s', async () => {
    const client = await session('HTTP');
    try {
      const bundle = sampleFlow('flow_by_session', { scope: 'org' });
      const answer = await client.callTool({ name: 'flow_propose', arguments: { ...bundle, intent: 'Mine' } });
      const { proposal_id } = answer.structuredContent as unknown as Proposed;
      expect(await inside.as('local', 'proposal.get', { proposal_id })).toMatchObject({
        proposed_by: 'local',
        proposed_as: 'agent',
      });
      // Its person is its author: somebody else has to look at it.
      const path = `/api/v1/proposals/${proposal_id}/approve`;
      const own = await ask(hub, path, { method: 'POST', token: ownersToken, json: {} });
      expectRefusal(own, 403, 'FOUR_EYES_REQUIRED');
      expect(await approve(inside, 'the-admin', proposal_id)).toMatchObject({
        status: 'approved',
        self_approved: false,
      });
    } finally {
      await client.close();
    }
  });
});

describe('[FLR-people-decide] an agent may', () => {
  it('propose, comment and withdraw, which changes nothing of the library', async () => {
    const { queries } = inside.app.services.database;
    const versions = await countVersions(queries);
    const token = agents.editor;
    const post = (path: string, json: Payload) => ask(hub, path, { method: 'POST', token, json });
    const proposed = await post('/api/v1/flows', {
      ...sampleFlow('flow_by_agent', { scope: 'project' }),
      intent: 'Try',
    });
    expect(proposed.status, proposed.text).toBe(201);
    const path = `/api/v1/proposals/${proposed.body.proposal_id}`;
    expect((await post(`${path}/comments`, { body: 'Please look' })).status).toBe(201);
    expect((await post(`${path}/withdraw`, {})).body).toMatchObject({ status: 'discarded', proposed_as: 'agent' });
    expect(await countVersions(queries)).toBe(versions);
  });
});

function session(door: 'stdio' | 'HTTP'): Promise<Client> {
  return currentClient({ program: options, door, user: 'local', hub, token: ownersToken }, { pin: '2026-07-28' });
}
