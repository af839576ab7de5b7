import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { actorHash } from '../../src/operations/index.ts';
import { onEachDatabase, type TestStore } from '../support/databases.ts';
import { sampleFlow } from '../support/flows.ts';
import { type Hub, startHub } from '../support/program.ts';
import { type Approved, AUTHORING_ON, baseOf, type Inside, openInside, type Payload, propose } from './inside.ts';
import { readNote } from './note-reader.ts';
import { ask, type Reply } from './rest.ts';

const RUBRIC = ['accurate', 'no_secrets', 'matches_intent', 'pii', 'tone'];
const SECRET_KEY = /token|oauth|api_?key|secret|password|credential|bearer|private/i;
/** Words of the contract that stand in no envelope, no applied record and no mirror. */
const MARKERS = /oauth|refresh_token|api_key|bearer |"token"|password|-----BEGIN|flw_|flws_|flwc_|secret_sha256/i;
/** Ids that would be found in a text if they were in it. */
const PEOPLE = ['walburga-the-author', 'thaddeus-the-judge', 'philomena-the-approver'] as const;
const [AUTHOR, JUDGE, APPROVER] = PEOPLE;

onEachDatabase((_engine, makeStore) => {
  let store: TestStore;
  let hub: Hub;
  let inside: Inside;
  const tokens: Record<string, string> = {};
  const replies: { what: string; reply: Reply }[] = [];
  let approved: Approved;
  let note: Approved;

  const send = async (user: string, method: string, path: string, json?: Payload) => {
    const reply = await ask(hub, path, { method, token: tokens[user], ...(json ? { json } : {}) });
    expect(reply.status, `${method} ${path}: ${reply.text}`).toBeLessThan(300);
    replies.push({ what: `${method} ${path.replace(/[0-9a-f-]{36}/, 'ID')}`, reply });
    return reply.body;
  };

  beforeAll(async () => {
    store = await makeStore();
    inside = await openInside(store);
    tokens[AUTHOR] = await inside.token(AUTHOR, { role: 'editor' });
    tokens[JUDGE] = await inside.token(JUDGE, { role: 'evaluator' });
    tokens[APPROVER] = await inside.token(APPROVER, { role: 'admin' });
    hub = await startHub({ home: store.home, databaseUrl: store.databaseUrl, env: AUTHORING_ON });

    const bundle = sampleFlow('flow_kept', { scope: 'project' });
    const { proposal_id } = await send(AUTHOR, 'POST', '/api/v1/flows', { ...bundle, intent: 'A way' });
    const path = `/api/v1/proposals/${proposal_id}`;
    await send(AUTHOR, 'POST', `${path}/comments`, { body: 'Please' });
    await send(JUDGE, 'POST', `${path}/evaluation`, { outcome: 'pass', checklist: RUBRIC });
    approved = (await send(APPROVER, 'POST', `${path}/approve`, {})) as unknown as Approved;
    for (const end of ['', '/diff']) await send(AUTHOR, 'GET', `${path}${end}`);
    for (const end of ['', '/versions', '/diff', '/export', '/projection?harness=cli_runbook']) {
      await send(AUTHOR, 'GET', `/api/v1/flows/flow_kept${end}`);
    }
    const wish = await send(AUTHOR, 'POST', '/api/v1/proposals', {
      path: 'notes/a.md',
      body: 'Text',
      intent: 'A note',
    });
    note = (await send(APPROVER, 'POST', `/api/v1/proposals/${wish.proposal_id}/approve`, {})) as unknown as Approved;
    await send(AUTHOR, 'PUT', '/api/v1/notes/notes%2Fb.md', { body: 'Text' });
    for (const file of ['notes/a.md', 'notes/b.md', approved.mirror_path, approved.approval_log_path]) {
      await send(AUTHOR, 'GET', `/api/v1/notes/${encodeURIComponent(file)}`);
    }
    const retire = await send(AUTHOR, 'POST', '/api/v1/flows/flow_kept/retire', { intent: 'Gone' });
    await send(AUTHOR, 'POST', `/api/v1/proposals/${retire.proposal_id}/withdraw`, {});
    const imported = { bundle: sampleFlow('flow_come'), intent: 'x', source_vault_hint: 'elsewhere' };
    const { proposal_id: come } = await send(AUTHOR, 'POST', '/api/v1/flows/import', imported);
    await send(APPROVER, 'POST', `/api/v1/proposals/${come}/discard`, { reason: 'No' });
    const lists = [
      'proposals',
      'notes',
      'notes?prefix=approvals',
      'notes?prefix=meta/flows',
      'flows/mirrors',
      'policy',
    ];
    for (const list of lists) await send(AUTHOR, 'GET', `/api/v1/${list}`);
    await send(APPROVER, 'GET', '/api/v1/audit?limit=200');
    await send(APPROVER, 'PUT', '/api/v1/policy/flow_import_allowed_tools', { value: 'a-tool' });
  });

  afterAll(async () => {
    await hub?.stop();
    await inside?.close();
    await store?.remove();
  });

  /** Every file below the notes of the vault, by its path. */
  const files = (): [string, string][] => {
    const root = join(store.home, 'vaults', 'default');
    const names = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.md'));
    return names.map((name) => [name, readFileSync(join(root, name), 'utf8')]);
  };

  describe('[S003-7-no-secrets] [S002-8.4-no-secrets] of everything about proposals', () => {
    it('no answer has a key named like a secret', () => {
      expect(replies.length).toBeGreaterThan(25);
      for (const { what, reply } of replies.filter(({ what: each }) => !each.includes('/audit'))) {
        expect(
          keysOf(reply.body).filter((key) => SECRET_KEY.test(key)),
          what,
        ).toEqual([]);
      }
    });

    it('no answer, file or row holds a token that was used', async () => {
      const { queries } = inside.app.services.database;
      const rows = [];
      for (const table of [
        'proposals',
        'proposal_comments',
        'flow_mirrors',
        'file_writes',
        'events',
        'audit',
        'flow_versions',
      ] as const) {
        rows.push(JSON.stringify(await queries.selectFrom(table).selectAll().execute()));
      }
      const everything = [...replies.map(({ reply }) => reply.text), ...files().flat(), ...rows, hub.output()].join(
        '\n',
      );
      for (const token of Object.values(tokens)) expect(everything).not.toContain(token);
      expect(everything).not.toMatch(/flw_[A-Za-z0-9_-]{20}/);
    });

    it('no envelope, applied record, mirror or log of an approval has a marker of one', () => {
      const pointers = replies.filter(({ what }) => /POST \/api\/v1\/flows|GET \/api\/v1\/flows\/flow_kept/.test(what));
      expect(pointers.length).toBeGreaterThan(6);
      for (const { what, reply } of pointers) expect(reply.text, what).not.toMatch(MARKERS);
      for (const [path, text] of files()) expect(text, path).not.toMatch(MARKERS);
    });

    it('the envelope carries nothing of the draft', () => {
      for (const { what, reply } of replies.filter(
        ({ reply: { body } }) => body.schema === 'knowtation.flow_proposal/v0',
      )) {
        expect(Object.keys(reply.body), what).toHaveLength(9);
        expect(reply.text, what).not.toMatch(/Part 1|Do part|When asked|Somebody looked|A way/);
      }
    });

    it('a reference shaped like a credential is not taken in, and not said again', async () => {
      const refs = ['ghp_abcdefghijklmnopqrstuvwxyz0123', 'https://me:hunter22@example.org/x', String(tokens[AUTHOR])];
      for (const id of refs) {
        const bundle = sampleFlow('flow_ref');
        bundle.steps[0]?.skill_refs.push({ kind: 'external_tool', id });
        for (const [path, json] of [
          ['/api/v1/flows', { ...bundle, intent: 'x' }],
          ['/api/v1/flows/import', { bundle, intent: 'x' }],
        ] as const) {
          const reply = await ask(hub, path, { method: 'POST', token: tokens[AUTHOR], json });
          expect(reply.status).toBe(400);
          expect(reply.text).not.toContain(id);
        }
      }
    });
  });

  describe('[S003-7-no-secrets] [FLR-mirror] in the notes that the server writes', () => {
    it('people stand as hashes, never as ids', () => {
      const written = files().filter(([path]) => path !== 'notes/b.md');
      expect(written.map(([path]) => path)).toEqual(
        expect.arrayContaining([
          approved.mirror_path,
          approved.approval_log_path,
          note.approval_log_path,
          'notes/a.md',
        ]),
      );
      for (const [path, text] of files()) for (const user of PEOPLE) expect(text, path).not.toContain(user);
      const front = (path: string) => readNote(String(files().find(([name]) => name === path)?.[1])).front;
      const author = actorHash(AUTHOR, 'default');
      const approver = actorHash(APPROVER, 'default');
      expect(front(approved.mirror_path)).toMatchObject({
        author_kind: 'human',
        knowtation_proposed_by: author,
        knowtation_approved_by: approver,
      });
      expect(front(approved.approval_log_path)).toMatchObject({ proposed_by: author, approved_by: approver });
      expect(front('notes/a.md')).toMatchObject({ knowtation_proposed_by: author, knowtation_approved_by: approver });
      expect(front('notes/b.md')).toMatchObject({ knowtation_editor: author });
    });

    it('a mirror that is restored has the hashes it had', async () => {
      const path = join(store.home, 'vaults', 'default', approved.mirror_path);
      const before = readFileSync(path, 'utf8');
      writeFileSync(path, 'edited');
      await inside.as(APPROVER, 'flow.mirror_restore', { flow_id: 'flow_kept' });
      expect(readFileSync(path, 'utf8')).toBe(before);
    });

    it('keys of the server cannot be sent: those of a client are dropped', async () => {
      const forged = {
        author_kind: 'human',
        knowtation_editor: 'eve',
        knowtation_edited_at: '1999',
        knowtation_proposed_by: 'eve',
        knowtation_approved_by: 'eve',
      };
      const wish = { path: 'notes/c.md', body: 'Text', intent: 'x', frontmatter: { ...forged, mine: 'kept' } };
      const { proposal_id } = await inside.as(AUTHOR, 'proposal.create', wish);
      await inside.as(APPROVER, 'proposal.approve', { proposal_id });
      await inside.as(AUTHOR, 'note.put', {
        path: 'notes/d.md',
        body: 'Text',
        frontmatter: { ...forged, mine: 'kept' },
      });
      for (const path of ['notes/c.md', 'notes/d.md']) {
        const { frontmatter } = await inside.as<{ frontmatter: Payload }>(AUTHOR, 'note.get', { path });
        expect(JSON.stringify(frontmatter), path).not.toMatch(/eve|1999/);
        expect(frontmatter, path).toMatchObject({ mine: 'kept' });
      }
    });

    it('an exported flow says neither who nor where', async () => {
      const exported = replies.find(({ what }) => what.endsWith('/export'))?.reply;
      expect(Object.keys(exported?.body ?? {})).toEqual(['schema', 'flow', 'steps']);
      for (const user of PEOPLE) expect(exported?.text).not.toContain(user);
      expect(exported?.text).not.toMatch(/vault_id|default|proposal_id|flowst1_/);
    });
  });

  it('[S003-7-no-secrets] an agent’s work is marked as such in the notes', async () => {
    const how = { agent: true };
    const { proposal_id } = await propose(inside, AUTHOR, sampleFlow('flow_by_agent'), {}, how);
    const done = await inside.as<Approved>(APPROVER, 'proposal.approve', { proposal_id });
    const text = readFileSync(join(store.home, 'vaults', 'default', done.mirror_path), 'utf8');
    expect(readNote(text).front).toMatchObject({ author_kind: 'agent' });
    expect(await baseOf(inside, AUTHOR, 'flow_by_agent')).toMatchObject({ base_version: '1.0.0' });
  });
});

function keysOf(value: unknown): string[] {
  if (value === null || typeof value !== 'object') return [];
  const own = Array.isArray(value) ? [] : Object.keys(value);
  return [...own, ...Object.values(value).flatMap(keysOf)];
}
