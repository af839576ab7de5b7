import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { tokenFor } from '../security/people.ts';
import { onEachDatabase, type TestStore } from '../support/databases.ts';
import { type DoorHandle, doorsInTurn } from '../support/doors.ts';
import { sampleFlow } from '../support/flows.ts';
import { flowright, flowrightJson, type Hub, startHub } from '../support/program.ts';
import { spoiltDraft, THIRTY_MISTAKES } from '../support/spoilt-draft.ts';
import { openWriteDoors } from '../support/write-doors.ts';

// biome-ignore lint/suspicious/noExplicitAny: answers of every shape; tests look into them
type Body = any;
type Who = 'owner' | 'viewer' | 'muddled';
interface Asked {
  door: string;
  ok: boolean;
  body: Body;
}

const ENVELOPE_KEYS =
  'schema proposal_id flow_id base_version base_state_id scope auto_approvable status review_queue'.split(' ');
const HIDDEN = 'flow_overseer_handover';

onEachDatabase((engine, makeStore) => {
  const isLong = process.env.TEST_DATABASES === 'all';
  /** Without the command line over a hub on the second engine. */
  const everyDoor = engine === 'sqlite' ? 5 : 4;
  /** Doors differ in nothing by engine: one of them gets every question, the other some. */
  const some = <T>(questions: T[]): T[] => (isLong || engine === 'sqlite' ? questions : questions.slice(0, 2));
  let store: TestStore;
  let hub: Hub;
  let token: string;
  let options: { home: string; databaseUrl: string | undefined };
  const doors = new Map<Who, DoorHandle[]>();
  let base: { base_version: string; base_state_id: string };

  beforeAll(async () => {
    store = await makeStore();
    options = { home: store.home, databaseUrl: store.databaseUrl };
    const tokens = {
      owner: await tokenFor(options, 'local'),
      viewer: await tokenFor(options, 'vera', { role: 'viewer' }),
      muddled: await tokenFor(options, 'max', { role: 'viewer' }),
    };
    await flowright(['member', 'set', 'max', '--role', 'viewer', '--ambiguous'], options);
    hub = await startHub(options);
    token = tokens.owner;
    const users = { owner: 'local', viewer: 'vera', muddled: 'max' };
    for (const who of ['owner', 'viewer', 'muddled'] as const) {
      const all = await openWriteDoors({ ...options, hub, user: users[who], token: tokens[who] });
      doors.set(
        who,
        all.filter(({ name }) => engine === 'sqlite' || name !== 'command line --hub'),
      );
    }
    const { versions } = await flowrightJson<Body>(['flow', 'versions', 'flow_capture_to_note'], options);
    base = { base_version: versions[0].version, base_state_id: versions[0].state_id };
  });
  afterAll(async () => {
    for (const door of [...doors.values()].flat()) await door.close();
    await hub?.stop();
    await store?.remove();
  });

  /** One question at every door, or at those whose turn it is. */
  const ask = async (operation: string, input: Record<string, unknown>, who: Who = 'owner', turn = 0) => {
    const handles = doorsInTurn(doors.get(who) ?? [], engine, turn);
    expect(handles.length).toBeGreaterThanOrEqual(turn === 0 ? everyDoor : 3);
    return Promise.all(
      handles.map(async (door): Promise<Asked> => {
        const { ok, text } = await door.ask(operation, input);
        return { door: door.name, ok, body: JSON.parse(text) };
      }),
    );
  };
  /** Numbers questions, so that each door gets its share of them. */
  const numbered = <T extends unknown[]>(questions: T[]): [number, ...T][] =>
    questions.map((question, at) => [at, ...question]);
  const policy = (values: object | string | null) => {
    const file = join(store.home, 'hub_flow_authoring_policy.json');
    if (values === null) rmSync(file, { force: true });
    else writeFileSync(file, typeof values === 'string' ? values : JSON.stringify(values));
  };
  const fetched = async (path: string): Promise<Body> =>
    (await fetch(new URL(path, hub.url), { headers: { authorization: `Bearer ${token}` } })).json();
  const proposalIds = async (): Promise<string[]> =>
    (await fetched('/api/v1/proposals?limit=100')).proposals.map(({ proposal_id }: Body) => proposal_id);
  const edit = () => ({ ...sampleFlow('flow_capture_to_note', { version: '7.0.0' }), intent: 'Edit', ...base });

  /** Requests of every kind, each the same at all doors. */
  const REQUESTS: [string, string, () => Record<string, unknown>][] = [
    ['a new flow', 'flow.propose', () => ({ ...sampleFlow('flow_parity'), intent: 'Add' })],
    ['an edit', 'flow.propose', edit],
    ['a bundle', 'flow.import', () => ({ bundle: sampleFlow('flow_brought'), intent: 'Bring' })],
    [
      'an export as it is, from somewhere',
      'flow.import',
      () => ({
        schema: 'flowright.flow_bundle/v1',
        ...sampleFlow('flow_brought'),
        intent: 'Bring',
        external_ref: 'ticket:7',
        source_vault_hint: 'sales',
      }),
    ],
    ['an edit that names its flow', 'flow.propose', () => ({ ...edit(), flow_id: 'flow_capture_to_note' })],
    ['a retirement', 'flow.retire', () => ({ flow_id: 'flow_capture_to_note', intent: 'Retire' })],
  ];

  describe('[S003-6-gate] with authoring switched off, as it is at first', () => {
    it.each(numbered(some(REQUESTS)))(
      '%i: %s is FLOW_AUTHORING_DISABLED at every door, and nothing is made',
      async (turn, _, operation, input) => {
        const [first, ...others] = await ask(operation, input(), 'owner', turn);
        expect(first).toMatchObject({ ok: false, body: { code: 'FLOW_AUTHORING_DISABLED' } });
        expect(first?.body.message).toContain('flowright policy set flow_authoring_writes_enabled true');
        for (const other of others) expect(other).toEqual({ ...first, door: other.door });
        expect(await proposalIds()).toEqual([]);
      },
    );

    it('[S003-6-policy] so it is when it is forbidden, or its policy cannot be read', async () => {
      const [, operation, input] = REQUESTS[0] as (typeof REQUESTS)[0];
      for (const values of [{ flow_authoring_writes_enabled: true, flow_authoring_forbidden: true }, '{']) {
        policy(values);
        const [first, ...others] = await ask(operation, input());
        expect(first).toMatchObject({ ok: false, body: { code: 'FLOW_AUTHORING_POLICY_FORBIDDEN' } });
        for (const other of others) expect(other).toEqual({ ...first, door: other.door });
      }
      policy(null);
      expect(await proposalIds()).toEqual([]);
    });
  });

  describe('with authoring open', () => {
    beforeAll(() => policy({ flow_authoring_writes_enabled: true }));

    describe('[S003-1-one-handler] [S003-1-one-record] [S003-1.2-envelope] [S002-7-parity] the same request', () => {
      it.each(some(REQUESTS))(
        '%s gives the same envelope at all five doors, and each makes one proposal',
        async (_, operation, input) => {
          const before = await proposalIds();
          const answers = await ask(operation, input());
          const [first] = answers;
          for (const { door, ok, body } of answers) {
            expect([door, ok], JSON.stringify(body)).toEqual([door, true]);
            expect(Object.keys(body)).toEqual(ENVELOPE_KEYS);
            expect({ ...body, proposal_id: '' }).toEqual({ ...first?.body, proposal_id: '' });
          }
          const made = new Set(answers.map(({ body }) => body.proposal_id));
          expect(made.size).toBe(everyDoor);
          const after = await proposalIds();
          expect(after).toHaveLength(before.length + everyDoor);
          expect(new Set(after.slice(0, everyDoor))).toEqual(made);
          const records: Body[] = await Promise.all([...made].map((id) => fetched(`/api/v1/proposals/${id}`)));
          const alike = records.map(
            ({ proposal_id: _id, created_at: _c, updated_at: _u, proposed_as: _as, ...rest }) => rest,
          );
          for (const record of alike) expect(record).toEqual(alike[0]);
        },
      );

      it('[FLR-idempotency] with a key is one proposal, whichever door it comes through', async () => {
        for (const [name, operation, input] of some(REQUESTS).filter((_, at) => at % 2 === 1)) {
          const request = { ...input(), idempotency_key: `one ${name}` };
          const ids = (await ask(operation, request)).map(({ body }) => body.proposal_id ?? body.code);
          expect([name, new Set(ids).size], ids.join()).toEqual([name, 1]);
        }
      });
    });

    it('[S003-1.1-new-or-edit] [FLR-idempotency] an edit is the same whether or not the route names its flow', async () => {
      const key = { idempotency_key: 'with or without a name' };
      const ids = new Set<string>();
      for (const request of [edit(), { ...edit(), flow_id: 'flow_capture_to_note' }]) {
        for (const { body } of await ask('flow.propose', { ...request, ...key }))
          ids.add(body.proposal_id ?? body.code);
      }
      expect([...ids]).toEqual([expect.stringMatching(/^[0-9a-f-]{36}$/)]);
    });

    describe('[S002-7-same-refusal] [S003-1-one-handler] the same mistake', () => {
      const REFUSED: [string, string, string, () => Record<string, unknown>, Who?][] = [
        ['no intent', 'FLOW_DRAFT_INVALID', 'flow.propose', () => ({ ...sampleFlow('flow_x'), intent: ' ' })],
        [
          'a stale base',
          'FLOW_LINEAGE_CONFLICT',
          'flow.propose',
          () => ({ ...edit(), base_state_id: 'flowst1_0000000000000000' }),
        ],
        [
          'an id that is taken',
          'FLOW_LINEAGE_CONFLICT',
          'flow.import',
          () => ({ bundle: sampleFlow('flow_capture_to_note'), intent: 'x' }),
        ],
        ['a torn bundle', 'FLOW_IMPORT_BUNDLE_MALFORMED', 'flow.import', () => ({ bundle: { flow: {} }, intent: 'x' })],
        [
          'a torn bundle at the top',
          'FLOW_IMPORT_BUNDLE_MALFORMED',
          'flow.import',
          () => ({ flow: {}, steps: [], intent: 'x' }),
        ],
        [
          'a scope too high',
          'FLOW_SCOPE_DENIED',
          'flow.propose',
          () => ({ ...sampleFlow('flow_x', { scope: 'project' }), intent: 'x' }),
          'viewer',
        ],
        [
          'an import too high',
          'FLOW_IMPORT_SCOPE_DENIED',
          'flow.import',
          () => ({ bundle: sampleFlow('flow_x', { scope: 'org' }), intent: 'x' }),
          'viewer',
        ],
        [
          'a flow that may not be seen',
          'unknown_flow',
          'flow.propose',
          () => ({ ...sampleFlow(HIDDEN, { version: '9.0.0' }), intent: 'x', ...base }),
          'viewer',
        ],
        [
          'a muddled membership',
          'FLOW_SCOPE_AMBIGUOUS',
          'flow.propose',
          () => ({ ...sampleFlow('flow_x'), intent: 'x' }),
          'muddled',
        ],
      ];

      it.each(numbered(some(REFUSED)))(
        '%i: %s is %s in the same words at every door',
        async (turn, _, code, operation, input, who) => {
          const before = await proposalIds();
          const [first, ...others] = await ask(operation, JSON.parse(JSON.stringify(input())), who, turn);
          expect(first).toMatchObject({ ok: false, body: { code, request_id: 'parity-test' } });
          for (const other of others) expect(other).toEqual({ ...first, door: other.door });
          expect(await proposalIds()).toEqual(before);
        },
      );

      it('[FLR-all-mistakes] and thirty at once: all of them at every door', async () => {
        for (const { door, ok, body } of await ask('flow.propose', spoiltDraft())) {
          expect([door, ok, body.code]).toEqual([door, false, 'FLOW_DRAFT_INVALID']);
          const places = body.details.errors.map(({ code, path }: Body) => `${code} ${path}`);
          expect(places.sort()).toEqual([...THIRTY_MISTAKES].sort());
        }
      });

      it('[S003-3-auto-approvable] a flag that no draft gives itself is ignored at every door', async () => {
        for (const [operation, request] of [
          ['flow.propose', sampleFlow('flow_flagged')],
          ['flow.import', sampleFlow('flow_flagged')],
          ['flow.import', { bundle: sampleFlow('flow_flagged') }],
        ] as const) {
          for (const answer of await ask(operation, { ...request, intent: 'x', auto_approvable: true })) {
            expect(answer, operation).toMatchObject({ ok: true, body: { auto_approvable: false } });
          }
        }
      });
    });

    const NOTE = {
      path: 'inbox/parity.md',
      body: 'A "note"\nof two lines',
      frontmatter: { tags: ['a'], n: 1, done: true },
      labels: ['one', 'two'],
      intent: 'x',
      idempotency_key: 'parity note',
    };

    it('[S003-1-one-record] a note is proposed alike at every door', async () => {
      const [first, ...others] = await ask('proposal.create', NOTE);
      expect(first).toMatchObject({ ok: true, body: { frontmatter: NOTE.frontmatter, labels: NOTE.labels } });
      for (const other of others) expect(other).toEqual({ ...first, door: other.door });
    });

    it('[FLR-proposal-lists] proposals are read and discussed with the same bytes at every door', async () => {
      const rest = (doors.get('owner') ?? []).find(({ name }) => name === 'REST');
      const { proposal_id } = JSON.parse((await rest?.ask('proposal.create', NOTE))?.text ?? '');
      const questions: [string, Record<string, unknown>][] = [
        ['proposal.list', { limit: 3, status: 'proposed' }],
        ['proposal.list', { label: 'one', mine: true }],
        ['proposal.get', { proposal_id }],
        ['proposal.diff', { proposal_id }],
        ['proposal.get', { proposal_id: '00000000-0000-4000-8000-000000000000' }],
        ['proposal.list', { cursor: 'nonsense' }],
      ];
      for (const [turn, operation, input] of numbered(questions)) {
        const handles = doorsInTurn(doors.get('owner') ?? [], engine, turn);
        const answers = await Promise.all(handles.map((door) => door.ask(operation, input)));
        for (const answer of answers) expect(answer).toEqual(answers[0]);
      }
      const comments = await ask('proposal.comment', { proposal_id, body: 'Hm' });
      for (const { ok, body } of comments) expect([ok, body.schema]).toEqual([true, 'flowright.proposal/v1']);
      const held = (await fetched(`/api/v1/proposals/${proposal_id}`)).comments;
      expect(held.map(({ author }: Body) => author)).toEqual(Array.from({ length: everyDoor }, () => 'local'));
      const kinds = held.map(({ author_kind }: Body) => author_kind);
      const people = engine === 'sqlite' ? ['local', 'user', 'user'] : ['local', 'user'];
      expect(kinds.sort()).toEqual(['agent', 'agent', ...people]);
    });
  });
});
