import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { getFlow, listFlows, searchFlows } from '../../src/flows/index.ts';
import { onEachDatabase, type TestStore } from '../support/databases.ts';
import { sampleFlow } from '../support/flows.ts';
import { flowright, flowrightJson, type Hub, type ProgramOptions, startHub } from '../support/program.ts';
import { openInside } from './inside.ts';
import { importFlows } from './library.ts';
import { tokenFor } from './people.ts';
import { ask, expectRefusal } from './rest.ts';

const SCOPES = ['personal', 'project', 'org'] as const;
type Scope = (typeof SCOPES)[number];

const PERSONAL = [
  'flow_capture_to_note',
  'flow_opened',
  'flow_research_brief',
  'flow_reviewed_writeback',
  'flow_session_to_flow',
];
const PROJECT = ['flow_multi_repo_change', 'flow_overseer_handover'];
const ORG = ['flow_for_org', 'flow_moved'];
const FLOWS: Record<Scope, string[]> = { personal: PERSONAL, project: PROJECT, org: ORG };

/** Each member and the scopes it must see. */
const MEMBERS: { user: string; role: string; own?: string; sees: Scope[] }[] = [
  { user: 'vera', role: 'viewer', sees: ['personal'] },
  { user: 'edna', role: 'editor', sees: ['personal', 'project'] },
  { user: 'evan', role: 'evaluator', sees: ['personal', 'project'] },
  { user: 'adam', role: 'admin', sees: ['personal', 'project', 'org'] },
  { user: 'kim', role: 'viewer', own: 'project', sees: ['project'] },
  { user: 'olga', role: 'viewer', own: 'personal,org', sees: ['personal', 'org'] },
  { user: 'ned', role: 'admin', own: 'personal', sees: ['personal'] },
];

onEachDatabase((engine, makeStore) => {
  let store: TestStore;
  let hub: Hub;
  let options: ProgramOptions;
  const tokens = new Map<string, string>();

  beforeAll(async () => {
    store = await makeStore();
    options = { home: store.home, databaseUrl: store.databaseUrl };
    await importFlows(options, [
      sampleFlow('flow_for_org', { scope: 'org', title: 'Zanzibar' }),
      sampleFlow('flow_moved', { version: '1.0.0', scope: 'personal', title: 'Quagga' }),
      sampleFlow('flow_moved', { version: '2.0.0', scope: 'org', title: 'Quagga' }),
      sampleFlow('flow_opened', { version: '1.0.0', scope: 'org' }),
      sampleFlow('flow_opened', { version: '2.0.0', scope: 'personal' }),
    ]);
    for (const { user, role } of [...MEMBERS, { user: 'max', role: 'admin' }]) {
      tokens.set(user, await tokenFor(options, user, { role }));
    }
    const inside = await openInside(store, {});
    for (const { user, role, own } of MEMBERS) if (own) await inside.member(user, role, { scopes: own.split(',') });
    await inside.member('max', 'admin', { ambiguous: true });
    await inside.close();
    hub = await startHub(options);
  });

  afterAll(async () => {
    await hub?.stop();
    await store?.remove();
  });

  const askAs = (user: string, path: string) => ask(hub, path, { token: tokens.get(user), headers: RID });
  const idsOf = (body: Record<string, unknown>) =>
    (body.flows as { flow_id: string }[]).map(({ flow_id }) => flow_id).sort();
  const idsSeenBy = (sees: readonly Scope[]) => sees.flatMap((scope) => FLOWS[scope]).sort();

  describe.each(MEMBERS)('$role $user with scopes $own', ({ user, sees }) => {
    it('[S002-4-authorisation] [S002-4-deny-by-default] lists exactly the flows of the held scopes', async () => {
      const { status, body } = await askAs(user, '/api/v1/flows');
      expect(status).toBe(200);
      expect(idsOf(body)).toEqual(idsSeenBy(sees));
      expect(body.effective_scope).toBe(sees.at(-1));
    });

    it('[S002-4-authorisation] a requested scope narrows to it or is refused', async () => {
      for (const scope of SCOPES) {
        const reply = await askAs(user, `/api/v1/flows?scope=${scope}`);
        if (sees.includes(scope)) expect(idsOf(reply.body)).toEqual(FLOWS[scope]);
        else expectRefusal(reply, 403, 'FLOW_SCOPE_DENIED');
        const search = await askAs(user, `/api/v1/flows/search?query=zanzibar&scope=${scope}`);
        if (!sees.includes(scope)) expectRefusal(search, 403, 'FLOW_SCOPE_DENIED');
      }
    });

    it('[S002-1.5-get-null] [S002-4-no-existence-leak] gets what it lists and nothing else', async () => {
      const missing = (await askAs(user, '/api/v1/flows/flow_missing')).text;
      for (const scope of SCOPES) {
        for (const flowId of FLOWS[scope]) {
          const reply = await askAs(user, `/api/v1/flows/${flowId}`);
          if (sees.includes(scope)) expect(reply.status).toBe(200);
          else expectRefusal(reply, 404, 'unknown_flow');
          if (!sees.includes(scope)) expect(reply.text.replaceAll(flowId, 'flow_missing')).toBe(missing);
        }
      }
    });

    it('[S002-4-deny-by-default] search finds words of the held scopes only', async () => {
      const { body } = await askAs(user, '/api/v1/flows/search?query=zanzibar');
      expect(idsOf(body)).toEqual(sees.includes('org') ? ['flow_for_org'] : []);
    });
  });

  it.each(['/api/v1/flows', '/api/v1/flows/flow_opened', '/api/v1/flows/search?query=a', '/api/v1/flows?scope=org'])(
    '[S002-4-ambiguous] an ambiguous membership is refused at %s',
    async (path) => expectRefusal(await askAs('max', path), 400, 'FLOW_SCOPE_AMBIGUOUS'),
  );

  it('[S002-4-no-existence-leak] a flow that moved from personal to org is gone for a viewer in every version', async () => {
    for (const question of ['', '?version=1.0.0', '?version=2.0.0', '?version=9.9.9']) {
      const reply = await askAs('vera', `/api/v1/flows/flow_moved${question}`);
      const missing = await askAs('vera', `/api/v1/flows/flow_absent${question}`);
      expectRefusal(reply, 404, 'unknown_flow');
      expect(reply.text.replaceAll('flow_moved', 'flow_absent')).toBe(missing.text);
    }
    expect(idsOf((await askAs('vera', '/api/v1/flows/search?query=quagga')).body)).toEqual([]);
    expect((await askAs('olga', '/api/v1/flows/flow_moved?version=1.0.0')).status).toBe(200);
  });

  it('[S002-2.2-version] a flow that moved from org to personal is open in every version', async () => {
    const { status, body } = await askAs('vera', '/api/v1/flows/flow_opened?version=1.0.0');
    expect(status).toBe(200);
    expect(body.flow).toMatchObject({ version: '1.0.0', scope: 'org' });
  });

  it('[S002-1.5-default-scope] [S002-1.5-get-null] without resolved scopes the library shows personal flows only', async () => {
    const database = await store.open();
    await askAs('adam', '/api/v1/flows');
    expect(idsOf(await listFlows(database, 'default', {}))).toEqual(PERSONAL);
    expect(idsOf(await searchFlows(database, 'default', { query: 'zanzibar' }))).toEqual([]);
    expect(await getFlow(database, 'default', 'flow_for_org', {})).toBeNull();
    expect(await getFlow(database, 'default', 'flow_missing', {})).toBeNull();
    expect(await getFlow(database, 'default', "flow_a' or 1=1 --", {})).toBeNull();
    expect(idsOf(await listFlows(database, 'default', { visibleScopes: new Set() }))).toEqual([]);
  });

  // A process a question: what it asks of the database is what the hub asks, which is proved on both engines.
  const isAsked = engine === 'sqlite' || process.env.TEST_DATABASES === 'all';
  describe.runIf(isAsked)('[S002-3-cli-scope] the command line', () => {
    const localList = async (env: Record<string, string>) =>
      idsOf(await flowrightJson(['flow', 'list'], { ...options, env }));

    it('without an identity sees personal flows and may do nothing else', async () => {
      const config = join(store.home, 'config.yaml');
      writeFileSync(config, '# nobody in particular\n');
      const nobody = { ...options, env: { FLOWRIGHT_IDENTITY: '' } };
      expect(await localList(nobody.env)).toEqual(PERSONAL);
      const refusals: [string[], string][] = [
        [['flow', 'list', '--scope', 'org'], 'FLOW_SCOPE_DENIED'],
        [['flow', 'get', 'flow_overseer_handover'], 'unknown_flow'],
        [['member', 'list'], 'FORBIDDEN'],
        [['token', 'create', '--user', 'eve', '--role', 'admin'], 'FORBIDDEN'],
        [['flow', 'store', 'export', store.home], 'FORBIDDEN'],
      ];
      for (const [args, code] of refusals) {
        const { status, stderr } = await flowright([...args, '--json'], nobody);
        expect(status).toBe(1);
        expect(JSON.parse(stderr)).toMatchObject({ code });
      }
      writeFileSync(config, 'identity: local\n');
    });

    it('sees what its identity sees on the hub', async () => {
      for (const { user, sees } of MEMBERS) {
        expect(await localList({ FLOWRIGHT_IDENTITY: user }), user).toEqual(idsSeenBy(sees));
      }
    });

    it('flow.visible_scopes narrows', async () => {
      expect(await localList({ FLOWRIGHT_FLOW_VISIBLE_SCOPES: 'personal' })).toEqual(PERSONAL);
      expect(await localList({ FLOWRIGHT_FLOW_VISIBLE_SCOPES: 'org' })).toEqual(ORG);
    });

    it('flow.visible_scopes never widens', async () => {
      const everything = { FLOWRIGHT_FLOW_VISIBLE_SCOPES: 'personal,project,org' };
      expect(await localList({ FLOWRIGHT_IDENTITY: 'vera', ...everything })).toEqual(PERSONAL);
      expect(await localList({ FLOWRIGHT_IDENTITY: 'kim', ...everything })).toEqual(PROJECT);
    });

    it('flow.visible_scopes without overlap shows nothing the identity does not hold', async () => {
      const seen = await localList({ FLOWRIGHT_IDENTITY: 'kim', FLOWRIGHT_FLOW_VISIBLE_SCOPES: 'personal' });
      expect(seen.filter((flowId) => !PROJECT.includes(flowId))).toEqual([]);
    });
  });
});

/** Fixed, so that answers can be compared as text. */
const RID = { 'x-request-id': 'scope-test' };
