import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { noteStateId } from '../../src/vault/index.ts';
import { onEachDatabase, type TestStore } from '../support/databases.ts';
import { VAULT } from './library.ts';
import { openReview, type Proposed, type Review } from './review.ts';
import { filesIn, writeByHand } from './vault-files.ts';

interface Note {
  frontmatter: Record<string, unknown>;
  body: string;
  state_id: string;
}

const FRONT = {
  number: 1.5,
  whole: 42,
  negative: -0.25,
  yes: true,
  no: false,
  nothing: null,
  list: [1, 'two', false, null, [], {}],
  nested: { deep: { deeper: ['x', { y: 0 }] } },
  like_number: '0123',
  like_float: '1e3',
  like_bool: 'yes',
  like_null: 'null',
  like_date: '2026-01-31',
  like_time: '2026-01-31T10:20:30Z',
  empty: '',
  lines: 'one\ntwo\n\n  three\n',
  'key with: colon': '# not a comment',
  unicode: 'é 👍 한국어 \u2028',
};
const PROVENANCE = /^(author_kind|knowtation_\w+)$/;
const own = (frontmatter: Record<string, unknown>) =>
  Object.fromEntries(Object.entries(frontmatter).filter(([key]) => !PROVENANCE.test(key)));

onEachDatabase((engine, makeStore) => {
  let store: TestStore;
  let review: Review;
  let root: string;
  let count = 0;
  beforeAll(async () => {
    store = await makeStore();
    review = await openReview(store);
    root = join(store.home, 'vaults', VAULT);
  });
  afterAll(async () => {
    await review?.close();
    await store?.remove();
  });

  const fresh = (): string => {
    count += 1;
    return `projects/note-${count}.md`;
  };
  const propose = async (path: string, change: object): Promise<string> =>
    (await review.ask<Proposed>('proposal.create', { path, intent: 'Change it', ...change })).proposal_id;
  const note = (path: string) => review.ask<Note>('note.get', { path });
  const statusOf = async (proposal_id: string) =>
    (await review.ask<{ status: string }>('proposal.get', { proposal_id })).status;

  describe('[FLR-notes] the values of a front block', () => {
    it('keep their types and order through proposal, approval, file and reading', async () => {
      const path = fresh();
      const { applied_state_id } = await review.approve(await propose(path, { body: 'Text', frontmatter: FRONT }));
      const { frontmatter, state_id } = await note(path);
      expect(own(frontmatter)).toEqual(FRONT);
      expect(Object.keys(own(frontmatter))).toEqual(Object.keys(FRONT));
      expect(state_id).toBe(applied_state_id);
      const again = await review.approve(await propose(path, { body: 'Other text' }));
      const second = await note(path);
      expect([own(second.frontmatter), second.body], 'left out, they stay').toEqual([FRONT, 'Other text']);
      expect(second.state_id).toBe(again.applied_state_id);
    });

    // The invariant: what was accepted is what is read, and the token says so.
    it('and any text come back as they were sent', async () => {
      const key = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 12 });
      const value = fc.jsonValue({ maxDepth: 3, stringUnit: 'grapheme' });
      const body = fc.oneof(
        fc.string({ unit: 'grapheme' }),
        fc.constantFrom('---\na: 1\n---\nx', '\r\n\tx\r\n', '# x'),
      );
      await fc.assert(
        fc.asyncProperty(fc.dictionary(key, value, { maxKeys: 5 }), body, async (frontmatter, text) => {
          const path = fresh();
          const sent = JSON.parse(JSON.stringify(frontmatter)) as Record<string, unknown>;
          const { applied_state_id } = await review.approve(await propose(path, { body: text, frontmatter: sent }));
          const read = await note(path);
          expect(own(read.frontmatter)).toEqual(own(sent));
          expect(read.body).toBe(text.trimEnd());
          expect([read.state_id, noteStateId(read)]).toEqual([applied_state_id, applied_state_id]);
        }),
        { numRuns: engine === 'sqlite' ? 60 : 30 },
      );
    });

    it('that tell where a note comes from are the server’s, whatever was sent', async () => {
      const path = fresh();
      const forged = { author_kind: 'saint', knowtation_approved_by: 'me', kept: 1 };
      await review.approve(await propose(path, { body: 'x', frontmatter: forged }));
      const { frontmatter } = await note(path);
      expect(frontmatter).toMatchObject({ author_kind: 'human', kept: 1 });
      expect(frontmatter.knowtation_approved_by).toMatch(/^[0-9a-f]{64}$/);
    });
  });

  describe('[FLR-notes] [S003-3-apply-whole] a note that changed between proposal and approval', () => {
    const TEXT = '---\ntitle: Plan\n---\nAs it was.\n';
    it.each<[string, string | null, (file: string) => void, RegExp]>([
      ['was edited', TEXT, (file) => writeFileSync(file, `${TEXT}More.\n`), /^CONFLICT$/],
      ['has another title', TEXT, (file) => writeFileSync(file, TEXT.replace('Plan', 'plan')), /^CONFLICT$/],
      ['has a space more at its end', TEXT, (file) => writeFileSync(file, `${TEXT} \n`), /^CONFLICT$/],
      ['is gone', TEXT, (file) => rmSync(file), /^CONFLICT$/],
      ['came to be', null, (file) => writeFileSync(file, TEXT), /^CONFLICT$/],
      ['is no text', TEXT, (file) => writeFileSync(file, Buffer.from([0xff, 0xfe])), /^NOTE_UNREADABLE$/],
    ])('is left alone when it %s', async (_what, before, change, code) => {
      const path = fresh();
      if (before !== null) writeByHand(root, path, before);
      else writeByHand(root, 'projects/other.md', 'x');
      const [proposal, rival] = [await propose(path, { body: 'New.' }), await propose(path, { body: 'Newer.' })];
      change(join(root, path));
      const files = filesIn(root);
      expect(await review.refused('proposal.approve', { proposal_id: proposal })).toMatch(code);
      expect(filesIn(root)).toEqual(files);
      expect([await statusOf(proposal), await statusOf(rival)], 'and both can still be read').toEqual([
        'proposed',
        'proposed',
      ]);
    });

    it('can be approved once it is again as it was', async () => {
      const path = fresh();
      writeByHand(root, path, TEXT);
      const proposal = await propose(path, { body: 'New.' });
      writeByHand(root, path, 'Otherwise.');
      expect(await review.refused('proposal.approve', { proposal_id: proposal })).toBe('CONFLICT');
      writeByHand(root, path, TEXT);
      await review.approve(proposal);
      expect(await note(path)).toMatchObject({ body: 'New.', frontmatter: { title: 'Plan' } });
    });

    it('is left alone when it was written through the hub meanwhile', async () => {
      const path = fresh();
      const proposal = await propose(path, { body: 'Proposed.' });
      await review.ask('note.put', { path, body: 'Put.' });
      expect(await review.refused('proposal.approve', { proposal_id: proposal })).toBe('CONFLICT');
      expect((await note(path)).body).toBe('Put.');
    });
  });

  it('[FLR-conflicted] [FLR-notes] of several proposals for one note the first approved wins, the others are conflicted', async () => {
    const [path, other] = [fresh(), fresh()];
    const proposals = [];
    for (const body of ['one', 'two', 'three']) proposals.push(await propose(path, { body }));
    const [one, two, three] = proposals as [string, string, string];
    const elsewhere = await propose(other, { body: 'elsewhere' });
    const { conflicted, applied_state_id } = await review.approve(two);
    expect([...conflicted].sort()).toEqual([one, three].sort());
    for (const loser of [one, three]) {
      const asked = review.ask('proposal.approve', { proposal_id: loser });
      await expect(asked).rejects.toMatchObject({ code: 'CONFLICT', details: { current_state_id: applied_state_id } });
      expect(await review.ask('proposal.get', { proposal_id: loser })).toMatchObject({
        status: 'conflicted',
        rebase: { current_state_id: applied_state_id },
      });
    }
    expect([(await note(path)).body, await statusOf(elsewhere)]).toEqual(['two', 'proposed']);
    const rebased = await propose(path, { body: 'one, anew', base_state_id: applied_state_id });
    await review.approve(rebased);
    expect((await note(path)).body).toBe('one, anew');
    expect(readFileSync(join(root, path), 'utf8')).toContain('one, anew');
  });

  describe('[S003-3-untrusted-intent] a text that somebody gives to a proposal', () => {
    // The invariant: recorded as it is, or refused with the place of the mistake; the same on both engines.
    it.each([
      ['NUL', 'a\u0000b'],
      ['half a character', 'a\ud800b'],
      ['controls and marks', 'a\u0001\u001b[31m\u202e\u2028\ufeffb'],
      ['a query', "'; drop table proposals; -- %s $1 ?"],
    ])('with %s is recorded as it is or refused', async (_what, text) => {
      const open = await propose(fresh(), { body: 'x' });
      const view = (proposal_id: string) =>
        review.ask<
          Record<'intent' | 'decision_note' | 'evaluation_comment', string> & { comments: { body: string }[] }
        >('proposal.get', { proposal_id });
      const verbatimOrRefused = async (
        act: Promise<unknown>,
        recorded: (answer: never) => Promise<string | undefined>,
      ) => {
        const answer = await act.catch((error: { code: string }) => error.code);
        if (typeof answer === 'string') expect(answer).toMatch(/^(BAD_REQUEST|FLOW_DRAFT_INVALID)$/);
        else expect(await recorded(answer as never)).toBe(text);
      };
      await verbatimOrRefused(
        review.ask('proposal.create', { path: fresh(), body: 'x', intent: text }),
        async ({ proposal_id }: Proposed) => (await view(proposal_id)).intent,
      );
      await verbatimOrRefused(
        review.ask('flow.retire', { flow_id: 'flow_capture_to_note', intent: text }),
        async ({ proposal_id }: Proposed) => (await view(proposal_id)).intent,
      );
      await verbatimOrRefused(
        review.ask('proposal.comment', { proposal_id: open, body: text }),
        async () => (await view(open)).comments[0]?.body,
      );
      await verbatimOrRefused(
        review.ask('proposal.evaluate', { proposal_id: open, outcome: 'fail', comment: text }),
        async () => (await view(open)).evaluation_comment,
      );
      await verbatimOrRefused(
        review.ask('proposal.discard', { proposal_id: open, reason: text }),
        async () => (await view(open)).decision_note,
      );
      for (const filter of ['path_prefix', 'label', 'flow_id', 'source', 'review_queue']) {
        const found = await review
          .ask<{ proposals: unknown[] }>('proposal.list', { [filter]: text })
          .catch((error: { code: string }) => ({ proposals: error.code === 'BAD_REQUEST' ? [] : [error.code] }));
        expect(found.proposals, filter).toEqual([]);
      }
    });
  });
});
