import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { FlowBundle } from '../../src/flows/index.ts';
import { onEachDatabase, type TestStore } from '../support/databases.ts';
import { sampleFlow } from '../support/flows.ts';
import { approve, type Inside, openInside, type Payload, type Proposed } from './inside.ts';
import { readNote } from './note-reader.ts';

/** What a text column of one of our databases, or UTF-8, cannot hold. JSON can, so it may be sent. */
const UNHOLDABLE = { NUL: 'why\u0000x', 'half of a character': 'why\ud800x' };
const REFUSALS = ['BAD_REQUEST', 'FLOW_DRAFT_INVALID', 'FLOW_IMPORT_BUNDLE_MALFORMED'];

let made = 0;
const fresh = () => {
  made += 1;
  return sampleFlow(`flow_text_${made}`);
};

onEachDatabase((_engine, makeStore) => {
  let store: TestStore;
  let inside: Inside;

  beforeAll(async () => {
    store = await makeStore();
    inside = await openInside(store);
  });

  afterAll(async () => {
    await inside?.close();
    await store?.remove();
  });

  const waiting = async () =>
    String((await inside.as('local', 'proposal.create', { path: 'a.md', body: 'Text', intent: 'A wish' })).proposal_id);

  /** Its place, the operation that takes it there, and where it is found again. */
  const places: [string, string, (text: string) => Promise<Payload> | Payload, (record: Payload) => unknown][] = [
    ['the intent of a flow', 'flow.propose', (intent) => ({ ...fresh(), intent }), ({ intent }) => intent],
    ['the intent of an import', 'flow.import', (intent) => ({ bundle: fresh(), intent }), ({ intent }) => intent],
    [
      'the intent of a retirement',
      'flow.retire',
      (intent) => ({ flow_id: 'flow_capture_to_note', intent }),
      ({ intent }) => intent,
    ],
    [
      'the intent of a note',
      'proposal.create',
      (intent) => ({ path: 'b.md', body: 'Text', intent }),
      ({ intent }) => intent,
    ],
    ['the body of a note', 'proposal.create', (body) => ({ path: 'c.md', body, intent: 'x' }), ({ body }) => body],
    [
      'the front block of a note',
      'proposal.create',
      (text) => ({ path: 'd.md', body: 'Text', frontmatter: { a: text }, intent: 'x' }),
      ({ frontmatter }) => (frontmatter as Payload).a,
    ],
    [
      'a comment',
      'proposal.comment',
      async (body) => ({ proposal_id: await waiting(), body }),
      ({ comments }) => (comments as Payload[])[0]?.body,
    ],
    [
      'the comment of an evaluation',
      'proposal.evaluate',
      async (comment) => ({ proposal_id: await waiting(), outcome: 'fail', comment }),
      ({ evaluation_comment }) => evaluation_comment,
    ],
    [
      'the reason of a discard',
      'proposal.discard',
      async (reason) => ({ proposal_id: await waiting(), reason }),
      ({ decision_note }) => decision_note,
    ],
  ];

  describe.each(Object.entries(UNHOLDABLE))('[S003-3-untrusted-intent] [FLR-bad-input] %s', (_what, text) => {
    it.each(places)('in %s is kept as it is or refused, never changed', async (_place, name, inputWith, read) => {
      const input = await inputWith(text);
      const code = await inside.codeOf('local', name, input);
      if (code !== 'done') {
        expect(REFUSALS, code).toContain(code);
        return;
      }
      const { proposals } = await inside.as<{ proposals: Proposed[] }>('local', 'proposal.list', { limit: 1 });
      const proposal_id = input.proposal_id ?? proposals[0]?.proposal_id;
      expect(read(await inside.as('local', 'proposal.get', { proposal_id }))).toBe(text);
    });

    it('in a flow is kept as it is or refused, from the proposal to the library and its mirror', async () => {
      const bundle = fresh();
      bundle.flow.summary = text;
      for (const step of bundle.steps) step.instruction = text;
      const code = await inside.codeOf('local', 'flow.propose', { ...bundle, intent: 'x' });
      if (code !== 'done') {
        expect(REFUSALS, code).toContain(code);
        return;
      }
      const { proposals } = await inside.as<{ proposals: Proposed[] }>('local', 'proposal.list', { limit: 1 });
      const { mirror_path } = await approve(inside, 'local', proposals[0]?.proposal_id ?? '');
      const kept = await inside.as<FlowBundle>('local', 'flow.get', { flow_id: bundle.flow.flow_id });
      expect(kept.flow.summary).toBe(text);
      expect(kept.steps[0]?.instruction).toBe(text);
      const mirror = readNote(readFileSync(join(store.home, 'vaults', 'default', mirror_path), 'utf8'));
      expect(mirror.bundle).toMatchObject({ flow: { summary: text } });
    });

    it.each(['label', 'source', 'path_prefix', 'flow_id', 'review_queue'])(
      'in the filter %s finds nothing',
      async (key) => {
        const code = await inside.codeOf('local', 'proposal.list', { [key]: text });
        expect(['done', 'BAD_REQUEST'], code).toContain(code);
        if (code === 'done') {
          expect(await inside.as('local', 'proposal.list', { [key]: text })).toMatchObject({ proposals: [] });
        }
      },
    );
  });
});
