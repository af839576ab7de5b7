import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { addFlows } from '../data-integrity/library.ts';
import { onEachDatabase, type TestStore } from '../support/databases.ts';
import { sampleFlow } from '../support/flows.ts';
import { type Hub, type ProgramOptions, startHub } from '../support/program.ts';
import { must, tokenFor } from './people.ts';
import { ask, expectRefusal } from './rest.ts';

/** Each member and the tiers it holds. */
const MEMBERS = [
  { user: 'vera', role: 'viewer', own: undefined, sees: ['personal'] },
  { user: 'edna', role: 'editor', own: undefined, sees: ['personal', 'project'] },
  { user: 'adam', role: 'admin', own: undefined, sees: ['personal', 'project', 'org'] },
  { user: 'ned', role: 'admin', own: 'personal', sees: ['personal'] },
  { user: 'olga', role: 'viewer', own: 'personal,project,org', sees: ['personal', 'project', 'org'] },
];

/** Flow → the tier of its latest version. The first was lower before, the second higher. */
const FLOWS = { flow_raised: 'org', flow_lowered: 'personal', flow_steady: 'project' };

const QUESTIONS = [
  'versions',
  'versions?limit=1',
  'diff',
  'diff?to=1.0.0',
  'diff?from=1.0.0&to=2.0.0',
  'diff?from=2.0.0&to=1.0.0',
  'diff?to=9.9.9',
];

onEachDatabase((_engine, makeStore) => {
  let store: TestStore;
  let hub: Hub;
  const tokens = new Map<string, string>();

  beforeAll(async () => {
    store = await makeStore();
    const options: ProgramOptions = { home: store.home, databaseUrl: store.databaseUrl };
    for (const { user, role, own } of MEMBERS) {
      tokens.set(user, await tokenFor(options, user, { role }));
      if (own) await must(['member', 'set', user, '--role', role, '--scopes', own], options);
    }
    tokens.set('robot', await tokenFor(options, 'robot', { role: 'admin', agent: true }));
    tokens.set('max', await tokenFor(options, 'max', { role: 'admin' }));
    await must(['member', 'set', 'max', '--role', 'admin', '--ambiguous'], options);
    const database = await store.open();
    await addFlows(database, [
      sampleFlow('flow_raised', { version: '1.0.0', scope: 'personal', title: 'Once open' }),
      sampleFlow('flow_raised', { version: '2.0.0', scope: 'org', title: 'Quagga' }),
      sampleFlow('flow_lowered', { version: '1.0.0', scope: 'org' }),
      sampleFlow('flow_lowered', { version: '2.0.0', scope: 'personal' }),
      sampleFlow('flow_steady', { version: '1.0.0', scope: 'project' }),
      sampleFlow('flow_steady', { version: '2.0.0', scope: 'project', steps: 3 }),
      sampleFlow('flow_gone', { version: '1.0.0' }),
      sampleFlow('flow_gone', { version: '2.0.0', steps: 3 }),
    ]);
    await database.queries
      .updateTable('flows')
      .set({ retired_at: '2026-01-02T00:00:00Z' })
      .where('flow_id', '=', 'flow_gone')
      .execute();
    hub = await startHub(options);
  });

  afterAll(async () => {
    await hub?.stop();
    await store?.remove();
  });

  const askAs = (user: string, path: string) =>
    ask(hub, `/api/v1/flows/${path}`, { token: tokens.get(user), headers: { 'x-request-id': 'diff-scope' } });

  describe.each(MEMBERS)('$role $user with scopes $own', ({ user, sees }) => {
    it('[S002-4-no-existence-leak] learns of versions and differences only where the latest version is visible', async () => {
      for (const [flowId, scope] of Object.entries(FLOWS)) {
        for (const question of QUESTIONS) {
          const reply = await askAs(user, `${flowId}/${question}`);
          const missing = await askAs(user, `flow_missing/${question}`);
          expectRefusal(missing, 404, 'unknown_flow');
          if (sees.includes(scope) && !question.includes('9.9.9')) {
            expect(reply.status, `${flowId} ${question}`).toBe(200);
            continue;
          }
          expectRefusal(reply, 404, 'unknown_flow');
          expect(reply.headers.etag).toBeUndefined();
          if (!sees.includes(scope)) expect(reply.text.replaceAll(flowId, 'flow_missing')).toBe(missing.text);
        }
      }
    });
  });

  it('[FLR-retire] a retired flow is as missing to all but people who administer and hold its scope', async () => {
    for (const question of [...QUESTIONS.map((path) => `/${path}`), '', '?version=1.0.0']) {
      // Those who may see it ask first and last, so that an answer kept ready for them would be found out.
      for (const user of ['adam', 'vera', 'edna', 'olga', 'robot', 'adam', 'ned']) {
        const reply = await askAs(user, `flow_gone${question}`);
        const mayAdminister = user === 'adam' || user === 'ned';
        if (mayAdminister && question !== '' && !question.includes('9.9.9')) {
          expect(reply.status, `${user} ${question}`).toBe(200);
          continue;
        }
        const missing = await askAs(user, `flow_none${question}`);
        expectRefusal(reply, 404, 'unknown_flow');
        const isPast = mayAdminister && question.includes('9.9.9');
        if (!isPast) expect(reply.text.replaceAll('flow_gone', 'flow_none')).toBe(missing.text);
      }
    }
  });

  it.each([
    'flow_lowered/versions',
    'flow_lowered/diff',
    'flow_missing/diff',
    `flow_lowered/diff?proposal_id=${uuid(1)}`,
  ])('[S002-4-ambiguous] an ambiguous membership is refused at %s', async (path) =>
    expectRefusal(await askAs('max', path), 400, 'FLOW_SCOPE_AMBIGUOUS'),
  );

  it('[S002-8.4-no-secrets] no key in an answer is named like a secret', async () => {
    for (const question of ['flow_lowered/versions', 'flow_lowered/diff', 'flow_steady/diff?to=1.0.0']) {
      const { text } = await askAs('adam', question);
      expect(text).not.toMatch(/"(?:token|oauth|refresh_token|api_key|secret|password)"/);
    }
  });
});

function uuid(number: number): string {
  return `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`;
}
