import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { must, tokenFor } from '../security/people.ts';
import { ask as askHub, expectRefusal, type Question as Request } from '../security/rest.ts';
import { onEachDatabase, type TestStore } from '../support/databases.ts';
import { type DoorHandle, doorsInTurn, openDoors } from '../support/doors.ts';
import { type Hub, type ProgramOptions, startHub } from '../support/program.ts';

type Person = 'owner' | 'viewer';
interface Question {
  operation: 'note.get' | 'note.list';
  input: Record<string, unknown>;
  as: Person;
}

const ABSENT = 'kn1_af63bd4c8601b7df';
const get = (path: string, as: Person = 'owner'): Question => ({ operation: 'note.get', input: { path }, as });
const list = (input: Record<string, unknown> = {}, as: Person = 'owner'): Question => ({
  operation: 'note.list',
  input,
  as,
});

/** Notes that lie in the vault before anybody asks, as people write them. */
const FILES: Record<string, string> = {
  'inbox/plain.md': 'Only text.\n',
  'projects/plan.md':
    '---\ntitle: "Plan: A"\ntags: [review, "2026"]\ndue: 2026-01-31\ncount: 3\ndone: false\nnested: {a: [1, {b: null}]}\n---\n# Plan\n\nText \u001b[2J \u202e {{x}}\n',
  'projects/sub/deep.md': '# Deep\n',
  'ünï/漢字 😀.md': '---\nx: é\n---\nÜber\n',
  'damaged.md': '---\ntitle: "open\n---\nbody\n',
  'a.md': 'a',
  'a/b.md': 'b',
  'a b.md': 'c',
  'templates/t.md': 'template',
  'meta/own.md': 'own',
  'meta/flows/secret.md': 'secret',
  'approvals/2026-01-01-x.md': 'secret',
  'node_modules/n.md': 'n',
  '.obsidian/o.md': 'o',
  'projects/.hidden.md': 'h',
  'projects/picture.png': 'p',
};
const SHOWN = [
  'a b.md',
  'a.md',
  'a/b.md',
  'damaged.md',
  'inbox/plain.md',
  'projects/plan.md',
  'projects/sub/deep.md',
  'ünï/漢字 😀.md',
];

const ANSWERED = [
  get('inbox/plain.md'),
  get('projects/plan.md'),
  get('projects/plan.md', 'viewer'),
  get('ünï/漢字 😀.md'),
  get('a b.md'),
  get('meta/own.md', 'viewer'),
  get('templates/t.md'),
  list({}, 'viewer'),
  list({ prefix: 'projects' }),
  list({ prefix: '/projects/' }),
  list({ prefix: 'templates' }),
  list({ prefix: 'nothing/here' }),
  list({ prefix: 'meta' }, 'viewer'),
  list({ limit: 1 }, 'viewer'),
  list({ limit: 3, cursor: 'a.md' }, 'viewer'),
  list({ cursor: 'zzz' }),
];

const REFUSED: [Question, string][] = [
  [get('no/such.md'), 'NOT_FOUND'],
  [get('a.md/inside.md'), 'NOT_FOUND'],
  [get('meta/flows/secret.md', 'viewer'), 'NOT_FOUND'],
  [get('approvals/2026-01-01-x.md', 'viewer'), 'NOT_FOUND'],
  [get('damaged.md'), 'NOTE_UNREADABLE'],
  [get('projects/picture.png'), 'BAD_REQUEST'],
  [get('../config.md'), 'BAD_REQUEST'],
  [get('.obsidian/o.md'), 'BAD_REQUEST'],
  [list({ prefix: '../default' }), 'BAD_REQUEST'],
  [list({ prefix: '.git' }), 'BAD_REQUEST'],
  [list({ limit: 0 }), 'BAD_REQUEST'],
  [list({ limit: 201 }), 'BAD_REQUEST'],
];

onEachDatabase((engine, makeStore) => {
  let store: TestStore;
  let options: ProgramOptions;
  let hub: Hub;
  const tokens = { owner: '', viewer: '', editor: '', evaluator: '', agent: '' };
  const doors = new Map<Person, DoorHandle[]>();

  beforeAll(async () => {
    store = await makeStore();
    options = { home: store.home, databaseUrl: store.databaseUrl };
    for (const [path, text] of Object.entries(FILES)) {
      const file = join(store.home, 'vaults', 'default', path);
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, text);
    }
    symlinkSync('plan.md', join(store.home, 'vaults/default/projects/link.md'));
    tokens.owner = await tokenFor(options, 'local');
    tokens.viewer = await tokenFor(options, 'vera', { role: 'viewer' });
    tokens.editor = await tokenFor(options, 'ed', { role: 'editor' });
    tokens.evaluator = await tokenFor(options, 'eva', { role: 'evaluator' });
    tokens.agent = await tokenFor(options, 'ed', { agent: true });
    hub = await startHub(options);
    doors.set('owner', await openDoors({ ...options, hub, user: 'local', token: tokens.owner }));
    doors.set('viewer', await openDoors({ ...options, hub, user: 'vera', token: tokens.viewer }));
  });

  afterAll(async () => {
    for (const door of [...doors.values()].flat()) await door.close();
    await hub?.stop();
    await store?.remove();
  });

  /** At every door, or at those whose turn it is. */
  const ask = async ({ as, operation, input }: Question, turn: number) => {
    const handles = doorsInTurn(doors.get(as) ?? [], engine, turn);
    const answers = await Promise.all(
      handles.map(async (door) => ({ door: door.name, ...(await door.ask(operation, input)) })),
    );
    expect(answers.length).toBeGreaterThanOrEqual(turn === 0 ? 5 : 3);
    return answers;
  };
  const rest = (path: string, request: Request = {}) =>
    askHub(hub, `/api/v1/notes/${encodeURIComponent(path)}`, { token: tokens.editor, ...request });
  const put = (path: string, json: unknown, token = tokens.editor) => rest(path, { method: 'PUT', json, token });

  describe('[S002-7-parity] [FLR-database-both] every door gives the same bytes', () => {
    it.each(ANSWERED)('$operation $input as $as', async (question) => {
      const [first, ...others] = await ask(question, ANSWERED.indexOf(question));
      expect(first?.ok, first?.text).toBe(true);
      for (const other of others) expect(other, other.door).toEqual({ door: other.door, ok: true, text: first?.text });
    });
  });

  describe('[S002-7-same-refusal] every door refuses with the same envelope', () => {
    it.each(REFUSED)('%o is %s', async (question, code) => {
      const [first, ...others] = await ask(
        question,
        REFUSED.findIndex(([asked]) => asked === question),
      );
      expect(JSON.parse(first?.text ?? '')).toMatchObject({ code });
      for (const other of others) expect(other, other.door).toEqual({ door: other.door, ok: false, text: first?.text });
      expect(first?.text, 'no path of the machine').not.toContain(store.home);
    });
  });

  describe('[FLR-notes] a note', () => {
    it('has its values with their types, its text as it is, and a state id that is its ETag', async () => {
      const { body, headers } = await rest('projects/plan.md');
      expect(Object.keys(body)).toEqual(['schema', 'vault_id', 'path', 'frontmatter', 'body', 'state_id']);
      expect(body).toMatchObject({
        schema: 'flowright.note/v1',
        vault_id: 'default',
        path: 'projects/plan.md',
        frontmatter: {
          title: 'Plan: A',
          tags: ['review', '2026'],
          due: '2026-01-31',
          count: 3,
          done: false,
          nested: { a: [1, { b: null }] },
        },
        body: '# Plan\n\nText \u001b[2J \u202e {{x}}',
      });
      expect(headers.etag).toBe(`"${body.state_id}"`);
    });

    it('that is invisible answers exactly like one that is missing', async () => {
      const invisible = await rest('meta/flows/secret.md', { token: tokens.viewer });
      const missing = await rest('meta/flows/nothin.md', { token: tokens.viewer });
      expectRefusal(invisible, 404, 'NOT_FOUND');
      const blank = (text: string) => text.replace(/secret|nothin/g, 'X').replace(/"request_id":"[^"]+"/, '');
      expect(blank(invisible.text)).toBe(blank(missing.text));
    });

    it('shows a change by hand at once', async () => {
      const before = (await rest('a.md')).body.state_id;
      writeFileSync(join(store.home, 'vaults/default/a.md'), 'a, changed');
      const { body } = await rest('a.md');
      expect([body.body, body.state_id === before]).toEqual(['a, changed', false]);
    });
  });

  describe('[FLR-notes] the list of notes', () => {
    const page = async (query: string, token = tokens.viewer) =>
      (await askHub(hub, `/api/v1/notes${query}`, { token })).body as {
        notes: { path: string; size: number; modified: string }[];
        next_cursor: string | null;
      };

    it('has them in the order of their paths, without tools, links, hidden files and what is not for the reader', async () => {
      const { notes, next_cursor } = await page('');
      expect(notes.map(({ path }) => path)).toEqual(SHOWN);
      expect(next_cursor).toBeNull();
      expect(notes.find(({ path }) => path === 'a/b.md')).toEqual({
        path: 'a/b.md',
        size: 1,
        modified: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
      });
      expect((await page('?prefix=meta')).notes.map(({ path }) => path)).toEqual(['meta/own.md']);
      expect((await page('?prefix=meta%2Fflows')).notes).toEqual([]);
      expect((await page('?prefix=meta', tokens.owner)).notes.map(({ path }) => path)).toEqual([
        'meta/flows/secret.md',
        'meta/own.md',
      ]);
    });

    it.each([1, 2, 3, 7, 8, 9])('in pages of %i is the same list', async (limit) => {
      const paths: string[] = [];
      let cursor = '';
      do {
        const { notes, next_cursor } = await page(`?limit=${limit}&cursor=${encodeURIComponent(cursor)}`);
        expect(notes.length).toBeGreaterThan(0);
        expect(notes.length).toBeLessThanOrEqual(limit);
        paths.push(...notes.map(({ path }) => path));
        cursor = next_cursor ?? '';
      } while (cursor !== '');
      expect(paths).toEqual(SHOWN);
    });
  });

  describe('[FLR-notes] a note that is put', () => {
    it('is a new file whose values keep their types, with where it comes from set by the server', async () => {
      const frontmatter = {
        title: '2026-01-31',
        tags: ['a', '1'],
        done: false,
        author_kind: 'agent',
        knowtation_editor: 'me',
        knowtation_approved_by: 'the boss',
      };
      const written = await put('put/new.md', { body: '# New\n\n', frontmatter });
      expect(written).toMatchObject({ status: 200, body: { written: true, kept_aside: null, path: 'put/new.md' } });
      const { body } = await rest('put/new.md');
      expect(body.state_id).toBe(written.body.state_id);
      expect(written.headers.etag).toBe(`"${body.state_id}"`);
      expect(body).toMatchObject({ body: '# New' });
      expect(body.frontmatter).toEqual({
        title: '2026-01-31',
        tags: ['a', '1'],
        done: false,
        author_kind: 'human',
        knowtation_editor: expect.stringMatching(/^[0-9a-f]{64}$/),
        knowtation_edited_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
      });
    });

    it('replaces only the state it is based on', async () => {
      const first = await put('put/edit.md', { body: 'one', frontmatter: { kept: [1] }, base_state_id: ABSENT });
      const current = { details: { current_state_id: first.body.state_id } };
      for (const base of [undefined, ABSENT, 'kn1_0000000000000000']) {
        const reply = await put('put/edit.md', { body: 'two', ...(base ? { base_state_id: base } : {}) });
        expectRefusal(reply, 409, 'CONFLICT');
        expect(reply.body).toMatchObject(current);
      }
      const second = await put('put/edit.md', { body: 'two', base_state_id: first.body.state_id });
      expect(second.status).toBe(200);
      const { body } = await rest('put/edit.md');
      expect(body).toMatchObject({ body: 'two', frontmatter: { kept: [1] }, state_id: second.body.state_id });
      await put('put/edit.md', { body: 'three', frontmatter: {}, base_state_id: second.body.state_id });
      expect((await rest('put/edit.md')).body.frontmatter).not.toHaveProperty('kept');
    });

    it('that is based on a note which is gone is refused', async () => {
      const reply = await put('put/never.md', { body: 'x', base_state_id: 'kn1_0000000000000000' });
      expectRefusal(reply, 409, 'CONFLICT');
      expect(reply.body.details).toEqual({ current_state_id: ABSENT });
      expectRefusal(await rest('put/never.md'), 404, 'NOT_FOUND');
    });

    it('wins or loses as a whole when many put at once', async () => {
      const { body } = await put('put/race.md', { body: 'start' });
      const replies = await Promise.all(
        Array.from({ length: 12 }, (_, at) => put('put/race.md', { body: `${at}`, base_state_id: body.state_id })),
      );
      const winners = replies.flatMap(({ status }, at) => (status === 200 ? [String(at)] : []));
      expect(winners).toHaveLength(1);
      for (const { status } of replies) expect([200, 409]).toContain(status);
      expect((await rest('put/race.md')).body.body).toBe(winners[0]);
    });

    it('over a note that cannot be read is refused, and the file stays as it is', async () => {
      expectRefusal(await put('damaged.md', { body: 'x', base_state_id: ABSENT }), 422, 'NOTE_UNREADABLE');
      expectRefusal(await put('projects/link.md', { body: 'x' }), 422, 'NOTE_UNREADABLE');
      expectRefusal(await put('inbox/plain.md/x.md', { body: 'x' }), 409, 'CONFLICT');
      expect((await rest('inbox/plain.md')).body.body).toBe('Only text.');
    });

    it('is for editors and admins, and for people', async () => {
      for (const token of [tokens.viewer, tokens.evaluator]) {
        expectRefusal(await put('put/no.md', { body: 'x' }, token), 403, 'FORBIDDEN');
      }
      const agent = await put('put/no.md', { body: 'x' }, tokens.agent);
      expectRefusal(agent, 403, 'FORBIDDEN');
      expect(agent.body.message).toContain('proposal_create');
      expect((await put('put/admin.md', { body: 'x' }, tokens.owner)).status).toBe(200);
      expectRefusal(await rest('put/no.md'), 404, 'NOT_FOUND');
    });

    it.each(['meta/flows/x.md', 'Meta/FLOWS/x.md', 'approvals/x.md', 'APPROVALS/2026/x.md'])(
      'is never one that the server writes: %s',
      async (path) => {
        const reply = await put(path, { body: 'x' }, tokens.owner);
        expectRefusal(reply, 403, 'FORBIDDEN');
        expect(reply.body.message).toContain('propose a change to the flow');
      },
    );

    it.each([
      ['a body of more than 1 MiB', { body: 'x'.repeat(1_048_577) }],
      ['a body of more than 1 MiB in UTF-8', { body: 'é'.repeat(524_289) }],
      ['NUL in the body', { body: 'a\u0000b' }],
      ['half a character in the body', { body: 'a\ud800b' }],
      ['a front block of more than 64 KiB', { body: 'x', frontmatter: { a: 'x'.repeat(65_536) } }],
      [
        'a front block that nests too deep',
        { body: 'x', frontmatter: JSON.parse(`{"a":${'['.repeat(17)}${']'.repeat(17)}}`) },
      ],
      ['a front block that is a list', { body: 'x', frontmatter: [] }],
      ['a state id that is none', { body: 'x', base_state_id: '"kn1_0000000000000000"' }],
      ['no body', {}],
      ['an unknown key', { body: 'x', path: 'other.md' }],
    ])('with %s is refused', async (_what, json) => {
      expectRefusal(await put('put/limits.md', json), 400, 'BAD_REQUEST');
      expectRefusal(await rest('put/limits.md'), 404, 'NOT_FOUND');
    });

    it('may be as large as the limits say', async () => {
      const written = await put('put/large.md', {
        body: 'x'.repeat(1_048_576),
        frontmatter: { a: 'y'.repeat(65_000) },
      });
      expect(written, written.text.slice(0, 300)).toMatchObject({ status: 200, body: { written: true } });
      expect((await rest('put/large.md')).body).toMatchObject({ state_id: written.body.state_id });
    });

    it('leaves a line in the audit log that holds no text of it', async () => {
      await put('put/audited.md', { body: 'the very text' });
      const { body, text } = await askHub(hub, '/api/v1/audit?limit=5', { token: tokens.owner });
      const entries = body.entries as { action: string; detail: unknown }[];
      expect(entries.find(({ action }) => action === 'note.put')?.detail).toEqual({
        path: 'put/audited.md',
        state_id: expect.stringMatching(/^kn1_/),
      });
      expect(text).not.toContain('the very text');
    });
  });

  it('[S002-4-vault-binding] notes of one vault are not those of another', async () => {
    await must(['vault', 'create', 'other'], options);
    const elsewhere = { token: tokens.owner, headers: { 'x-vault-id': 'other' } };
    expectRefusal(await rest('inbox/plain.md', elsewhere), 404, 'NOT_FOUND');
    expect((await askHub(hub, '/api/v1/notes', elsewhere)).body.notes).toEqual([]);
    expectRefusal(await rest('inbox/plain.md', { ...elsewhere, token: tokens.viewer }), 404, 'NOT_FOUND');
  });
});
