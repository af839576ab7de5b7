import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { onEachDatabase, type TestStore } from '../support/databases.ts';
import {
  type Asker,
  type Body,
  done,
  type InProcessHub,
  openInProcessHub,
  outcome,
} from '../support/in-process-hub.ts';
import { at, PASS, proposeNew, proposeNote } from '../support/review.ts';

const HIDDEN_WORDS = 'words that only the body holds';

onEachDatabase((_engine, makeStore) => {
  let store: TestStore;
  let hub: InProcessHub;
  let owner: Asker;
  let editor: Asker;
  let viewer: Asker;
  /** Everything that was proposed, newest first, by a short name. */
  const ids: Record<string, string> = {};

  const list = async (query = '', asker = owner): Promise<Body> => done(asker.get(`/api/v1/proposals${query}`));
  const names = (proposals: Body[]) => {
    const nameOf = new Map(Object.entries(ids).map(([name, id]) => [id, name]));
    return proposals.map(({ proposal_id }) => nameOf.get(proposal_id));
  };
  const found = async (query: string, asker = owner) => names((await list(query, asker)).proposals);

  beforeAll(async () => {
    store = await makeStore();
    hub = await openInProcessHub(store, { env: { FLOW_AUTHORING_WRITES: '1' } });
    owner = hub.owner;
    editor = await hub.asker('ed', { role: 'editor' });
    viewer = await hub.asker('vera', { role: 'viewer' });
    const keep = async (name: string, proposal: Promise<Body>) => {
      ids[name] = (await proposal).proposal_id;
    };
    await keep('plan', proposeNote(editor, 'projects/plan.md', { labels: ['Security', 'Q3'], source: 'human' }));
    await keep('deep', proposeNote(owner, 'projects/legal/deep/plan.md', { body: HIDDEN_WORDS, labels: ['security'] }));
    await keep('near', proposeNote(owner, 'projects2/plan.md', { labels: ['securit'], source: 'Human' }));
    await keep('marks', proposeNote(owner, 'ideas/é😀/x.md'));
    await keep('personal', proposeNew(viewer, 'flow_personal', { instruction: HIDDEN_WORDS }));
    await keep('project', proposeNew(editor, 'flow_project', { scope: 'project' }));
    await keep('org', proposeNew(owner, 'flow_org', { scope: 'org' }));
    writeFileSync(
      join(store.home, 'hub_proposal_review_triggers.json'),
      JSON.stringify({ literal_phrases: [{ match: 'payroll', review_queue: 'money', review_severity: 'elevated' }] }),
    );
    await keep('flagged', proposeNote(owner, 'payroll.md'));
    await keep('approved', proposeNote(owner, 'done.md'));
    await done(owner.post(at(ids.approved as string, 'approve')));
    await done(owner.post(at(ids.deep as string, 'evaluation'), PASS));
    await done(owner.post(at(ids.near as string, 'discard')));
  });
  afterAll(async () => {
    await hub?.close();
    await store?.remove();
  });

  describe('[FLR-proposal-lists] a list of proposals', () => {
    it('comes newest first, without bodies', async () => {
      const answer = await list();
      expect(Object.keys(answer)).toEqual(['schema', 'vault_id', 'proposals', 'next_cursor']);
      expect(names(answer.proposals)).toEqual(Object.keys(ids).reverse());
      expect(answer).toMatchObject({ schema: 'flowright.proposal_list/v1', vault_id: 'default', next_cursor: null });
      expect(JSON.stringify(answer)).not.toContain(HIDDEN_WORDS);
      for (const proposal of answer.proposals) {
        for (const key of ['body', 'frontmatter', 'comments']) expect(proposal).not.toHaveProperty(key);
      }
    });

    it.each<[string, string[]]>([
      ['?status=proposed', ['flagged', 'org', 'project', 'personal', 'marks', 'deep', 'plan']],
      ['?status=approved', ['approved']],
      ['?status=discarded', ['near']],
      ['?status=conflicted', []],
      ['?label=security', ['deep', 'plan']],
      ['?label=SECURITY', ['deep', 'plan']],
      ['?label=q3', ['plan']],
      ['?label=secur', []],
      ['?label=%25', []],
      ['?source=flow', ['org', 'project', 'personal']],
      ['?source=human', ['plan']],
      ['?path_prefix=projects', ['deep', 'plan']],
      ['?path_prefix=/projects/', ['deep', 'plan']],
      ['?path_prefix=projects/legal', ['deep']],
      ['?path_prefix=projects/plan.md', ['plan']],
      ['?path_prefix=Projects', []],
      ['?path_prefix=meta/flows', ['org', 'project', 'personal']],
      ['?path_prefix=p_ojects', []],
      ['?path_prefix=ideas/%C3%A9%F0%9F%98%80', ['marks']],
      ['?path_prefix=ideas/%C3%A9', []],
      ['?flow_id=flow_project', ['project']],
      ['?evaluation_status=pending', ['flagged']],
      ['?evaluation_status=passed', ['deep']],
      ['?review_queue=money', ['flagged']],
      ['?review_queue=flow-authoring', ['org', 'project', 'personal']],
      ['?review_severity=elevated', ['flagged']],
      ['?mine=true', ['approved', 'flagged', 'org', 'marks', 'near', 'deep']],
      ['?mine=true&status=proposed&source=flow', ['org']],
      ['?label=security&evaluation_status=none', ['plan']],
      ['?status=&label=', ['approved', 'flagged', 'org', 'project', 'personal', 'marks', 'near', 'deep', 'plan']],
    ])('%s is %o', async (query, expected) => {
      expect(await found(query)).toEqual(expected);
    });

    it.each([
      '?status=open',
      '?limit=0',
      '?limit=101',
      '?limit=x',
      '?cursor=abc',
      '?cursor=-1',
      '?cursor=1e3',
      '?offset=5',
      '?evaluation_status=ok',
      '?mine=maybe',
    ])('%s is refused', async (query) => {
      expect(await outcome(owner.get(`/api/v1/proposals${query}`))).toBe('BAD_REQUEST');
    });

    it('pages by cursor: every proposal once, in order, also while others are added and decided', async () => {
      const all = (await list()).proposals.map(({ proposal_id }: Body) => proposal_id);
      const seen: string[] = [];
      let cursor: string | null = '';
      while (cursor !== null) {
        const { proposals, next_cursor }: Body = await list(`?limit=2${cursor ? `&cursor=${cursor}` : ''}`);
        expect(proposals.length).toBeLessThanOrEqual(2);
        seen.push(...proposals.map(({ proposal_id }: Body) => proposal_id));
        if (seen.length === 2) await proposeNote(owner, 'inbox/meanwhile.md');
        cursor = next_cursor;
      }
      expect(seen).toEqual(all);
    });

    it('says where the next page begins only when there is one', async () => {
      const count = (await list()).proposals.length;
      expect((await list(`?limit=${count}`)).next_cursor).toBeNull();
      const first = await list(`?limit=${count - 1}`);
      expect(first.next_cursor).toBe(first.proposals.at(-1)?.proposal_id);
      expect((await list(`?cursor=${first.next_cursor}`)).proposals).toHaveLength(1);
    });

    it('pages a filtered list by the same cursor', async () => {
      const first = await list('?source=flow&limit=2');
      expect(names(first.proposals)).toEqual(['org', 'project']);
      const second = await list(`?source=flow&limit=2&cursor=${first.next_cursor}`);
      expect([names(second.proposals), second.next_cursor]).toEqual([['personal'], null]);
    });
  });

  describe('[FLR-scope-holes] whoever does not see a scope', () => {
    it('sees neither its proposals nor their numbers', async () => {
      expect(await found('?source=flow', viewer)).toEqual(['personal']);
      expect(await found('?source=flow', editor)).toEqual(['project', 'personal']);
      expect(await found('?flow_id=flow_org', editor)).toEqual([]);
      expect((await list('?source=flow&limit=1', viewer)).next_cursor).toBeNull();
    });

    it('is told of them as of any that is not there', async () => {
      const missing = await viewer.get(at('00000000-0000-4000-8000-000000000000'));
      const text = (body: Body, id: string) => JSON.stringify({ ...body, request_id: '' }).replaceAll(id, 'ID');
      for (const name of ['project', 'org']) {
        const id = ids[name] as string;
        const hidden = await viewer.get(at(id));
        expect(text(hidden.body, id)).toBe(text(missing.body, '00000000-0000-4000-8000-000000000000'));
        for (const act of ['comments', 'withdraw']) {
          expect(await outcome(viewer.post(at(id, act), act === 'comments' ? { body: 'x' } : {}))).toBe('NOT_FOUND');
        }
        expect(await outcome(viewer.get(at(id, 'diff')))).toBe('NOT_FOUND');
      }
    });

    it('[S003-2-ambiguous] sees only notes while it is not clear what it sees', async () => {
      const muddled = await hub.asker('max', { role: 'editor', ambiguous: true });
      const { proposals } = await list('', muddled);
      expect(proposals.length).toBeGreaterThan(0);
      for (const { flow_meta } of proposals) expect(flow_meta).toBeNull();
    });
  });

  it('a proposal is of its vault and of no other', async () => {
    await done(owner.post('/api/v1/vaults', { vault_id: 'apart' }));
    const there = { 'x-vault-id': 'apart' };
    expect(await done(owner.get('/api/v1/proposals', there))).toMatchObject({ vault_id: 'apart', proposals: [] });
    for (const act of ['approve', 'discard', 'withdraw']) {
      expect(await outcome(owner.post(at(ids.plan as string, act), {}, there)), act).toBe('NOT_FOUND');
    }
    expect(await outcome(owner.get(at(ids.plan as string), there))).toBe('NOT_FOUND');
  });
});
