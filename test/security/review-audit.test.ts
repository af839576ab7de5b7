import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createCatalogue } from '../../src/rooms.ts';
import { onEachDatabase, type TestStore } from '../support/databases.ts';
import { CANARY, canaryFlow } from './hidden.ts';
import { approve, type Inside, openInside, type Payload, propose } from './inside.ts';

const RUBRIC = ['accurate', 'no_secrets', 'matches_intent', 'pii', 'tone'];
const NOWHERE = '00000000-0000-4000-8000-000000000000';
const WRITES = (await createCatalogue().all())
  .filter(({ name, effect }) => effect !== 'read' && /^(flow|proposal|note|policy)\./.test(name))
  .map(({ name }) => name);

interface Line {
  sequence: number;
  user_id: string;
  action: string;
  outcome: string;
  code: string | null;
  occurrences: number;
  request_id: string;
  detail: Payload;
}

onEachDatabase((_engine, makeStore) => {
  let store: TestStore;
  let inside: Inside;

  beforeAll(async () => {
    store = await makeStore();
    inside = await openInside(store);
    for (const [user, role] of [
      ['vera', 'viewer'],
      ['edna', 'editor'],
      ['adam', 'admin'],
    ] as const)
      await inside.member(user, role);
    const { proposal_id } = await propose(inside, 'local', canaryFlow('flow_a', 'personal', '1.0.0'));
    const { mirror_path } = await approve(inside, 'local', proposal_id);
    mirror = join(store.home, 'vaults', 'default', mirror_path);
  });

  afterAll(async () => {
    await inside?.close();
    await store?.remove();
  });

  let mirror: string;
  const editMirror = () => {
    const bundle = canaryFlow('flow_a', 'personal', '1.0.0');
    bundle.flow.title = 'zqxbyhand';
    writeFileSync(mirror, `---\nzqx: zqx\n---\n\n\`\`\`json\n${JSON.stringify(bundle)}\n\`\`\`\n`);
  };
  const lines = async () => (await inside.as<{ entries: Line[] }>('local', 'audit.list', { limit: 200 })).entries;
  const open = async () => (await propose(inside, 'edna', canaryFlow(fresh(), 'personal', '1.0.0'))).proposal_id;
  let made = 0;
  const fresh = () => {
    made += 1;
    return `flow_w_${made}`;
  };
  const why = { intent: 'zqxintent', external_ref: 'zqxref' };

  /** Each write with the canary in every text, and the keys of what its line may say. */
  const acts: Record<string, { user: string; input: () => Promise<Payload> | Payload; says: string[] }> = {
    'flow.propose': {
      user: 'edna',
      input: () => ({ ...canaryFlow(fresh(), 'personal', '1.0.0'), ...why }),
      says: ['proposal_id', 'flow_id', 'base_version'],
    },
    'flow.import': {
      user: 'edna',
      input: () => ({ bundle: canaryFlow(fresh(), 'personal', '1.0.0'), ...why, source_vault_hint: 'zqxhint' }),
      says: ['proposal_id', 'flow_id', 'base_version'],
    },
    'flow.retire': {
      user: 'edna',
      input: () => ({ flow_id: 'flow_a', ...why }),
      says: ['proposal_id', 'flow_id', 'base_version'],
    },
    'flow.mirror_propose': {
      user: 'edna',
      input: () => {
        editMirror();
        return { flow_id: 'flow_a', intent: 'zqxintent' };
      },
      says: ['proposal_id', 'flow_id'],
    },
    'flow.mirror_restore': { user: 'edna', input: () => ({ flow_id: 'flow_a' }), says: ['flow_id'] },
    'proposal.create': {
      user: 'edna',
      input: () => ({ path: 'notes/a.md', body: 'zqxbody', frontmatter: { zqx: 'zqx' }, labels: ['zqxlabel'], ...why }),
      says: ['proposal_id', 'path'],
    },
    'proposal.comment': {
      user: 'edna',
      input: async () => ({ proposal_id: await open(), body: 'zqxcomment' }),
      says: ['proposal_id'],
    },
    'proposal.evaluate': {
      user: 'adam',
      input: async () => ({
        proposal_id: await open(),
        outcome: 'pass',
        checklist: RUBRIC,
        comment: 'zqxcomment',
        grade: 'zqx',
      }),
      says: ['proposal_id', 'evaluation_status'],
    },
    'proposal.approve': {
      user: 'adam',
      input: async () => ({ proposal_id: await open(), external_ref: 'zqxref' }),
      says: ['proposal_id', 'flow_id', 'version', 'kind', 'external_ref_set'],
    },
    'proposal.discard': {
      user: 'adam',
      input: async () => ({ proposal_id: await open(), reason: 'zqxreason' }),
      says: ['proposal_id'],
    },
    'proposal.withdraw': { user: 'edna', input: async () => ({ proposal_id: await open() }), says: ['proposal_id'] },
    'note.put': {
      user: 'edna',
      input: () => ({ path: 'notes/b.md', body: 'zqxbody', frontmatter: { zqx: 'zqx' } }),
      says: ['path', 'state_id'],
    },
    'policy.set': {
      user: 'adam',
      input: () => ({ key: 'flow_import_allowed_tools', value: 'a-tool' }),
      says: ['key', 'value'],
    },
  };

  describe('[FLR-audit-chain] every write about flows, proposals, notes and policies', () => {
    it('is in these tests', () => {
      expect(Object.keys(acts).sort()).toEqual([...WRITES].sort());
    });

    it.each(WRITES)('%s has one line when it is done: ids, and nothing of the content', async (name) => {
      const { user, input, says } = acts[name] as (typeof acts)[string];
      const given = await input();
      const before = await lines();
      await inside.as(user, name, given);
      const [line, ...rest] = await lines();
      expect(rest[0]?.sequence).toBe(before[0]?.sequence);
      expect(line).toMatchObject({ action: name, outcome: 'done', code: null, user_id: user, request_id: 'inside' });
      expect(Object.keys(line?.detail ?? {}).sort()).toEqual([...says].sort());
      expect(JSON.stringify(line)).not.toMatch(CANARY);
    });

    it('an approval with a waiver, and one’s own, says that and how long the reason was', async () => {
      const strict = await openInside(store, { FLOW_AUTHORING_WRITES: '1', HUB_PROPOSAL_EVALUATION_REQUIRED: '1' });
      const { proposal_id } = await propose(strict, 'adam', canaryFlow(fresh(), 'personal', '1.0.0'));
      await approve(strict, 'adam', proposal_id, { waiver_reason: 'zqxwaiver' });
      await strict.close();
      const [line] = await lines();
      expect(line?.detail).toMatchObject({ proposal_id, waiver_reason_length: 9, self_approved: true });
      expect(JSON.stringify(line)).not.toMatch(CANARY);
    });

    it.each(WRITES)('%s has a line when it is refused, without the content', async (name) => {
      const { input } = acts[name] as (typeof acts)[string];
      const before = (await lines())[0]?.sequence ?? 0;
      // Whoever it is, the request is refused: nobody without a role, or something that is not there.
      const wrong: Record<string, Payload> = {
        'flow.retire': { flow_id: 'flow_zqx_none', ...why },
        'flow.mirror_propose': { flow_id: 'flow_zqx_none', intent: 'zqxintent' },
        'flow.mirror_restore': { flow_id: 'flow_zqx_none' },
        'flow.propose': { flow: { title: 'zqxtitle' }, steps: [], ...why },
        'flow.import': { bundle: { flow: { title: 'zqxtitle' } }, ...why },
        'proposal.comment': { proposal_id: NOWHERE, body: 'zqxcomment' },
        'proposal.withdraw': { proposal_id: NOWHERE },
      };
      const code = await inside.codeOf('vera', name, wrong[name] ?? (await input()));
      const fresh = (await lines()).filter(({ sequence, user_id }) => sequence > before && user_id === 'vera');
      expect(fresh).toMatchObject([{ action: name, outcome: 'refused', code, occurrences: 1, request_id: 'inside' }]);
      expect(code).not.toBe('done');
      expect(JSON.stringify(fresh)).not.toMatch(CANARY);
    });

    it.each([
      [
        'a stale base',
        'edna',
        'FLOW_LINEAGE_CONFLICT',
        'flow.propose',
        () => ({
          ...canaryFlow('flow_a', 'personal', '9.0.0'),
          ...why,
          base_version: '0.1.0',
          base_state_id: 'flowst1_0000000000000000',
        }),
      ],
      [
        'a taken id',
        'adam',
        'FLOW_LINEAGE_CONFLICT',
        'flow.propose',
        () => ({ ...canaryFlow('flow_a', 'personal', '1.0.0'), ...why }),
      ],
      [
        'a scope above the writer’s',
        'edna',
        'FLOW_SCOPE_DENIED',
        'flow.propose',
        () => ({ ...canaryFlow('flow_zqx', 'org', '1.0.0'), ...why }),
      ],
      ['another’s proposal', 'adam', 'FORBIDDEN', 'proposal.withdraw', async () => ({ proposal_id: await open() })],
      [
        'a base that was replaced',
        'adam',
        'CONFLICT',
        'proposal.approve',
        async () => ({ proposal_id: await open(), base_state_id: 'flowst1_1' }),
      ],
      ['a note of the server', 'edna', 'FORBIDDEN', 'note.put', () => ({ path: 'meta/flows/zqx.md', body: 'zqxbody' })],
      ['a note that is there', 'edna', 'CONFLICT', 'note.put', () => ({ path: 'notes/b.md', body: 'zqxbody' })],
      ['an unknown policy', 'adam', 'BAD_REQUEST', 'policy.set', () => ({ key: 'zqx', value: 'zqx' })],
    ] as [string, string, string, string, () => Promise<Payload> | Payload][])(
      'a refusal for %s stands there with its code',
      async (_what, user, code, name, input) => {
        const given = await input();
        const before = (await lines())[0]?.sequence ?? 0;
        expect(await inside.codeOf(user, name, given)).toBe(code);
        const [line] = await lines();
        expect(line?.sequence).toBeGreaterThan(before);
        expect(line).toMatchObject({ action: name, outcome: 'refused', code, user_id: user });
        expect(JSON.stringify(line)).not.toMatch(CANARY);
      },
    );

    it('a gate that is closed is told of too', async () => {
      const closed = await openInside(store, {});
      for (const name of ['flow.propose', 'flow.import', 'flow.retire']) {
        const given = await (acts[name] as (typeof acts)[string]).input();
        expect(await closed.codeOf('edna', name, given)).toBe('FLOW_AUTHORING_DISABLED');
        expect((await lines())[0]).toMatchObject({ action: name, outcome: 'refused', code: 'FLOW_AUTHORING_DISABLED' });
      }
      await closed.close();
    });

    it('and the chain is sound', async () => {
      await inside.app.services.auditLog.flush();
      expect(await inside.as('local', 'audit.verify')).toMatchObject({ ok: true, broken_at: null });
      expect(await lines()).not.toEqual([]);
    });

    it('and a write that fails leaves no line that says it was done', async () => {
      const proposal_id = await open();
      const done = async () => (await lines()).filter(({ detail }) => detail.proposal_id === proposal_id);
      const before = (await done()).length;
      const { queries } = inside.app.services.database;
      await queries.updateTable('proposals').set({ body: '{' }).where('proposal_id', '=', proposal_id).execute();
      expect(await inside.codeOf('adam', 'proposal.approve', { proposal_id })).toBe('FLOW_DRAFT_INVALID');
      expect((await done()).length).toBe(before);
      expect((await lines())[0]).toMatchObject({ action: 'proposal.approve', outcome: 'refused' });
    });
  });
});
