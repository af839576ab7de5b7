import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { addFlows } from '../data-integrity/library.ts';
import { currentClient } from '../integration/mcp-sessions.ts';
import { onEachDatabase, type TestStore } from '../support/databases.ts';
import { sampleFlow } from '../support/flows.ts';
import { flowright, type Hub, type ProgramOptions, startHub } from '../support/program.ts';
import { AUTHORING_ON, baseOf, type Inside, openInside, type Payload } from './inside.ts';
import { ask, expectRefusal, type Reply } from './rest.ts';

const SCOPES = ['personal', 'project', 'org'] as const;
type Scope = (typeof SCOPES)[number];

/** Each member, the scopes it sees and those it may write. Seeing is not writing: a grant of sight gives no pen. */
const MEMBERS: { user: string; role: string; own?: Scope[]; sees: Scope[]; writes: Scope[]; agent?: true }[] = [
  { user: 'vera', role: 'viewer', sees: ['personal'], writes: ['personal'] },
  { user: 'edna', role: 'editor', sees: ['personal', 'project'], writes: ['personal', 'project'] },
  { user: 'evan', role: 'evaluator', sees: ['personal', 'project'], writes: ['personal'] },
  { user: 'adam', role: 'admin', sees: [...SCOPES], writes: [...SCOPES] },
  { user: 'robot', role: 'admin', sees: [...SCOPES], writes: [...SCOPES], agent: true },
  { user: 'kim', role: 'viewer', own: ['project'], sees: ['project'], writes: [] },
  { user: 'olga', role: 'viewer', own: [...SCOPES], sees: [...SCOPES], writes: ['personal'] },
  { user: 'omar', role: 'editor', own: [...SCOPES], sees: [...SCOPES], writes: ['personal', 'project'] },
  { user: 'edda', role: 'editor', own: ['personal'], sees: ['personal'], writes: ['personal'] },
  { user: 'ella', role: 'evaluator', own: ['org'], sees: ['org'], writes: [] },
  { user: 'ned', role: 'admin', own: ['personal'], sees: ['personal'], writes: ['personal'] },
  { user: 'nora', role: 'admin', own: ['personal', 'org'], sees: ['personal', 'org'], writes: ['personal', 'org'] },
];

onEachDatabase((_engine, makeStore) => {
  let store: TestStore;
  let hub: Hub;
  let options: ProgramOptions;
  let inside: Inside;
  const tokens: Record<string, string> = {};
  const bases: Record<string, Payload> = {};

  beforeAll(async () => {
    store = await makeStore();
    options = { home: store.home, databaseUrl: store.databaseUrl, env: AUTHORING_ON };
    inside = await openInside(store);
    await addFlows(
      inside.app.services.database,
      SCOPES.map((scope) => sampleFlow(`flow_${scope}`, { scope })),
    );
    for (const { user, role, own, agent } of MEMBERS) {
      tokens[user] = await inside.token(user, { role, ...(agent ? { agent } : {}) });
      if (own) await inside.member(user, role, { scopes: own });
    }
    tokens.max = await inside.token('max', { role: 'admin' });
    await inside.member('max', 'admin', { ambiguous: true });
    for (const scope of SCOPES) bases[scope] = await baseOf(inside, 'adam', `flow_${scope}`);
    hub = await startHub({ ...options, env: { ...AUTHORING_ON, FLOWRIGHT_RATE_LIMIT_PER_MINUTE: '100000' } });
  });

  afterAll(async () => {
    await hub?.stop();
    await inside?.close();
    await store?.remove();
  });

  const proposals = async () => {
    const { queries } = inside.app.services.database;
    const row = await queries
      .selectFrom('proposals')
      .select(({ fn }) => fn.countAll<number>().as('count'))
      .executeTakeFirstOrThrow();
    return Number(row.count);
  };
  const post = (user: string, path: string, json: Payload) =>
    ask(hub, path, { method: 'POST', token: tokens[user], json });
  let made = 0;
  const fresh = (scope: Scope) => {
    made += 1;
    return { ...sampleFlow(`flow_new_${made}`, { scope }), intent: 'Mine' };
  };
  const edit = (of: Scope, to: Scope) => ({
    ...sampleFlow(`flow_${of}`, { scope: to, version: '2.0.0' }),
    ...bases[of],
    intent: 'Mine',
  });
  /** One proposal more, or none and the code. */
  const expectOutcome = async (expected: string, send: () => Promise<Reply>, what: string) => {
    const before = await proposals();
    const reply = await send();
    expect(reply.status === 201 ? 'proposed' : reply.body.code, `${what}: ${reply.text}`).toBe(expected);
    if (expected === 'proposed') expect(reply.body, what).toMatchObject({ status: 'proposed' });
    else expectRefusal(reply, expected === 'unknown_flow' ? 404 : 403, expected);
    expect(await proposals(), what).toBe(before + (expected === 'proposed' ? 1 : 0));
  };

  describe.each(MEMBERS)('[S003-2-write-authority] $role $user with scopes $own', ({ user, role, sees, writes }) => {
    it.each(SCOPES)('[S003-2-no-widening] hands in a new %s flow only where it may write', async (scope) => {
      const may = writes.includes(scope);
      const send = (path: string, json: Payload) => () => post(user, path, json);
      const { intent, ...bundle } = fresh(scope);
      await expectOutcome(may ? 'proposed' : 'FLOW_SCOPE_DENIED', send('/api/v1/flows', fresh(scope)), 'new');
      await expectOutcome(
        may ? 'proposed' : 'FLOW_IMPORT_SCOPE_DENIED',
        send('/api/v1/flows/import', { bundle, intent }),
        'import',
      );
    });

    it.each(SCOPES.flatMap((of) => SCOPES.map((to) => ({ of, to }))))(
      '[S003-2-no-existence-leak] edits a $of flow to be $to only where it may write both',
      async ({ of, to }) => {
        const expected = !writes.includes(to)
          ? 'FLOW_SCOPE_DENIED'
          : !sees.includes(of)
            ? 'unknown_flow'
            : writes.includes(of)
              ? 'proposed'
              : 'FLOW_SCOPE_DENIED';
        await expectOutcome(expected, () => post(user, `/api/v1/flows/flow_${of}/proposals`, edit(of, to)), 'edit');
        await expectOutcome(expected, () => post(user, '/api/v1/flows', edit(of, to)), 'edit at the other route');
      },
    );

    it.each(SCOPES)('asks to retire a %s flow only where it may write', async (scope) => {
      const expected = !sees.includes(scope)
        ? 'unknown_flow'
        : writes.includes(scope)
          ? 'proposed'
          : 'FLOW_SCOPE_DENIED';
      const send = () => post(user, `/api/v1/flows/flow_${scope}/retire`, { intent: 'Gone' });
      await expectOutcome(expected, send, 'retire');
    });

    it.each(SCOPES)('restores the mirror of a %s flow only where it may write', async (scope) => {
      const reply = await post(user, `/api/v1/flows/flow_${scope}/mirror/restore`, {});
      const mayWriteNotes = role === 'editor' || role === 'admin';
      const expected = !sees.includes(scope)
        ? 'unknown_flow'
        : writes.includes(scope)
          ? 'CONFLICT'
          : 'FLOW_SCOPE_DENIED';
      expect(reply.body.code, reply.text).toBe(mayWriteNotes ? expected : 'FORBIDDEN');
    });
  });

  describe('[S003-2-ambiguous] an ambiguous membership', () => {
    it('can propose nothing and see no proposal of a flow', async () => {
      const before = await proposals();
      const requests: [string, Payload][] = [
        ['/api/v1/flows', fresh('personal')],
        ['/api/v1/flows', fresh('org')],
        ['/api/v1/flows', edit('org', 'org')],
        ['/api/v1/flows/flow_personal/proposals', edit('personal', 'personal')],
        ['/api/v1/flows/import', fresh('personal')],
        ['/api/v1/flows/flow_personal/retire', { intent: 'Gone' }],
        ['/api/v1/flows/flow_personal/mirror/proposals', {}],
        ['/api/v1/flows/flow_personal/mirror/restore', {}],
      ];
      for (const [path, json] of requests) expectRefusal(await post('max', path, json), 400, 'FLOW_SCOPE_AMBIGUOUS');
      expect(await proposals()).toBe(before);
      expect((await ask(hub, '/api/v1/proposals', { token: tokens.max })).body.proposals).toEqual([]);
      const { proposal_id } = await inside.as('adam', 'flow.propose', fresh('personal'));
      for (const [method, end] of [
        ['GET', ''],
        ['GET', '/diff'],
        ['POST', '/approve'],
        ['POST', '/discard'],
      ] as const) {
        const json = method === 'POST' ? { json: {} } : {};
        const reply = await ask(hub, `/api/v1/proposals/${proposal_id}${end}`, { method, token: tokens.max, ...json });
        expectRefusal(reply, 404, 'NOT_FOUND');
      }
    });
  });

  describe('[S003-2-write-authority] a client', () => {
    it.each<[string, Payload]>([
      ['role', { role: 'admin' }],
      ['visible_scopes', { visible_scopes: SCOPES }],
      ['scope', { scope: 'org' }],
      ['principal', { principal: { role: 'admin' } }],
      ['write_tier', { write_tier: 'org' }],
      ['vault_id', { vault_id: 'default' }],
    ])('cannot say %s of itself', async (key, more) => {
      const before = await proposals();
      const reply = await post('vera', '/api/v1/flows', { ...fresh('personal'), ...more });
      expectRefusal(reply, 400, 'FLOW_DRAFT_INVALID');
      expect(reply.body.details).toMatchObject({ errors: [{ code: 'unknown_key', path: `/${key}` }] });
      expect(await proposals()).toBe(before);
    });

    it('says nothing with a header either', async () => {
      const headers = { 'x-role': 'admin', 'x-scope': 'org', 'x-visible-scopes': 'org', 'x-user-id': 'adam' };
      const reply = await ask(hub, '/api/v1/flows', {
        method: 'POST',
        token: tokens.vera,
        headers,
        json: fresh('org'),
      });
      expectRefusal(reply, 403, 'FLOW_SCOPE_DENIED');
    });
  });

  describe('[S003-2-write-authority] a machine without an identity', () => {
    const nobody = () => ({ ...options, env: { ...AUTHORING_ON, FLOWRIGHT_IDENTITY: '' } });
    const file = (name: string, value: unknown) => {
      const path = join(store.home, name);
      writeFileSync(path, JSON.stringify(value));
      return path;
    };

    beforeAll(() => writeFileSync(join(store.home, 'config.yaml'), '# nobody in particular\n'));
    afterAll(() => writeFileSync(join(store.home, 'config.yaml'), 'identity: local\n'));

    it('proposes personal flows at the command line and no others', async () => {
      const { intent: _, ...personal } = fresh('personal');
      const ok = await flowright(['flow', 'propose', file('p.json', personal), '--intent', 'Mine', '--json'], nobody());
      expect(ok.stderr).toBe('');
      const { proposal_id } = JSON.parse(ok.stdout);
      const record = await inside.as('adam', 'proposal.get', { proposal_id });
      expect(record).toMatchObject({ proposed_by: '(nobody)', proposed_as: 'local', flow_meta: { scope: 'personal' } });
      const refusals: [string[], string][] = [
        [['flow', 'propose', file('pr.json', fresh('project'))], 'FLOW_SCOPE_DENIED'],
        [
          ['flow', 'import', file('o.json', sampleFlow('flow_o', { scope: 'org' })), '--intent', 'x'],
          'FLOW_IMPORT_SCOPE_DENIED',
        ],
        [['flow', 'retire', 'flow_project', '--intent', 'x'], 'unknown_flow'],
        [['proposal', 'approve', String(proposal_id)], 'FORBIDDEN'],
        [['proposal', 'create', '--path', 'a.md', '--intent', 'x'], 'FORBIDDEN'],
        [['policy', 'set', 'flow_authoring_forbidden', 'false'], 'FORBIDDEN'],
      ];
      await Promise.all(
        refusals.map(async ([args, code]) => {
          const { status, stderr } = await flowright([...args, '--json'], nobody());
          expect({ status, code: JSON.parse(stderr).code }, args.join(' ')).toEqual({ status: 1, code });
        }),
      );
    });

    it('proposes personal flows over stdio and no others', async () => {
      const client = await currentClient({ program: nobody(), door: 'stdio', user: '' }, { pin: '2026-07-28' });
      try {
        const codes = [];
        for (const scope of SCOPES) {
          const answer = await client.callTool({ name: 'flow_propose', arguments: fresh(scope) });
          const [first] = answer.content as { text: string }[];
          codes.push(answer.isError ? JSON.parse(first?.text ?? '').code : 'proposed');
        }
        expect(codes).toEqual(['proposed', 'FLOW_SCOPE_DENIED', 'FLOW_SCOPE_DENIED']);
      } finally {
        await client.close();
      }
    });
  });

  describe('[S003-2-no-widening] settings that narrow what an identity sees', () => {
    it('narrow what it may write', async () => {
      const how = { narrowTo: ['personal'] };
      expect(await inside.codeOf('adam', 'flow.propose', fresh('org'), how)).toBe('FLOW_SCOPE_DENIED');
      expect(await inside.codeOf('adam', 'flow.propose', edit('org', 'personal'), how)).toBe('unknown_flow');
      expect(await inside.codeOf('adam', 'flow.retire', { flow_id: 'flow_org', intent: 'x' }, how)).toBe(
        'unknown_flow',
      );
      expect(await inside.codeOf('adam', 'flow.propose', fresh('personal'), how)).toBe('done');
    });

    it('may leave nothing: then everything answers, and nothing is seen or written', async () => {
      const how = { narrowTo: ['org'] };
      expect(await inside.codeOf('vera', 'flow.propose', fresh('personal'), how)).toBe('FLOW_SCOPE_DENIED');
      expect(await inside.codeOf('vera', 'flow.retire', { flow_id: 'flow_personal', intent: 'x' }, how)).toBe(
        'unknown_flow',
      );
      expect(await inside.as('vera', 'proposal.list', { source: 'flow' }, how)).toMatchObject({ proposals: [] });
      expect(await inside.as('vera', 'flow.list', {}, how)).toMatchObject({ flows: [] });
      expect(await inside.as('vera', 'flow.search', { query: 'part' }, how)).toMatchObject({ flows: [] });
      expect(await inside.as('vera', 'note.list', { prefix: 'meta/flows' }, how)).toMatchObject({ notes: [] });
      expect(await inside.as('vera', 'flow.mirrors', {}, how)).toMatchObject({ mirrors: [] });
    });
  });
});
