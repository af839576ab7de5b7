import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { onEachDatabase, type TestStore } from '../support/databases.ts';
import { sampleFlow } from '../support/flows.ts';
import {
  type Asker,
  type Body,
  done,
  type InProcessHub,
  openInProcessHub,
  outcome,
} from '../support/in-process-hub.ts';
import { at, editOf, proposeNew } from '../support/review.ts';

onEachDatabase((_engine, makeStore) => {
  let store: TestStore;
  let hub: InProcessHub;
  let owner: Asker;
  let editor: Asker;

  beforeAll(async () => {
    store = await makeStore();
    hub = await openInProcessHub(store, { env: { FLOW_AUTHORING_WRITES: '1' } });
    owner = hub.owner;
    editor = await hub.asker('ed', { role: 'editor' });
  });
  afterAll(async () => {
    await hub?.close();
    await store?.remove();
  });

  const count = async () => (await done(owner.get('/api/v1/proposals?limit=100'))).proposals.length;

  /** Each way of proposing: where it is sent, and a request that is always the same. */
  const ways: [
    string,
    () => Promise<{ url: string; request: Record<string, unknown>; other: Record<string, unknown> }>,
  ][] = [
    [
      'a new flow',
      async () => ({
        url: '/api/v1/flows',
        request: { ...sampleFlow('flow_again'), intent: 'x' },
        other: { ...sampleFlow('flow_again', { title: 'Another' }), intent: 'x' },
      }),
    ],
    [
      'an import',
      async () => ({
        url: '/api/v1/flows/import',
        request: { bundle: sampleFlow('flow_import_again'), intent: 'x', source_vault_hint: 'a' },
        other: { bundle: sampleFlow('flow_import_again'), intent: 'x', source_vault_hint: 'b' },
      }),
    ],
    [
      'an edit',
      async () => {
        await done(owner.post(at((await proposeNew(owner, 'flow_edit_again')).proposal_id, 'approve')));
        const request = await editOf(owner, 'flow_edit_again', { version: '1.1.0' });
        return {
          url: '/api/v1/flows/flow_edit_again/proposals',
          request,
          other: { ...request, intent: 'Another' },
        };
      },
    ],
    [
      'a retirement',
      async () => {
        await done(owner.post(at((await proposeNew(owner, 'flow_retire_again')).proposal_id, 'approve')));
        return { url: '/api/v1/flows/flow_retire_again/retire', request: { intent: 'x' }, other: { intent: 'y' } };
      },
    ],
    [
      'a note',
      async () => ({
        url: '/api/v1/proposals',
        request: { path: 'inbox/again.md', body: 'x', labels: ['a'] },
        other: { path: 'inbox/again.md', body: 'x', labels: ['b'] },
      }),
    ],
    ['a note without a path', async () => ({ url: '/api/v1/proposals', request: { body: 'x' }, other: { body: 'y' } })],
  ];

  describe.each(ways)('[FLR-idempotency] %s that is sent again', (name, make) => {
    const idempotency_key = `key of ${name}`;
    let url: string;
    let request: Record<string, unknown>;
    let other: Record<string, unknown>;
    let first: Body;

    beforeAll(async () => {
      ({ url, request, other } = await make());
      first = await done(editor.post(url, { ...request, idempotency_key }));
    });

    it('gives the same proposal, whatever order its keys are in', async () => {
      const before = await count();
      const turned = Object.fromEntries(Object.entries({ ...request, idempotency_key }).reverse());
      for (const again of [{ ...request, idempotency_key }, turned]) {
        const { status, body } = await editor.post(url, again);
        expect([status, body]).toEqual([201, first]);
      }
      expect(await count()).toBe(before);
    });

    it('with another content is a conflict', async () => {
      const { status, body } = await editor.post(url, { ...other, idempotency_key });
      expect([status, body.code]).toEqual([409, 'CONFLICT']);
      expect(body.message).toMatch(/key/);
    });

    it('by somebody else, or under another key, is another proposal', async () => {
      const theirs = await done(owner.post(url, { ...request, idempotency_key }));
      const mine = await done(editor.post(url, { ...request, idempotency_key: `${idempotency_key} 2` }));
      expect(new Set([first, theirs, mine].map(({ proposal_id }) => proposal_id)).size).toBe(3);
    });

    it('after it was approved gives the proposal as it is now', async () => {
      await done(owner.post(at(first.proposal_id, 'approve')));
      const before = await count();
      const { status, body } = await editor.post(url, { ...request, idempotency_key });
      expect([status, body], JSON.stringify(body)).toEqual([
        201,
        expect.objectContaining({ proposal_id: first.proposal_id, status: 'approved' }),
      ]);
      expect(await count()).toBe(before);
    });
  });

  it('[FLR-idempotency] of twenty at once exactly one is made', async () => {
    const request = { ...sampleFlow('flow_stampede'), intent: 'x', idempotency_key: 'stampede' };
    const before = await count();
    const answers = await Promise.all(Array.from({ length: 20 }, () => editor.post('/api/v1/flows', request)));
    expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 20 }, () => 201));
    expect(new Set(answers.map(({ body }) => body.proposal_id)).size).toBe(1);
    expect(await count()).toBe(before + 1);
  });

  it('[FLR-idempotency] of two contents at once under one key one is refused', async () => {
    const ask = (title: string) =>
      editor.post('/api/v1/flows', { ...sampleFlow('flow_rivals', { title }), intent: 'x', idempotency_key: 'rivals' });
    const outcomes = await Promise.all([ask('one'), ask('two'), ask('one'), ask('two')].map(outcome));
    expect(outcomes.filter((each) => each === '201')).toHaveLength(2);
    expect(outcomes.filter((each) => each === 'CONFLICT')).toHaveLength(2);
  });

  it('[FLR-idempotency] a key is of its vault', async () => {
    await done(owner.post('/api/v1/vaults', { vault_id: 'apart' }));
    const request = { ...sampleFlow('flow_here_and_there'), intent: 'x', idempotency_key: 'vaults' };
    const here = await done(owner.post('/api/v1/flows', request));
    const there = await done(owner.post('/api/v1/flows', request, { 'x-vault-id': 'apart' }));
    expect(here.proposal_id).not.toBe(there.proposal_id);
  });

  it('[S003-1-one-record] without a key the same request twice is two proposals', async () => {
    const request = { ...sampleFlow('flow_no_key'), intent: 'x' };
    const before = await count();
    const [one, two] = [
      await done(editor.post('/api/v1/flows', request)),
      await done(editor.post('/api/v1/flows', request)),
    ];
    expect(one.proposal_id).not.toBe(two.proposal_id);
    expect(await count()).toBe(before + 2);
  });
});
