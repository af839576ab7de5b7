import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { onEachDatabase, type TestStore } from '../support/databases.ts';
import { sampleFlow } from '../support/flows.ts';
import { type Asker, type Body, done, type InProcessHub, openInProcessHub } from '../support/in-process-hub.ts';
import { at, proposeNote } from '../support/review.ts';

/** What people said about a proposal. */
const wordsOf = ({ comments, evaluation_comment, decision_note }: Body) => ({
  comments,
  evaluation_comment,
  decision_note,
});

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

  const record = async (id: string): Promise<Body> => done(owner.get(at(id)));

  describe('[S003-3-untrusted-intent] [FLR-bad-input] any text at all', () => {
    const texts = {
      NUL: 'before\u0000after',
      'half a character': 'before\ud800after',
      controls: '\u0001\u001b]0;x\u0007\u009b2J',
      'many marks': 'e\u0301\u202e\ufeff😀',
    };

    const idOf = (name: string) => `flow_text_${name.replaceAll(' ', '_').toLowerCase()}`;

    it.each(Object.entries(texts))('with %s in a flow comes back letter by letter', async (name, text) => {
      const draft = sampleFlow(idOf(name), { title: text, summary: text, instruction: text });
      const { proposal_id } = await done(editor.post('/api/v1/flows', { ...draft, intent: 'Odd' }));
      expect(JSON.parse((await record(proposal_id)).body).flow.title).toBe(text);
      expect(await done(owner.get(at(proposal_id, 'diff')))).toMatchObject({ proposal_id });
      expect(await done(owner.post(at(proposal_id, 'approve')))).toMatchObject({ mirror_written: true });
      const { flow, steps } = await done(owner.get(`/api/v1/flows/${idOf(name)}`));
      expect([flow.title, flow.summary, steps[0].instruction]).toEqual([text, text, text]);
    });

    it.each(Object.entries(texts))(
      'with %s as a reason is kept as it is or refused, never a fault of ours',
      async (name, text) => {
        const asked = [
          await editor.post('/api/v1/flows', { ...sampleFlow(`${idOf(name)}_why`), intent: text }),
          await editor.post('/api/v1/proposals', { path: `inbox/${idOf(name)}.md`, body: 'x', intent: text }),
          await editor.post('/api/v1/proposals', { path: `inbox/${idOf(name)}-body.md`, body: text, intent: 'x' }),
        ];
        for (const { status, body } of asked) {
          expect([201, 400], JSON.stringify(body)).toContain(status);
          if (status !== 201) continue;
          const held = await record(body.proposal_id);
          expect([held.intent, held.body]).toContain(text);
        }
        const { proposal_id } = await proposeNote(editor, `inbox/${idOf(name)}-acts.md`);
        for (const [act, body] of [
          ['comments', { body: text }],
          ['evaluation', { outcome: 'fail', comment: text }],
          ['discard', { reason: text }],
        ] as const) {
          const answer = await owner.post(at(proposal_id, act), body);
          expect([200, 201, 400], `${act}: ${JSON.stringify(answer.body)}`).toContain(answer.status);
          if (answer.status < 300) expect(await record(proposal_id)).toMatchObject(wordsOf(answer.body));
        }
      },
    );
  });
});
