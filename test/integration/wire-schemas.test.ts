import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { App } from '../../src/app.ts';
import { type AnyOperation, routesOf } from '../../src/operations/index.ts';
import { createCatalogue } from '../../src/rooms.ts';
import { createHttpServer } from '../../src/surfaces/http/server.ts';
import { openTestApp } from '../support/app.ts';
import { onEachDatabase, type TestStore } from '../support/databases.ts';
import { isOfFlowcharts } from '../support/flowchart-scene.ts';
import { isOfFlowise } from '../support/flowise-scene.ts';
import { sampleFlow } from '../support/flows.ts';

/** A question to each read operation, by name. A read operation that is missing here fails the suite. */
const QUESTIONS: Record<string, string | ((ids: Ids) => string)> = {
  'flow.list': '/api/v1/flows?limit=3',
  'flow.get': '/api/v1/flows/flow_overseer_handover',
  'flow.search': '/api/v1/flows/search?query=note',
  'flow.project': '/api/v1/flows/flow_wired/projection?harness=cursor_rule',
  'flow.versions': '/api/v1/flows/flow_wired/versions',
  'flow.diff': '/api/v1/flows/flow_wired/diff',
  'flow.export': '/api/v1/flows/flow_wired/export',
  'flow.mirrors': '/api/v1/flows/mirrors',
  'proposal.list': '/api/v1/proposals',
  'proposal.get': ({ edit }) => `/api/v1/proposals/${edit}`,
  'proposal.diff': ({ edit }) => `/api/v1/proposals/${edit}/diff`,
  'note.list': '/api/v1/notes',
  'note.get': '/api/v1/notes/inbox%2Fwired.md',
  'policy.show': '/api/v1/policy',
  'whoami.show': '/api/v1/whoami',
  'user.list': '/api/v1/users',
  'member.list': '/api/v1/members',
  'token.list': '/api/v1/tokens',
  'vault.list': '/api/v1/vaults',
  'audit.list': '/api/v1/audit',
  'audit.verify': '/api/v1/audit/verify',
  'health.show': '/api/v1/health',
};

/** Proposals that the questions are about. */
interface Ids {
  edit: string;
  note: string;
}

const LIST_KEYS = 'schema vault_id effective_scope flows truncated'.split(' ');
const SEARCH_KEYS = 'schema vault_id effective_scope query flows truncated'.split(' ');
const SUMMARY_KEYS = 'schema flow_id title version scope summary tags step_count updated truncated'.split(' ');
const GET_KEYS = 'schema vault_id flow steps'.split(' ');
const FLOW_KEYS =
  'schema flow_id title version scope summary tags steps inputs vault_mirror_path updated truncated'.split(' ');
const STEP_KEYS =
  'schema step_id flow_id ordinal owned_job instruction trigger when_not_to_run requires boundaries skill_refs inputs outputs output_shape verification automatable'.split(
    ' ',
  );

const operations = await createCatalogue().all();
// Those about flowcharts are asked in flowchart-wire.test.ts, those about Flowise in chatflow-wire.test.ts.
const reads = operations.filter(({ name, effect }) => effect === 'read' && !isOfFlowcharts(name) && !isOfFlowise(name));

onEachDatabase((_engine, makeStore) => {
  let store: TestStore;
  let app: App;
  let server: FastifyInstance;
  let authorization: string;
  const ids: Ids = { edit: '', note: '' };

  beforeAll(async () => {
    store = await makeStore();
    app = await openTestApp(store, { env: { FLOW_AUTHORING_WRITES: '1' } });
    server = await createHttpServer(app);
    const principal = await app.principals.local({
      identity: 'local',
      vaultId: 'default',
      narrowTo: null,
      agent: false,
    });
    const operation = (await app.catalogue.all()).find(({ name }) => name === 'token.create') as AnyOperation;
    const call = { principal, door: 'cli', request_id: 'wire-test', correlation_id: undefined } as const;
    const { token } = (await app.invoke(operation, call, { user: 'local' })) as { token: string };
    authorization = `Bearer ${token}`;
    await walkThroughReview();
  });
  afterAll(async () => {
    await server?.close();
    await app?.close();
    await store?.remove();
  });

  const ask = async (url: string) => {
    const response = await server.inject({ url, headers: { authorization, host: '127.0.0.1' } });
    expect(response.statusCode, response.body).toBe(200);
    expect(response.headers['content-type']).toBe('application/json; charset=utf-8');
    return JSON.parse(response.body);
  };

  /** Sends what changes something; the answer must be what the operation's schema says, to the last key. */
  const send = async (name: string, method: 'POST' | 'PUT', url: string, body: object = {}) => {
    const headers = { authorization, host: '127.0.0.1', 'content-type': 'application/json' };
    const response = await server.inject({ method, url, headers, payload: JSON.stringify(body) });
    expect(response.statusCode, response.body).toBeLessThan(300);
    const { output } = operations.find((operation) => operation.name === name) as AnyOperation;
    const answer = JSON.parse(response.body);
    expect(output.parse(answer), name).toEqual(answer);
    expect(() => output.parse({ ...answer, surplus: true }), `the schema of ${name} is strict`).toThrow();
    written.add(name);
    return answer;
  };
  const written = new Set<string>();

  /** Every operation of the review once, so that there is something of each kind to read. */
  async function walkThroughReview(): Promise<void> {
    const at = ({ proposal_id }: { proposal_id: string }, act: string) => `/api/v1/proposals/${proposal_id}/${act}`;
    const created = await send('flow.propose', 'POST', '/api/v1/flows', { ...sampleFlow('flow_wired'), intent: 'x' });
    await send('proposal.approve', 'POST', at(created, 'approve'));
    const imported = { bundle: sampleFlow('flow_brought'), intent: 'x' };
    await send(
      'proposal.discard',
      'POST',
      at(await send('flow.import', 'POST', '/api/v1/flows/import', imported), 'discard'),
    );
    const retired = await send('flow.retire', 'POST', '/api/v1/flows/flow_wired/retire', { intent: 'x' });
    await send('proposal.withdraw', 'POST', at(retired, 'withdraw'));
    const { versions } = await ask('/api/v1/flows/flow_wired/versions');
    const base = { base_version: versions[0].version, base_state_id: versions[0].state_id };
    const draft = { ...sampleFlow('flow_wired', { version: '1.1.0', title: 'Wired' }), intent: 'x', ...base };
    const edit = await send('flow.propose', 'POST', '/api/v1/flows/flow_wired/proposals', draft);
    await send('proposal.evaluate', 'POST', at(edit, 'evaluation'), { outcome: 'fail', comment: 'Hm' });
    await send('proposal.comment', 'POST', at(edit, 'comments'), { body: 'Look' });
    const wish = { path: 'inbox/wired.md', body: 'A note', frontmatter: { n: 1 } };
    const note = await send('proposal.create', 'POST', '/api/v1/proposals', wish);
    await send('proposal.approve', 'POST', at(note, 'approve'));
    const { state_id } = await ask('/api/v1/notes/inbox%2Fwired.md');
    await send('note.put', 'PUT', '/api/v1/notes/inbox%2Fwired.md', { body: 'Again', base_state_id: state_id });
    appendFileSync(join(store.home, 'vaults/default/meta/flows/wired.md'), '\nEdited by hand.\n');
    await send('flow.mirror_restore', 'POST', '/api/v1/flows/flow_wired/mirror/restore');
    await send('policy.set', 'PUT', '/api/v1/policy/proposal_evaluation_required', { value: 'false' });
    Object.assign(ids, { edit: edit.proposal_id, note: note.proposal_id });
  }

  it('[S003-1.2-envelope] the answers of the whole review were what their schemas say', () => {
    const ofReview = operations.filter(
      ({ name, effect }) => /^(flow|proposal|note|policy)\./.test(name) && effect !== 'read',
    );
    // A mirror can be proposed only once its words are a flow again; test/data-integrity does that.
    const expected = ofReview.map(({ name }) => name).filter((name) => name !== 'flow.mirror_propose');
    expect([...written].sort()).toEqual(expected.sort());
  });

  describe('[S002-6-wire-schemas] the answer of every read operation is what its schema says', () => {
    it.each(reads.map((operation) => [operation.name, operation] as const))('%s', async (name, operation) => {
      const question = QUESTIONS[name];
      if (!question) throw new Error(`${name} has no question in this test`);
      const url = typeof question === 'string' ? question : question(ids);
      expect(routesOf(operation)[0]?.method).toBe('GET');
      const answer = await ask(url);
      // Equal, and not only valid: a schema with defaults would accept an answer that lacks a field.
      expect(operation.output.parse(answer)).toEqual(answer);
      expect(() => operation.output.parse({ ...answer, surplus: true }), 'the schema is strict').toThrow();
    });
  });

  it('[S002-6-wire-schemas] [S002-1.6-summary-fields] a list has exactly the pinned keys in the pinned order', async () => {
    const list = await ask('/api/v1/flows');
    expect(Object.keys(list)).toEqual(LIST_KEYS);
    expect(list).toMatchObject({ schema: 'knowtation.flow_list/v0', vault_id: 'default', truncated: false });
    expect(list.flows).toHaveLength(7);
    for (const flow of list.flows) {
      expect(Object.keys(flow)).toEqual(SUMMARY_KEYS);
      expect(flow.schema).toBe('knowtation.flow/v0');
    }
  });

  it('[S002-6-wire-schemas] a search is a list with its query', async () => {
    const found = await ask('/api/v1/flows/search?query=note');
    expect(Object.keys(found)).toEqual(SEARCH_KEYS);
    expect(found.flows.length).toBeGreaterThan(0);
    for (const flow of found.flows) expect(Object.keys(flow)).toEqual(SUMMARY_KEYS);
  });

  it('[S002-6-wire-schemas] [S002-1.6-definition-fields] a definition has exactly the pinned keys in order', async () => {
    const { flows } = await ask('/api/v1/flows');
    for (const { flow_id } of flows) {
      const definition = await ask(`/api/v1/flows/${flow_id}`);
      expect(Object.keys(definition)).toEqual(GET_KEYS);
      expect(definition.schema).toBe('knowtation.flow_get/v0');
      expect(Object.keys(definition.flow)).toEqual(FLOW_KEYS);
      for (const step of definition.steps) {
        expect(Object.keys(step)).toEqual(STEP_KEYS);
        expect(step.schema).toBe('knowtation.flow_step/v0');
        expect(Object.keys(step.verification)).toEqual(['kind', 'evidence_required', 'description']);
        for (const reference of [...step.requires, ...step.skill_refs]) {
          expect(Object.keys(reference)).toEqual(['kind', 'id']);
        }
      }
    }
  });

  it('[S002-6-wire-schemas] a refusal is the error envelope, keys in order', async () => {
    const response = await server.inject({
      url: '/api/v1/flows/flow_x',
      headers: { authorization, host: 'localhost' },
    });
    expect(response.statusCode).toBe(404);
    expect(Object.keys(response.json())).toEqual(['error', 'code', 'message', 'details', 'request_id']);
  });
});
