import { randomUUID } from 'node:crypto';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { onEachDatabase, type TestStore } from '../support/databases.ts';
import type { DoorHandle } from '../support/doors.ts';
import { sampleFlow } from '../support/flows.ts';
import { type Hub, type ProgramOptions, startHub } from '../support/program.ts';
import { openWriteDoors } from '../support/write-doors.ts';
import { CANARY, type Hidden, hide } from './hidden.ts';
import { AUTHORING_ON, type Inside, openInside, type Payload, propose } from './inside.ts';
import { ask, expectRefusal } from './rest.ts';

const SCOPES = ['project', 'org'] as const;
/** What is asked in place of something hidden: there is none of it for anybody. */
const MISSING = { flow: 'flow_none', proposal: randomUUID(), note: 'meta/flows/none.md' };

/** A question about something hidden, and the same about something that is not there. */
interface Probe {
  what: string;
  operation: string;
  hidden: Payload;
  missing: Payload;
}

onEachDatabase((engine, makeStore) => {
  let store: TestStore;
  let hub: Hub;
  let inside: Inside;
  let doors: DoorHandle[];
  const tokens: Record<string, string> = {};
  const secrets = {} as Record<(typeof SCOPES)[number], Hidden>;
  let probes: Probe[];
  let visible: string;

  beforeAll(async () => {
    store = await makeStore();
    const options: ProgramOptions = { home: store.home, databaseUrl: store.databaseUrl, env: AUTHORING_ON };
    inside = await openInside(store);
    tokens.vera = await inside.token('vera', { role: 'viewer' });
    await inside.member('ann', 'admin');
    for (const scope of SCOPES) secrets[scope] = await hide(inside, store.home, scope);
    visible = (await propose(inside, 'ann', sampleFlow('flow_plain'))).proposal_id;
    hub = await startHub({ ...options, env: { ...AUTHORING_ON, FLOWRIGHT_RATE_LIMIT_PER_MINUTE: '100000' } });
    doors = await openWriteDoors({ ...options, hub, user: 'vera', token: tokens.vera ?? '' });
    probes = SCOPES.flatMap((scope) => probesOf(secrets[scope]));
  });

  afterAll(async () => {
    for (const door of doors ?? []) await door.close();
    await hub?.stop();
    await inside?.close();
    await store?.remove();
  });

  const withdraw = async (user: string, proposal_id: string) => {
    await inside.as(user, 'proposal.withdraw', { proposal_id });
  };
  const quickDoors = () => doors.filter(({ name }) => !name.startsWith('command line'));

  function probesOf({ flowIds, flowId, movedId, retiredId, proposals, notes }: Hidden): Probe[] {
    const { flow, proposal, note } = MISSING;
    const ofFlows = flowIds.flatMap((id) => [
      ...['flow.get', 'flow.versions', 'flow.diff', 'flow.export'].map((operation) => ({
        what: id,
        operation,
        hidden: { flow_id: id },
        missing: { flow_id: flow },
      })),
      {
        what: id,
        operation: 'flow.project',
        hidden: { flow_id: id, harness: 'cli_runbook' },
        missing: { flow_id: flow, harness: 'cli_runbook' },
      },
      ...['flow.retire', 'flow.mirror_propose'].map((operation) => ({
        what: id,
        operation,
        hidden: { flow_id: id, intent: 'Mine' },
        missing: { flow_id: flow, intent: 'Mine' },
      })),
    ]);
    const pinned = [flowId, movedId, retiredId].flatMap((id) =>
      ['flow.get', 'flow.export'].map((operation) => ({
        what: `${id} 1.0.0`,
        operation,
        hidden: { flow_id: id, version: '1.0.0' },
        missing: { flow_id: flow, version: '1.0.0' },
      })),
    );
    const base = { base_version: '1.0.0', base_state_id: 'flowst1_0000000000000000', intent: 'Mine' };
    const edits = [flowId, movedId, retiredId].map((id) => ({
      what: `an edit of ${id}`,
      operation: 'flow.propose',
      hidden: { ...sampleFlow(id, { version: '9.0.0' }), ...base },
      missing: { ...sampleFlow(flow, { version: '9.0.0' }), ...base },
    }));
    const ofProposals = Object.entries(proposals).flatMap(([state, id]) => [
      ...['proposal.get', 'proposal.diff', 'proposal.withdraw'].map((operation) => ({
        what: `a proposal ${state}`,
        operation,
        hidden: { proposal_id: id },
        missing: { proposal_id: proposal },
      })),
      {
        what: `a proposal ${state}`,
        operation: 'proposal.comment',
        hidden: { proposal_id: id, body: 'Hello?' },
        missing: { proposal_id: proposal, body: 'Hello?' },
      },
      {
        what: `a proposal ${state}, beside a flow that may be seen`,
        operation: 'flow.diff',
        hidden: { flow_id: 'flow_capture_to_note', proposal_id: id },
        missing: { flow_id: 'flow_capture_to_note', proposal_id: proposal },
      },
    ]);
    const ofNotes = Object.entries(notes).map(([kind, path]) => ({
      what: kind,
      operation: 'note.get',
      hidden: { path },
      missing: { path: note },
    }));
    return [...ofFlows, ...pinned, ...edits, ...ofProposals, ...ofNotes];
  }

  /** What was asked for may come back in the answer; then it must be all that differs. */
  function withoutAsked(text: string, { hidden, missing }: Probe): string {
    const swap: [string, string][] = [
      [String(hidden.flow_id), String(missing.flow_id)],
      [String(hidden.proposal_id), String(missing.proposal_id)],
      [String(hidden.path), String(missing.path)],
    ];
    const flow = (bundle: Payload) => String((bundle.flow as { flow_id?: string } | undefined)?.flow_id);
    swap.push([flow(hidden), flow(missing)]);
    return swap.reduce((left, [from, to]) => (from === 'undefined' ? left : left.replaceAll(from, to)), text);
  }

  describe('[FLR-scope-holes] [S003-2-no-existence-leak] what a viewer may not see', () => {
    it('is there for who may see it: every probe finds something', async () => {
      const found = probes.filter(({ operation }) =>
        /^(flow\.get|proposal\.get|proposal\.diff|note\.get)$/.test(operation),
      );
      const misses = [];
      for (const { what, operation, hidden } of found) {
        const code = await inside.codeOf('local', operation, hidden);
        if (code !== 'done') misses.push(`${operation} ${what}: ${code}`);
      }
      // A flow that is retired, or only proposed, is no flow; its proposals are there.
      const isNoFlow = (miss: string) => /flow_zqx_(gone|new|import)_\w+: unknown_flow$/.test(miss);
      expect(misses.filter((miss) => !isNoFlow(miss))).toEqual([]);
      expect(found.length).toBeGreaterThan(60);
    });

    it('answers as what is not there, over REST and MCP', async () => {
      for (const door of quickDoors().filter(({ name }) => engine === 'sqlite' || name === 'REST')) {
        const missing = new Map<string, string>();
        for (const probe of probes) {
          const question = JSON.stringify([probe.operation, probe.missing]);
          const expected = missing.get(question) ?? (await door.ask(probe.operation, probe.missing)).text;
          missing.set(question, expected);
          const { ok, text } = await door.ask(probe.operation, probe.hidden);
          const where = `${door.name} ${probe.operation} ${probe.what}`;
          expect(ok, where).toBe(false);
          expect(withoutAsked(text, probe), where).toBe(expected);
          expect(expected, where).toMatch(/"code":"(unknown_flow|NOT_FOUND)"/);
        }
      }
    });

    // A process a question: one engine is enough to see that the command asks as the others do.
    const atCommandLine = engine === 'sqlite' ? it : () => {};
    atCommandLine('answers as what is not there, at the command line', async () => {
      const [command] = doors as [DoorHandle];
      const { flowId, proposals, notes } = secrets.org;
      const asked = probes.filter(
        ({ operation, hidden }) =>
          (['flow.diff', 'flow.export', 'flow.retire'].includes(operation) && hidden.flow_id === flowId) ||
          (['proposal.get', 'proposal.diff'].includes(operation) && hidden.proposal_id === proposals.open) ||
          hidden.path === notes.mirror,
      );
      expect(asked).toHaveLength(7);
      await Promise.all(
        asked.map(async (probe) => {
          const { ok, text } = await command.ask(probe.operation, probe.hidden);
          expect(ok).toBe(false);
          expect(withoutAsked(text, probe)).toBe((await command.ask(probe.operation, probe.missing)).text);
        }),
      );
    });

    it('leaves no word in any list, search or setting, through any door', async () => {
      const lists: [string, Payload][] = [
        ['flow.list', {}],
        ['flow.list', { tag: 'zqxtag' }],
        ['flow.search', { query: 'zqxtitle' }],
        ['flow.search', { query: 'zqxinstruction zqxproof' }],
        ['flow.mirrors', {}],
        ['proposal.list', {}],
        ['proposal.list', { source: 'flow', limit: 100 }],
        ['proposal.list', { label: 'import' }],
        ['proposal.list', { path_prefix: 'meta/flows' }],
        ['proposal.list', { review_queue: 'flow-authoring' }],
        ...['proposed', 'approved', 'discarded', 'conflicted'].map((status): [string, Payload] => [
          'proposal.list',
          { status },
        ]),
        ...['pending', 'needs_changes'].map((state): [string, Payload] => [
          'proposal.list',
          { evaluation_status: state },
        ]),
        ...SCOPES.map((scope): [string, Payload] => ['proposal.list', { flow_id: secrets[scope].flowId }]),
        ['note.list', {}],
        ['note.list', { prefix: 'meta' }],
        ['note.list', { prefix: 'meta/flows' }],
        ['note.list', { prefix: 'approvals' }],
        ['whoami.show', {}],
        ['vault.list', {}],
      ];
      const atDoor = async (door: DoorHandle, [operation, input]: [string, Payload]) => {
        const { ok, text } = await door.ask(operation, input);
        expect(ok, `${door.name} ${operation}: ${text}`).toBe(true);
        const shown = text.replace(`"query":${JSON.stringify(input.query)}`, '');
        expect(CANARY.exec(shown)?.input, `${door.name} ${operation} ${JSON.stringify(input)}`).toBeUndefined();
        return text;
      };
      for (const door of quickDoors()) for (const list of lists) await atDoor(door, list);
      if (engine === 'sqlite') {
        const [command] = doors as [DoorHandle];
        const some = lists.filter(([, input]) =>
          ['meta/flows', 'approvals', undefined].includes(input.prefix as string),
        );
        const few = some.filter(([operation]) => /mirrors|search|note|proposal/.test(operation)).slice(0, 8);
        await Promise.all(few.map((list) => atDoor(command, list)));
      }
      expect(await inside.as('vera', 'proposal.list')).toMatchObject({ proposals: [{ proposal_id: visible }] });
      expect(JSON.stringify(await inside.as('vera', 'policy.show'))).not.toMatch(CANARY);
    });

    it('is neither prompt, nor resource, nor skill', async () => {
      const client = new Client({ name: 'scope-holes', version: '1.0.0' });
      const requestInit = { headers: { authorization: `Bearer ${tokens.vera}` } };
      await client.connect(new StreamableHTTPClientTransport(new URL('/mcp', hub.url), { requestInit }));
      const refusalOf = async (call: Promise<unknown>) => String(await call.catch((error: Error) => error.message));
      try {
        const lists = [await client.listPrompts(), await client.listResources(), await client.listTools()];
        expect(JSON.stringify(lists)).toContain('capture-to-note');
        expect(JSON.stringify(lists)).not.toMatch(CANARY);
        for (const flowId of SCOPES.flatMap((scope) => secrets[scope].flowIds)) {
          const name = flowId.slice(5).replaceAll('_', '-');
          const prompt = await refusalOf(client.getPrompt({ name }));
          expect(prompt.replaceAll(name, 'none')).toBe(await refusalOf(client.getPrompt({ name: 'none' })));
          const uriOf = (slug: string) => `skill://flows/${slug}/SKILL.md`;
          const skill = await refusalOf(client.readResource({ uri: uriOf(name) }));
          expect(skill.replaceAll(name, 'none')).toBe(await refusalOf(client.readResource({ uri: uriOf('none') })));
        }
      } finally {
        await client.close();
      }
    });

    it('is not told by how a list pages', async () => {
      const between = 3;
      const mine = [await propose(inside, 'vera', sampleFlow('flow_page_1'))];
      onTestFinished(async () => {
        for (const { proposal_id } of mine) await withdraw('vera', proposal_id);
      });
      for (let at = 0; at < between; at += 1) {
        await propose(inside, 'ann', sampleFlow(`flow_zqx_page_${at}`, { scope: 'org' }));
      }
      mine.push(await propose(inside, 'vera', sampleFlow('flow_page_2')));
      const cursors = [];
      for (let cursor: string | null = ''; cursor !== null && cursors.length < mine.length; ) {
        const page: Payload = await inside.as('vera', 'proposal.list', { limit: 1, ...(cursor ? { cursor } : {}) });
        cursor = page.next_cursor as string | null;
        cursors.push(Number(cursor));
      }
      // Two neighbours in her list: a distance of more than one would count what lies between.
      const [newer = 0, older = 0] = cursors;
      expect(newer - older > 1, `cursors ${cursors}`).toBe(false);
    });

    it('is not hers to read in the audit log', async () => {
      for (const path of ['/api/v1/audit', '/api/v1/audit?chain=hub']) {
        expectRefusal(await ask(hub, path, { token: tokens.vera }), 403, 'FORBIDDEN');
      }
    });

    it('is told by events with the scope it has, and by pointers only', async () => {
      const rows = await inside.app.services.database.queries.selectFrom('events').selectAll().execute();
      const events = rows.map(({ type, payload_json }) => ({ type, ...(JSON.parse(payload_json) as Payload) }));
      const moved = SCOPES.map((scope) => secrets[scope].movedId);
      const ofHidden = events.filter((event) => CANARY.test(String((event as Payload).flow_id)));
      expect(ofHidden.length).toBeGreaterThan(30);
      for (const event of ofHidden as Payload[]) {
        const { type, proposal_id, target, flow_id, flow_kind, version, scope, ...rest } = event;
        expect(rest, String(type)).toEqual({});
        // What it was while it was visible may have been told to those who saw it.
        if (moved.includes(String(flow_id)) && scope === 'personal') continue;
        expect(scope, `${type} ${flow_kind} ${flow_id} ${proposal_id}`).toMatch(/^(project|org)$/);
      }
    });
  });
});
