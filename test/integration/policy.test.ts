import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { POLICY_KEY_NAMES, type PolicyKeyName } from '../../src/policy/policy-keys.ts';
import { onEachDatabase, type TestStore } from '../support/databases.ts';
import { sampleFlow } from '../support/flows.ts';
import {
  type Asker,
  type Body,
  done,
  type InProcessHub,
  openInProcessHub,
  outcome,
} from '../support/in-process-hub.ts';
import { flowright, flowrightJson, type ProgramOptions, startHub } from '../support/program.ts';

const AUTHORING = 'hub_flow_authoring_policy.json';
const PROPOSALS = 'hub_proposal_policy.json';
const FILES = [AUTHORING, PROPOSALS, 'hub_proposal_review_triggers.json', 'hub_proposal_rubric.json'];
const GATE = 'flow_authoring_writes_enabled';

onEachDatabase((_engine, makeStore) => {
  let store: TestStore;
  let hub: InProcessHub;
  let owner: Asker;

  beforeAll(async () => {
    store = await makeStore();
    hub = await openInProcessHub(store, { env: { HUB_EVALUATOR_MAY_APPROVE: '0' } });
    owner = hub.owner;
  });
  afterEach(() => {
    for (const file of FILES) rmSync(join(store.home, file), { force: true });
  });
  afterAll(async () => {
    await hub?.close();
    await store?.remove();
  });

  const set = (key: string, value: unknown, asker = owner) => asker.put(`/api/v1/policy/${key}`, { value });
  const entry = async (key: PolicyKeyName): Promise<Body> =>
    (await done(owner.get('/api/v1/policy'))).policies.find((each: Body) => each.key === key);
  const stored = (file: string) => JSON.parse(readFileSync(join(store.home, file), 'utf8'));
  const propose = () => outcome(owner.post('/api/v1/flows', { ...sampleFlow('flow_gated'), intent: 'x' }));

  describe('[S003-6-tri-state] policy show', () => {
    it('lists every policy, its value, what decides it and where', async () => {
      const shown = await done(owner.get('/api/v1/policy'));
      expect(Object.keys(shown)).toEqual(['schema', 'policies', 'rubric', 'damaged']);
      expect(shown.policies.map(({ key }: Body) => key)).toEqual(POLICY_KEY_NAMES);
      expect(shown).toMatchObject({ schema: 'flowright.policy/v1', damaged: [], rubric: { length: 5 } });
      expect(await entry('flow_authoring_writes_enabled')).toEqual({
        key: GATE,
        value: false,
        origin: 'default',
        env: 'FLOW_AUTHORING_WRITES',
        file: AUTHORING,
        summary: expect.stringMatching(/\S/),
      });
      expect(await entry('evaluator_may_approve')).toMatchObject({ value: false, origin: 'environment' });
    });

    it('is for every member, agents too', async () => {
      for (const membership of [
        { role: 'viewer' },
        { role: 'admin', agent: true },
        { role: 'viewer', ambiguous: true },
      ] as const) {
        const asker = await hub.asker(`shown-${JSON.stringify(membership).length}`, membership);
        expect(await outcome(asker.get('/api/v1/policy'))).toBe('200');
      }
    });

    it('names every file that is damaged, and shows what it governs as closed', async () => {
      for (const file of FILES) writeFileSync(join(store.home, file), 'not JSON');
      const shown = await done(owner.get('/api/v1/policy'));
      expect(shown.damaged.map(({ file }: Body) => file)).toEqual(FILES);
      expect(shown.rubric).toBeNull();
      const origins = Object.fromEntries(shown.policies.map(({ key, origin }: Body) => [key, origin]));
      expect(origins).toEqual({
        ...Object.fromEntries(POLICY_KEY_NAMES.map((key) => [key, 'closed'])),
        evaluator_may_approve: 'environment',
      });
    });
  });

  describe('[S003-6-gate] policy set', () => {
    it('opens the gate and closes it, at once', async () => {
      expect(await propose()).toBe('FLOW_AUTHORING_DISABLED');
      const opened = await done(set(GATE, 'true'));
      expect(opened.policies.find(({ key }: Body) => key === GATE)).toMatchObject({ value: true, origin: 'file' });
      expect(await propose()).toBe('201');
      await done(set(GATE, 'false'));
      expect(await propose()).toBe('FLOW_AUTHORING_DISABLED');
    });

    it('writes its key into its file and leaves the rest of it alone', async () => {
      writeFileSync(join(store.home, AUTHORING), '{"ours": {"a": [1]}, "flow_authoring_forbidden": false}');
      await done(set('flow_authoring_verification_kinds', 'human_review, artifact_exists'));
      expect(stored(AUTHORING)).toEqual({
        ours: { a: [1] },
        flow_authoring_forbidden: false,
        flow_authoring_verification_kinds: ['human_review', 'artifact_exists'],
      });
      await done(set('flow_authoring_forbidden', 'default'));
      expect(stored(AUTHORING)).not.toHaveProperty('flow_authoring_forbidden');
      expect(existsSync(join(store.home, PROPOSALS))).toBe(false);
      await done(set('flow_authoring_verification_kinds', ''));
      expect(await entry('flow_authoring_verification_kinds')).toMatchObject({ value: [], origin: 'file' });
    });

    it.each([
      [GATE, 'yes'],
      [GATE, '1'],
      [GATE, ''],
      [GATE, true],
      [GATE, null],
      ['flow_authoring_verification_kinds', 'magic'],
      ['flow_authoring_automatable_kinds', 'manual,,'],
      ['no_such_policy', 'true'],
      ['__proto__', 'true'],
    ])('refuses %s as %o', async (key, value) => {
      expect(await outcome(set(key, value))).toBe('BAD_REQUEST');
      expect(FILES.filter((file) => existsSync(join(store.home, file)))).toEqual([]);
    });

    it('does not pretend to change what the environment decides', async () => {
      const { body } = await set('evaluator_may_approve', 'true');
      expect(body).toMatchObject({ code: 'CONFLICT', message: expect.stringContaining('HUB_EVALUATOR_MAY_APPROVE') });
      expect(existsSync(join(store.home, PROPOSALS))).toBe(false);
    });

    it('[S003-6-tri-state] does not overwrite a file that it cannot read', async () => {
      for (const text of ['{"flow_authoring_forbidden": tru', '[]', '{"flow_import_allowed_tools": "jira"}']) {
        writeFileSync(join(store.home, AUTHORING), text);
        const { status, body } = await set(GATE, 'true');
        expect([status, body.code]).toEqual([422, 'POLICY_FILE_DAMAGED']);
        expect(readFileSync(join(store.home, AUTHORING), 'utf8')).toBe(text);
        expect(await propose()).toBe('FLOW_AUTHORING_POLICY_FORBIDDEN');
      }
    });

    it('by many at once loses nobody’s key', async () => {
      const keys = POLICY_KEY_NAMES.filter((key) => key !== 'evaluator_may_approve');
      const words: Partial<Record<PolicyKeyName, string>> = {
        flow_authoring_verification_kinds: 'human_review',
        flow_authoring_automatable_kinds: 'manual',
        flow_import_allowed_tools: 'a',
      };
      await Promise.all(keys.map((key) => done(set(key, words[key] ?? 'true'))));
      const { policies } = await done(owner.get('/api/v1/policy'));
      for (const { key, origin } of policies.filter(({ key }: Body) => keys.includes(key))) {
        expect([key, origin]).toEqual([key, 'file']);
      }
    });

    it('[FLR-people-decide] is for admins of the hub: no lesser role, no agent, no admin of another vault', async () => {
      await done(owner.post('/api/v1/vaults', { vault_id: 'apart' }));
      const refused = {
        viewer: await hub.asker('vera', { role: 'viewer' }),
        editor: await hub.asker('ed', { role: 'editor' }),
        evaluator: await hub.asker('eva', { role: 'evaluator' }),
        agent: await hub.asker('bot', { role: 'admin', agent: true }),
        'admin elsewhere': await hub.asker('amy', { role: 'admin', vault: 'apart' }),
      };
      for (const [who, asker] of Object.entries(refused)) {
        expect([who, await outcome(set(GATE, 'true', asker))]).toEqual([who, 'FORBIDDEN']);
      }
      const elsewhere = await owner.put(`/api/v1/policy/${GATE}`, { value: 'true' }, { 'x-vault-id': 'apart' });
      expect(elsewhere.body.code).toBe('FORBIDDEN');
      expect(existsSync(join(store.home, AUTHORING))).toBe(false);
    });

    it('[FLR-audit-chain] is audited, refusals too', async () => {
      await done(set(GATE, 'true'));
      const { entries } = await done(owner.get('/api/v1/audit?limit=50'));
      const lines = entries.filter(({ action }: Body) => action === 'policy.set');
      expect(lines[0]).toMatchObject({ user_id: 'local', detail: { key: GATE, value: 'true' } });
      expect(JSON.stringify(lines)).toContain('FORBIDDEN');
    });
  });
});

onEachDatabase((engine, makeStore) => {
  it('[S003-6-gate] policies are shown and set alike by command, by command over a hub and by REST, for all at once', async () => {
    const store = await makeStore();
    const options: ProgramOptions = { home: store.home, databaseUrl: store.databaseUrl };
    const { token } = await flowrightJson<Body>(['token', 'create', '--user', 'local'], options);
    const hub = await startHub(options);
    try {
      const remote = { ...options, env: { FLOWRIGHT_HUB: hub.url, FLOWRIGHT_HUB_TOKEN: token } };
      const rest = async () =>
        (await fetch(new URL('/api/v1/policy', hub.url), { headers: { authorization: `Bearer ${token}` } })).json();
      const everywhere = async () =>
        Promise.all([
          flowrightJson<Body>(['policy', 'show'], options),
          flowrightJson<Body>(['policy', 'show'], remote),
          rest(),
        ]);
      await flowrightJson(['policy', 'set', GATE, 'true'], options);
      const opened = await everywhere();
      for (const shown of opened) expect(shown).toEqual(opened[0]);
      expect(opened[0].policies[0]).toMatchObject({ key: GATE, value: true, origin: 'file' });
      const closed = await flowrightJson<Body>(['policy', 'set', GATE, 'default'], remote);
      for (const shown of await everywhere()) expect(shown).toEqual(closed);
      writeFileSync(join(store.home, AUTHORING), `damaged on ${engine}`);
      const { status, stdout } = await flowright(['policy', 'show'], remote);
      expect(status, 'bad news end with 1').toBe(1);
      expect(stdout).toMatch(/DAMAGED hub_flow_authoring_policy\.json: .* What it governs is closed\./);
    } finally {
      await hub.stop();
      await store.remove();
    }
  });
});
