import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Database } from '../../src/database/index.ts';
import { FlowVersionsResponse, flowStateId } from '../../src/flows/index.ts';
import { addFlows, VAULT } from '../data-integrity/library.ts';
import { must, tokenFor } from '../security/people.ts';
import { ask } from '../security/rest.ts';
import { onFirstDatabase, type TestStore } from '../support/databases.ts';
import { type DoorHandle, doorsInTurn, openDoors } from '../support/doors.ts';
import { sampleFlow } from '../support/flows.ts';
import { flowright, flowrightJson, type Hub, type ProgramOptions, startHub } from '../support/program.ts';

const NUMBERS = ['1.9.0', '1.0.0', '1.10.0', '1.2.0'];
const HIGHEST_FIRST = ['1.10.0', '1.9.0', '1.2.0', '1.0.0'];
const PROPOSAL = '00000000-0000-4000-8000-000000000001';

type Who = 'owner' | 'viewer';
interface Versions {
  versions: { version: string; state_id: string }[];
}

onFirstDatabase((engine, makeStore) => {
  let store: TestStore;
  let database: Database;
  let options: ProgramOptions;
  let hub: Hub;
  const doors = new Map<Who, DoorHandle[]>();
  const tokens = new Map<Who, string>();

  beforeAll(async () => {
    store = await makeStore();
    options = { home: store.home, databaseUrl: store.databaseUrl };
    tokens.set('owner', await tokenFor(options, 'local'));
    tokens.set('viewer', await tokenFor(options, 'vera', { role: 'viewer' }));
    database = await store.open();
    await addFlows(
      database,
      NUMBERS.map((version, at) => sampleFlow('flow_many', { version, steps: at + 1, title: `Title of ${version}` })),
    );
    await addFlows(database, [sampleFlow('flow_for_org', { scope: 'org' }), sampleFlow('flow_gone')]);
    await database.queries
      .updateTable('flow_versions')
      .set({ proposal_id: PROPOSAL })
      .where('version', '=', '1.9.0')
      .execute();
    await database.queries
      .updateTable('flows')
      .set({ retired_at: '2026-02-03T04:05:06.000Z' })
      .where('flow_id', '=', 'flow_gone')
      .execute();
    hub = await startHub(options);
    for (const [who, user] of [
      ['owner', 'local'],
      ['viewer', 'vera'],
    ] as const) {
      doors.set(who, await openDoors({ ...options, hub, user, token: tokens.get(who) as string }));
    }
  });

  afterAll(async () => {
    for (const door of [...doors.values()].flat()) await door.close();
    await hub?.stop();
    await store?.remove();
  });

  let turn = 0;
  /** At every door, or at those whose turn it is. */
  const askAll = async (who: Who, input: Record<string, unknown>) => {
    const handles = doorsInTurn(doors.get(who) ?? [], engine, turn);
    expect(handles.length).toBeGreaterThanOrEqual(turn === 0 ? 5 : 3);
    turn += 1;
    return Promise.all(handles.map((door) => door.ask('flow.versions', input)));
  };
  const get = (path: string, who: Who = 'owner') => ask(hub, path, { token: tokens.get(who) });

  it.each<[Who, Record<string, unknown>]>([
    ['owner', { flow_id: 'flow_many' }],
    ['owner', { flow_id: 'flow_many', limit: 2 }],
    ['viewer', { flow_id: 'flow_many' }],
    ['owner', { flow_id: 'flow_for_org' }],
    ['owner', { flow_id: 'flow_overseer_handover' }],
  ])('[FLR-versions] [S002-7-parity] every door gives the same bytes to %s asking %o', async (who, input) => {
    const [first, ...others] = await askAll(who, input);
    expect(first?.ok, first?.text).toBe(true);
    for (const other of others) expect(other).toEqual(first);
    expect(FlowVersionsResponse.safeParse(JSON.parse(first?.text ?? '')).error).toBeUndefined();
  });

  it.each<[Who, Record<string, unknown>, string]>([
    ['viewer', { flow_id: 'flow_for_org' }, 'unknown_flow'],
    ['owner', { flow_id: 'flow_not_there' }, 'unknown_flow'],
    ['owner', { flow_id: 'flow_many', limit: 0 }, 'BAD_REQUEST'],
    ['owner', { flow_id: 'flow_many', limit: 201 }, 'BAD_REQUEST'],
    ['owner', { flow_id: 'many' }, 'BAD_REQUEST'],
    ['viewer', { flow_id: 'flow_gone' }, 'unknown_flow'],
  ])('[S002-7-same-refusal] every door refuses %s asking %o with %s', async (who, input, code) => {
    const [first, ...others] = await askAll(who, input);
    expect(JSON.parse(first?.text ?? '')).toMatchObject({ code });
    for (const other of others) expect(other).toEqual(first);
  });

  it('[FLR-versions] lists versions from the highest, with what tells them apart', async () => {
    const { body } = await get('/api/v1/flows/flow_many/versions');
    expect(body).toMatchObject({
      schema: 'flowright.flow_versions/v1',
      vault_id: VAULT,
      flow_id: 'flow_many',
      latest_version: '1.10.0',
      retired_at: null,
      truncated: false,
    });
    expect((body.versions as object[]).map((version) => ({ ...version, state_id: '', created_at: '' }))).toEqual(
      HIGHEST_FIRST.map((version) => ({
        version,
        state_id: '',
        scope: 'personal',
        title: `Title of ${version}`,
        step_count: NUMBERS.indexOf(version) + 1,
        updated: '2026-01-01T00:00:00Z',
        created_at: '',
        proposal_id: version === '1.9.0' ? PROPOSAL : null,
      })),
    );
  });

  it('[FLR-versions] cuts at the limit and says so', async () => {
    const { body } = await get('/api/v1/flows/flow_many/versions?limit=2');
    expect((body as unknown as Versions).versions.map(({ version }) => version)).toEqual(['1.10.0', '1.9.0']);
    expect(body).toMatchObject({ latest_version: '1.10.0', truncated: true });
  });

  it('[FLR-versions] state ids are the tokens of the definitions, and the ETags of both routes', async () => {
    const listed = await get('/api/v1/flows/flow_many/versions?limit=4');
    const { versions } = listed.body as unknown as Versions;
    expect(listed.headers.etag).toBe(`"${versions[0]?.state_id}"`);
    expect((await get('/api/v1/flows/flow_many/versions?limit=1')).headers.etag).toBe(listed.headers.etag);
    expect((await get('/api/v1/flows/flow_many')).headers.etag).toBe(listed.headers.etag);
    for (const { version, state_id } of versions) {
      const { body, headers } = await get(`/api/v1/flows/flow_many?version=${version}`);
      const { flow, steps } = body as unknown as ReturnType<typeof sampleFlow>;
      expect(flowStateId(flow, steps)).toBe(state_id);
      expect(headers.etag).toBe(`"${state_id}"`);
    }
    expect((await get('/api/v1/flows')).headers.etag).toBeUndefined();
    expect((await get('/api/v1/flows/flow_not_there')).headers.etag).toBeUndefined();
  });

  it('[FLR-freshness-cross-process] a version that another process adds is listed at once', async () => {
    await addFlows(database, [sampleFlow('flow_grows')]);
    const before = await get('/api/v1/flows/flow_grows/versions');
    expect((before.body as unknown as Versions).versions).toHaveLength(1);
    await addFlows(database, [sampleFlow('flow_grows', { version: '1.0.1', title: 'Grown' })]);
    const after = await get('/api/v1/flows/flow_grows/versions');
    expect(after.body).toMatchObject({ latest_version: '1.0.1', versions: { length: 2 } });
    expect(after.headers.etag).not.toBe(before.headers.etag);
  });

  it('is a table for people', async () => {
    const { stdout } = await flowright(['flow', 'versions', 'flow_many', '--limit', '2'], options);
    const [header, first, , last] = stdout.split('\n');
    expect(header).toMatch(/^VERSION\s+STATE\s+SCOPE\s+STEPS\s+RECEIVED\s+PROPOSAL\s+TITLE$/);
    expect(first).toMatch(/^1\.10\.0\s+flowst1_\w+\s+\[personal\]\s+3\s+\d{4}-\S+\s+-\s+Title of 1\.10\.0$/);
    expect(last).toBe('(truncated)');
  });

  describe('[FLR-retire] a retired flow', () => {
    it('shows its versions to whoever administers, and when it was retired', async () => {
      const { body, status } = await get('/api/v1/flows/flow_gone/versions');
      expect(status).toBe(200);
      expect(body).toMatchObject({ retired_at: '2026-02-03T04:05:06.000Z', versions: [{ version: '1.0.0' }] });
      const local = await flowrightJson(['flow', 'versions', 'flow_gone'], options);
      expect(local).toEqual(body);
      expect(await must(['flow', 'versions', 'flow_gone'], options)).toMatch(
        /\(retired 2026-02-03T04:05:06\.000Z\)\n$/,
      );
    });

    it('can be read by its number by whoever administers, and not without one', async () => {
      const pinned = await get('/api/v1/flows/flow_gone?version=1.0.0');
      expect(pinned.status).toBe(200);
      expect(pinned.body).toMatchObject({ flow: { flow_id: 'flow_gone', version: '1.0.0' } });
      expect((await get('/api/v1/flows/flow_gone')).body).toMatchObject({ code: 'unknown_flow' });
      expect((await get('/api/v1/flows/flow_gone?version=1.0.1')).body).toMatchObject({ code: 'unknown_flow' });
      expect((await get('/api/v1/flows/flow_gone/diff')).body).toMatchObject({ from: null, to: '1.0.0' });
    });

    it('is unknown to everybody else, an agent of the owner included', async () => {
      const missing = JSON.parse((await askAll('viewer', { flow_id: 'flow_nope' }))[0]?.text ?? '');
      for (const answer of await askAll('viewer', { flow_id: 'flow_gone' })) {
        expect(JSON.parse(answer.text.replaceAll('flow_gone', 'flow_nope'))).toEqual(missing);
      }
      const agents = (doors.get('owner') ?? []).filter(({ name }) => name.startsWith('MCP'));
      expect(agents).toHaveLength(2);
      for (const agent of agents) {
        for (const [operation, input] of [
          ['flow.versions', {}],
          ['flow.get', { version: '1.0.0' }],
          ['flow.diff', {}],
        ] as const) {
          const { ok, text } = await agent.ask(operation, { flow_id: 'flow_gone', ...input });
          expect([ok, JSON.parse(text).code]).toEqual([false, 'unknown_flow']);
        }
      }
    });
  });
});
