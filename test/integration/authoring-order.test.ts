import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { FlowBundle } from '../../src/flows/index.ts';
import { onEachDatabase, type TestStore } from '../support/databases.ts';
import { sampleFlow } from '../support/flows.ts';
import { type Asker, type Body, done, type InProcessHub, openInProcessHub } from '../support/in-process-hub.ts';

const POLICY = 'hub_flow_authoring_policy.json';
const OPEN = { flow_authoring_writes_enabled: true };
const HIDDEN = 'flow_overseer_handover';
const STALE = 'flowst1_0000000000000000';

type Request = Record<string, unknown>;

/** One mistake taken out of a request, or out of the world around it; what is left is refused with the next code. */
interface Rung {
  /** The code while this mistake is there. */
  code: string;
  /** Places in details.errors, where there are any. */
  places?: string[];
  mend(): Promise<void> | void;
}

onEachDatabase((_engine, makeStore) => {
  let store: TestStore;
  let hub: InProcessHub;
  let admin: Asker;

  beforeAll(async () => {
    store = await makeStore();
    hub = await openInProcessHub(store);
    admin = hub.owner;
  });
  afterAll(async () => {
    await hub?.close();
    await store?.remove();
  });

  const policy = (values: object | null) => {
    const file = join(store.home, POLICY);
    if (values === null) rmSync(file, { force: true });
    else writeFileSync(file, JSON.stringify(values));
  };
  const proposalIds = async () =>
    (await done(admin.get('/api/v1/proposals?limit=100'))).proposals.map(({ proposal_id }: Body) => proposal_id);
  const stateOf = async (flowId: string): Promise<{ version: string; state_id: string }> =>
    (await done(admin.get(`/api/v1/flows/${flowId}/versions`))).versions[0];

  /** Climbs from all mistakes at once to none: the first that is left is always the answer, and nothing is written. */
  async function climb(ask: () => Promise<{ status: number; body: Body }>, rungs: Rung[]): Promise<void> {
    const before = await proposalIds();
    for (const { code, places, mend } of rungs) {
      const { body } = await ask();
      expect(body.code, JSON.stringify(body.details)).toBe(code);
      if (places) expect(body.details.errors.map(({ path }: Body) => path)).toEqual(places);
      expect(await proposalIds()).toEqual(before);
      await mend();
    }
    const { status, body } = await ask();
    expect(status, JSON.stringify(body)).toBe(201);
    expect(await proposalIds()).toEqual([body.proposal_id, ...before]);
  }

  it('[S003-6-gate] [S003-6-policy] [S003-2-ambiguous] [S003-2-write-authority] [S003-4-conflict] [S003-4-version-greater] an edit is refused for its first mistake', async () => {
    const { flow, steps } = (await done(admin.get('/api/v1/flows/flow_capture_to_note'))) as FlowBundle;
    const current = await stateOf('flow_capture_to_note');
    const kinds = { flow_authoring_verification_kinds: ['test_pass'] };
    let asker = await hub.asker('lee', { role: 'viewer', ambiguous: true });
    const request: Request = {
      flow: { ...flow, scope: 'project', version: '0.0.9' },
      steps,
      base_version: '9.9.9',
      surplus: 1,
    };
    let url = '/api/v1/flows/flow_other/proposals';
    policy({ flow_authoring_forbidden: true, ...kinds });
    await climb(
      () => asker.post(url, request),
      [
        { code: 'FLOW_AUTHORING_POLICY_FORBIDDEN', mend: () => policy(kinds) },
        { code: 'FLOW_AUTHORING_DISABLED', mend: () => policy({ ...OPEN, ...kinds }) },
        {
          code: 'FLOW_DRAFT_INVALID',
          places: ['/surplus', '/intent', '/flow/flow_id'],
          mend: () => {
            url = '/api/v1/flows/flow_capture_to_note/proposals';
            request.intent = 'Better';
            delete request.surplus;
          },
        },
        {
          code: 'FLOW_SCOPE_AMBIGUOUS',
          mend: async () => {
            asker = await hub.asker('lee', { role: 'viewer' });
          },
        },
        {
          code: 'FLOW_SCOPE_DENIED',
          mend: () => {
            request.flow = { ...(request.flow as object), scope: 'personal' };
          },
        },
        {
          code: 'FLOW_AUTHORING_POLICY_FORBIDDEN',
          places: steps.map((_, at) => `/steps/${at}/verification/kind`),
          mend: () => policy(OPEN),
        },
        {
          code: 'FLOW_DRAFT_INVALID',
          places: ['/base_state_id'],
          mend: () => {
            request.base_state_id = STALE;
          },
        },
        {
          code: 'FLOW_LINEAGE_CONFLICT',
          mend: () => {
            request.base_version = current.version;
          },
        },
        {
          code: 'FLOW_LINEAGE_CONFLICT',
          mend: () => {
            request.base_state_id = current.state_id;
          },
        },
        {
          code: 'FLOW_DRAFT_INVALID',
          places: ['/flow/version'],
          mend: () => {
            request.flow = { ...(request.flow as object), version: '9.0.0' };
          },
        },
      ],
    );
  });

  it('[S003-5-import] an import is refused for its first mistake', async () => {
    const { flow, steps } = sampleFlow('flow_brought', { scope: 'org' });
    const rough = steps.map((step) => ({
      ...step,
      skill_refs: [{ kind: 'external_tool', id: 'shell' }],
      automatable: 'automatable',
    }));
    const strict = { flow_import_reject_external_tools: true, flow_import_automatable_forbidden: true };
    const kinds = { flow_authoring_verification_kinds: ['test_pass'] };
    let asker = await hub.asker('kit', { role: 'editor', ambiguous: true });
    const request = {
      bundle: { flow: { ...flow, flow_id: 'flow_capture_to_note' }, steps: rough },
      intent: ' ',
    } as Body;
    const named = (flowId: string) => {
      request.bundle.flow = {
        ...flow,
        scope: request.bundle.flow.scope,
        flow_id: flowId,
        steps: [1, 2].map((at) => `${flowId}#${at}`),
      };
      request.bundle.steps = request.bundle.steps.map((step: Body, at: number) => ({
        ...step,
        flow_id: flowId,
        step_id: `${flowId}#${at + 1}`,
      }));
    };
    policy({ flow_authoring_forbidden: true, ...strict, ...kinds });
    await climb(
      () => asker.post('/api/v1/flows/import', request),
      [
        { code: 'FLOW_AUTHORING_POLICY_FORBIDDEN', mend: () => policy({ ...strict, ...kinds }) },
        { code: 'FLOW_AUTHORING_DISABLED', mend: () => policy({ ...OPEN, ...strict, ...kinds }) },
        {
          code: 'FLOW_IMPORT_BUNDLE_MALFORMED',
          mend: () => {
            named('flow_capture_to_note');
          },
        },
        {
          code: 'FLOW_IMPORT_BUNDLE_MALFORMED',
          places: ['/intent'],
          mend: () => {
            request.intent = 'Use it';
          },
        },
        {
          code: 'FLOW_SCOPE_AMBIGUOUS',
          mend: async () => {
            asker = await hub.asker('kit', { role: 'editor' });
          },
        },
        {
          code: 'FLOW_IMPORT_SCOPE_DENIED',
          mend: () => {
            request.bundle.flow.scope = 'project';
          },
        },
        { code: 'FLOW_AUTHORING_POLICY_FORBIDDEN', mend: () => policy({ ...OPEN, ...strict }) },
        {
          code: 'FLOW_IMPORT_EXTERNAL_TOOL_DENIED',
          mend: () => policy({ ...OPEN, ...strict, flow_import_allowed_tools: ['shell'] }),
        },
        { code: 'FLOW_IMPORT_AUTOMATABLE_DENIED', mend: () => policy(OPEN) },
        { code: 'FLOW_LINEAGE_CONFLICT', mend: () => named('flow_brought') },
      ],
    );
  });

  it('[FLR-retire] a retirement is refused for its first mistake', async () => {
    let asker = await hub.asker('pat', { role: 'viewer', ambiguous: true });
    const request: Request = { base_version: '9.9.9' };
    policy({ flow_authoring_forbidden: true });
    await climb(
      () => asker.post(`/api/v1/flows/${HIDDEN}/retire`, request),
      [
        { code: 'FLOW_AUTHORING_POLICY_FORBIDDEN', mend: () => policy(null) },
        { code: 'FLOW_AUTHORING_DISABLED', mend: () => policy(OPEN) },
        {
          code: 'FLOW_DRAFT_INVALID',
          places: ['/intent'],
          mend: () => {
            request.intent = 'Old';
          },
        },
        {
          code: 'FLOW_SCOPE_AMBIGUOUS',
          mend: async () => {
            asker = await hub.asker('pat', { role: 'viewer' });
          },
        },
        {
          code: 'unknown_flow',
          mend: async () => {
            asker = await hub.asker('pat', { role: 'evaluator' });
          },
        },
        {
          code: 'FLOW_SCOPE_DENIED',
          mend: async () => {
            asker = await hub.asker('pat', { role: 'editor' });
          },
        },
        {
          code: 'FLOW_DRAFT_INVALID',
          places: ['/base_state_id'],
          mend: () => {
            request.base_state_id = STALE;
          },
        },
        {
          code: 'FLOW_LINEAGE_CONFLICT',
          mend: async () => {
            const { version, state_id } = await stateOf(HIDDEN);
            Object.assign(request, { base_version: version, base_state_id: state_id });
          },
        },
      ],
    );
  });

  describe('with authoring open', () => {
    beforeAll(() => policy(OPEN));

    it('[S003-2-no-existence-leak] an edit of an unreadable flow answers exactly like one of a missing flow', async () => {
      const viewer = await hub.asker('vera', { role: 'viewer' });
      const answers = await Promise.all(
        [HIDDEN, 'flow_overseer_handoverx'].flatMap((flowId) =>
          ['0.1.0', '7.7.7'].map(async (base_version) => {
            const { flow, steps } = sampleFlow(flowId, { version: '8.0.0' });
            const request = { flow, steps, intent: 'x', base_version, base_state_id: (await stateOf(HIDDEN)).state_id };
            const { status, body } = await viewer.post('/api/v1/flows', request);
            return { status, text: JSON.stringify({ ...body, request_id: '' }).replaceAll(flowId, 'F') };
          }),
        ),
      );
      expect(answers[0]).toMatchObject({ status: 404, text: expect.stringContaining('"unknown_flow"') });
      for (const answer of answers) expect(answer).toEqual(answers[0]);
    });

    it('[S003-2-no-existence-leak] a new flow under an id that is taken above one’s scope is accepted as any other', async () => {
      const viewer = await hub.asker('vera', { role: 'viewer' });
      const { flow, steps } = sampleFlow(HIDDEN, { version: '0.0.1' });
      const taken = await done(viewer.post('/api/v1/flows', { flow, steps, intent: 'x' }));
      const free = await done(viewer.post('/api/v1/flows', { ...sampleFlow('flow_free'), intent: 'x' }));
      expect({ ...taken, proposal_id: '', flow_id: '' }).toEqual({ ...free, proposal_id: '', flow_id: '' });
      const record = await done(viewer.get(`/api/v1/proposals/${taken.proposal_id}`));
      expect(record).toMatchObject({ status: 'proposed', rebase: null });
    });

    it('[S003-2-write-authority] whoever sees a flow but may not write it learns that', async () => {
      const evaluator = await hub.asker('eli', { role: 'evaluator' });
      const { version, state_id } = await stateOf(HIDDEN);
      const { flow, steps } = sampleFlow(HIDDEN, { version: '9.0.0', scope: 'personal' });
      const request = { flow, steps, intent: 'x', base_version: version, base_state_id: state_id };
      const { body } = await evaluator.post('/api/v1/flows', request);
      expect(body.code).toBe('FLOW_SCOPE_DENIED');
    });

    it('[S003-2-no-widening] no draft widens what its author may write, by any member', async () => {
      const tiers = { viewer: ['personal'], evaluator: ['personal'], editor: ['personal', 'project'] } as const;
      const before = await proposalIds();
      for (const [role, writable] of Object.entries(tiers)) {
        const asker = await hub.asker(`tier-${role}`, {
          role: role as 'viewer',
          scopes: ['personal', 'project', 'org'],
        });
        for (const scope of ['personal', 'project', 'org'] as const) {
          if ((writable as readonly string[]).includes(scope)) continue;
          const draft = sampleFlow('flow_tiers', { scope });
          for (const more of [{}, { scope: 'personal' }, { role: 'admin' }, { auto_approvable: true }]) {
            const { body } = await asker.post('/api/v1/flows', { ...draft, intent: 'x', ...more });
            expect(['FLOW_SCOPE_DENIED', 'FLOW_DRAFT_INVALID']).toContain(body.code);
          }
          const { body } = await asker.post('/api/v1/flows/import', { bundle: draft, intent: 'x' });
          expect(body.code).toBe('FLOW_IMPORT_SCOPE_DENIED');
        }
      }
      expect(await proposalIds()).toEqual(before);
    });

    it('[S003-1.1-new-or-edit] any part of a base makes it an edit, and then all of it is needed', async () => {
      const { version, state_id } = await stateOf('flow_capture_to_note');
      const draft = { ...sampleFlow('flow_capture_to_note', { version: '9.0.0' }), intent: 'x' };
      const places = async (request: object, url = '/api/v1/flows') => {
        const { body } = await admin.post(url, { ...draft, ...request });
        return [body.code, ...(body.details?.errors ?? []).map(({ path }: Body) => path)];
      };
      expect(await places({})).toEqual(['FLOW_LINEAGE_CONFLICT']);
      expect(await places({ base_version: version })).toEqual(['FLOW_DRAFT_INVALID', '/base_state_id']);
      expect(await places({ base_state_id: state_id })).toEqual(['FLOW_DRAFT_INVALID', '/base_version']);
      const edit = '/api/v1/flows/flow_capture_to_note/proposals';
      expect(await places({}, edit)).toEqual(['FLOW_DRAFT_INVALID', '/base_version', '/base_state_id']);
      for (const base_version of [null, 7, 'v1', '1.0', '01.0.0']) {
        expect(await places({ base_version, base_state_id: state_id })).toEqual([
          'FLOW_DRAFT_INVALID',
          '/base_version',
        ]);
      }
      expect(await places({ base_version: version, base_state_id: 'kn1_0000000000000000' })).toEqual([
        'FLOW_DRAFT_INVALID',
        '/base_state_id',
      ]);
    });

    it('[S003-4-conflict] a stale base is a conflict that carries what is current', async () => {
      const current = await stateOf('flow_capture_to_note');
      const expected = { current_version: current.version, current_state_id: current.state_id };
      const draft = { ...sampleFlow('flow_capture_to_note', { version: '9.0.0' }), intent: 'x' };
      for (const base of [
        {},
        { base_version: '0.0.1', base_state_id: current.state_id },
        { base_version: current.version, base_state_id: STALE },
      ]) {
        const { status, body } = await admin.post('/api/v1/flows', { ...draft, ...base });
        expect([status, body.code, body.details]).toEqual([409, 'FLOW_LINEAGE_CONFLICT', expected]);
      }
      const imported = await admin.post('/api/v1/flows/import', { ...draft });
      expect([imported.body.code, imported.body.details]).toEqual(['FLOW_LINEAGE_CONFLICT', expected]);
    });

    it('[S003-4-version-greater] an edit has to go up, by numbers and not by letters', async () => {
      const { version, state_id } = await stateOf('flow_capture_to_note');
      const [major, minor, patch] = version.split('.').map(Number) as [number, number, number];
      const base = { base_version: version, base_state_id: state_id, intent: 'x' };
      const ask = async (next: string) => {
        const { flow, steps } = sampleFlow('flow_capture_to_note', { version: next });
        const { status, body } = await admin.post('/api/v1/flows', { flow, steps, ...base });
        return status === 201 ? 201 : body.details.errors;
      };
      const refused = [
        { code: 'version_not_greater', message: `must be greater than ${version}`, path: '/flow/version' },
      ];
      expect(await ask(version)).toEqual(refused);
      expect(await ask('0.0.0')).toEqual(refused);
      expect(await ask(`${major}.${minor}.${patch + 10}`)).toBe(201);
      expect(await ask(`${major}.${minor + 9}.0`)).toBe(201);
      expect(await ask(`${major + 9}.0.0`)).toBe(201);
    });
  });
});
