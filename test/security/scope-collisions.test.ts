import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { onEachDatabase, type TestStore } from '../support/databases.ts';
import { sampleFlow } from '../support/flows.ts';
import { type Hub, startHub } from '../support/program.ts';
import { canaryFlow, type Hidden, hide } from './hidden.ts';
import { AUTHORING_ON, approve, type Inside, openInside, type Payload, propose, proposeEdit } from './inside.ts';
import { ask } from './rest.ts';

const NOWHERE = '00000000-0000-4000-8000-000000000000';

onEachDatabase((_engine, makeStore) => {
  let store: TestStore;
  let hub: Hub;
  let inside: Inside;
  const tokens: Record<string, string> = {};
  const secrets = {} as Record<'project' | 'org', Hidden>;

  beforeAll(async () => {
    store = await makeStore();
    inside = await openInside(store);
    for (const [user, role] of Object.entries({ vera: 'viewer', evan: 'evaluator', ann: 'admin', ned: 'admin' })) {
      tokens[user] = await inside.token(user, { role });
    }
    await inside.member('ned', 'admin', { scopes: ['personal'] });
    for (const scope of ['project', 'org'] as const) secrets[scope] = await hide(inside, store.home, scope);
    const env = { ...AUTHORING_ON, FLOWRIGHT_RATE_LIMIT_PER_MINUTE: '100000' };
    hub = await startHub({ home: store.home, databaseUrl: store.databaseUrl, env });
  });

  afterAll(async () => {
    await hub?.stop();
    await inside?.close();
    await store?.remove();
  });

  const withdraw = async (user: string, proposal_id: string) => {
    await inside.as(user, 'proposal.withdraw', { proposal_id });
  };

  describe('[FLR-scope-holes] who decides without seeing', () => {
    it.each(['evan', 'ned'])('%s is told of a hidden proposal what is told of one that is not there', async (user) => {
      const acts: [string, Payload][] = [
        ['evaluation', { outcome: 'fail', comment: 'No' }],
        ['approve', {}],
        ['discard', {}],
        ['comments', { body: 'Hm' }],
      ];
      const headers = { 'x-request-id': 'scope-holes' };
      for (const [act, json] of acts) {
        for (const id of Object.values(secrets.org.proposals)) {
          const at = (proposal: string) =>
            ask(hub, `/api/v1/proposals/${proposal}/${act}`, { method: 'POST', token: tokens[user], headers, json });
          const reply = await at(id);
          expect(reply.text.replaceAll(id, NOWHERE), `${act} ${id}`).toBe((await at(NOWHERE)).text);
          expect([403, 404]).toContain(reply.status);
        }
      }
    });

    it('an approver who cannot see the flow that has the id is not told its version and state', async () => {
      const { proposal_id } = await propose(inside, 'vera', sampleFlow(secrets.org.flowId));
      onTestFinished(() => withdraw('vera', proposal_id));
      const path = `/api/v1/proposals/${proposal_id}/approve`;
      const reply = await ask(hub, path, { method: 'POST', token: tokens.ned, json: {} });
      expect(reply.status).toBe(409);
      expect(reply.body.details).toEqual({});
    });
  });

  it('[FLR-scope-holes] an approver is not told which hidden proposals lost', async () => {
    const hidden = await propose(inside, 'ann', sampleFlow('flow_zqx_rival', { scope: 'org' }));
    const plain = await propose(inside, 'vera', sampleFlow('flow_zqx_rival'));
    const path = `/api/v1/proposals/${plain.proposal_id}/approve`;
    const reply = await ask(hub, path, { method: 'POST', token: tokens.ned, json: {} });
    expect(reply.status, reply.text).toBe(200);
    expect(reply.text).not.toContain(hidden.proposal_id);
    expect(await inside.as('ann', 'proposal.get', { proposal_id: hidden.proposal_id })).toMatchObject({
      status: 'conflicted',
    });
  });

  describe('[FLR-scope-holes] a new flow under the id of a hidden one', () => {
    const headers = { 'x-request-id': 'scope-holes' };
    const freeId = `flow_free_${'x'.repeat(6)}`;
    const at = (user: string, method: string, path: string, json?: Payload) =>
      ask(hub, path, { method, token: tokens[user], headers, ...(json ? { json } : {}) });
    /** The answers to one question about each, with what may differ made equal. */
    const alike = (text: string, flowId: string, proposalId: string) =>
      text
        .replaceAll(proposalId, 'PROPOSAL')
        .replaceAll(flowId, 'FLOW')
        .replaceAll(flowId.slice(5).replaceAll('_', '-'), 'NAME')
        .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME');

    const tryOut = async (user: string, flowId: string): Promise<string[]> => {
      const created = await at(user, 'POST', '/api/v1/flows', { ...sampleFlow(flowId), intent: 'Mine' });
      const id = String(created.body.proposal_id);
      const path = `/api/v1/proposals/${id}`;
      const replies = [
        created,
        await at(user, 'GET', path),
        await at(user, 'GET', `${path}/diff`),
        await at(user, 'GET', `/api/v1/flows/${flowId}/diff?proposal_id=${id}`),
        await at(user, 'GET', `/api/v1/proposals?flow_id=${flowId}&status=proposed`),
        await at(user, 'POST', `${path}/comments`, { body: 'Please' }),
        await at(user, 'GET', `/api/v1/flows/${flowId}`),
        await at(user, 'POST', `${path}/withdraw`),
        await at(user, 'GET', path),
      ];
      return replies.map(({ status, text }) => `${status} ${alike(text, flowId, id)}`);
    };

    it.each(['vera', 'evan'])('is taken from %s as one under a free id, to the letter', async (user) => {
      const free = await tryOut(user, freeId);
      expect(free[0]).toMatch(/^201 /);
      const ids = [secrets.org.flowId, secrets.org.movedId, secrets.org.retiredId];
      for (const flowId of user === 'vera' ? [...ids, secrets.project.flowId] : ids) {
        expect(await tryOut(user, flowId), flowId).toEqual(free);
      }
    });

    it('is evaluated by its author as one under a free id', async () => {
      const judged = async (flowId: string) => {
        const { proposal_id } = await propose(inside, 'evan', sampleFlow(flowId));
        const path = `/api/v1/proposals/${proposal_id}/evaluation`;
        const { status, text } = await at('evan', 'POST', path, { outcome: 'fail', comment: 'Not yet' });
        await withdraw('evan', proposal_id);
        return `${status} ${alike(text, flowId, proposal_id)}`;
      };
      expect(await judged(secrets.org.flowId)).toBe(await judged(freeId));
    });

    it('is imported as one under a free id', async () => {
      const imported = async (flowId: string) => {
        const reply = await at('vera', 'POST', '/api/v1/flows/import', { bundle: sampleFlow(flowId), intent: 'Mine' });
        const id = String(reply.body.proposal_id);
        await withdraw('vera', id);
        return alike(reply.text, flowId, id);
      };
      expect(await imported(secrets.org.flowId)).toBe(await imported(freeId));
    });

    it('may name the mirror path of a hidden one, as any that is free', async () => {
      const withPath = async (flowId: string, path: string) => {
        const bundle = sampleFlow(flowId);
        bundle.flow.vault_mirror_path = path;
        const reply = await at('vera', 'POST', '/api/v1/flows', { ...bundle, intent: 'Mine' });
        const id = String(reply.body.proposal_id);
        await withdraw('vera', id);
        return alike(reply.text, flowId, id);
      };
      const hidden = await withPath('flow_path_a', String(secrets.org.notes.mirror));
      expect(hidden).toBe(await withPath('flow_path_b', 'meta/flows/nobodys.md'));
    });

    it('takes no notice of a key that somebody else used', async () => {
      const input = { ...sampleFlow(freeId), intent: 'Mine', idempotency_key: 'zqxkey org' };
      const reply = await at('vera', 'POST', '/api/v1/flows', input);
      expect(reply.status).toBe(201);
      expect(Object.values(secrets.org.proposals)).not.toContain(reply.body.proposal_id);
      await withdraw('vera', String(reply.body.proposal_id));
    });

    it('stays its author’s to see, before and after the hidden flow changes', async () => {
      const { flowId } = secrets.org;
      const { proposal_id } = await propose(inside, 'vera', sampleFlow(flowId));
      const seen = async () => [
        (await at('vera', 'GET', `/api/v1/proposals/${proposal_id}`)).text,
        (await at('vera', 'GET', `/api/v1/proposals/${proposal_id}/diff`)).text,
        JSON.stringify((await at('vera', 'GET', `/api/v1/proposals?flow_id=${flowId}`)).body.proposals),
      ];
      const before = await seen();
      expect(before[0]).toContain('"status":"proposed"');
      const edit = await proposeEdit(inside, 'ann', sampleFlow(flowId, { scope: 'org', version: '8.0.0' }));
      await approve(inside, 'local', edit.proposal_id);
      expect(await seen()).toEqual(before);
      const retire = await inside.as('ann', 'flow.retire', { flow_id: flowId, intent: 'zqxgone' });
      await approve(inside, 'local', String(retire.proposal_id));
      expect(await seen()).toEqual(before);
      await withdraw('vera', proposal_id);
      expect((await at('vera', 'GET', `/api/v1/proposals/${proposal_id}`)).body).toMatchObject({ status: 'discarded' });
    });
  });

  describe('[FLR-scope-holes] the text of an edited mirror, kept aside', () => {
    const readers = async (path: string) => ({
      vera: await inside.codeOf('vera', 'note.get', { path }),
      ned: await inside.codeOf('ned', 'note.get', { path }),
      ann: await inside.codeOf('ann', 'note.get', { path }),
    });
    const asideOf = async (start: string) => {
      const { notes } = await inside.as<{ notes: { path: string }[] }>('ann', 'note.list', { prefix: 'meta/flows' });
      return notes.find(({ path }) => path.startsWith(`meta/flows/${start}.edited-`))?.path ?? 'none was kept aside';
    };
    const flowAt = (flowId: string, scope: 'personal' | 'org', version: string, path: string) => {
      const bundle = canaryFlow(flowId, scope, version);
      bundle.flow.vault_mirror_path = path;
      return bundle;
    };
    const takePath = async (flowId: string, path: string) => {
      const { proposal_id } = await propose(inside, 'vera', flowAt(flowId, 'personal', '1.0.0', path));
      await approve(inside, 'local', proposal_id);
    };

    it.each(['retired', 'mirrored elsewhere'])(
      'stays hidden when its flow is %s and another takes the path',
      async (fate) => {
        const name = fate === 'retired' ? 'zqx-left-a' : 'zqx-left-b';
        const flowId = `flow_${name.replaceAll('-', '_')}`;
        const path = `meta/flows/${name}-note.md`;
        const first = await propose(inside, 'ann', flowAt(flowId, 'org', '1.0.0', path));
        await approve(inside, 'local', first.proposal_id);
        writeFileSync(join(store.home, 'vaults', 'default', path), 'zqxbyhand');
        const last =
          fate === 'retired'
            ? await inside.as<{ proposal_id: string }>('ann', 'flow.retire', { flow_id: flowId, intent: 'Gone' })
            : await proposeEdit(inside, 'ann', flowAt(flowId, 'org', '2.0.0', `meta/flows/${name}-2.md`));
        await approve(inside, 'local', last.proposal_id);
        const aside = await asideOf(`${name}-note`);
        const hidden = { vera: 'NOT_FOUND', ned: 'NOT_FOUND', ann: 'done' };
        expect(await readers(aside), aside).toEqual(hidden);
        await takePath(`flow_taker_${name.at(-1)}`, path);
        expect(await readers(path)).toEqual({ vera: 'done', ned: 'done', ann: 'done' });
        expect(await readers(aside), aside).toEqual(hidden);
      },
    );
  });
});
