import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeStore, type TestStore } from '../support/databases.ts';
import { type Person, personAt } from '../support/person.ts';

let store: TestStore;
let owner: Person;
beforeAll(async () => {
  store = await makeStore('sqlite');
  owner = personAt({ home: store.home, env: { FLOW_AUTHORING_WRITES: '1' } });
});
afterAll(() => store?.remove());

describe('[S002-3-cli-json] what a person reads', () => {
  it('of nothing says that there is nothing', async () => {
    expect(await owner.reads(['proposal', 'list'])).toBe('(no proposals)\n');
    expect(await owner.reads(['flow', 'mirror', 'list'])).toMatch(/^\(no mirrors: [^\n]+\)\n$/);
  });

  it('of the versions has the state ids, which an edit is based on', async () => {
    const { versions } = await owner.asks<{ versions: { state_id: string }[] }>([
      ...['flow', 'versions', 'flow_capture_to_note'],
    ]);
    expect(await owner.reads(['flow', 'versions', 'flow_capture_to_note'])).toContain(versions[0]?.state_id);
  });

  it('of proposals is a table, newest first; of more than a page says how to go on', async () => {
    for (const name of ['a', 'b', 'c']) {
      await owner.asks(['proposal', 'create', '--path', `inbox/${name}.md`, '--body', name, '--intent', `Why ${name}`]);
    }
    const [header, ...rows] = (await owner.reads(['proposal', 'list', '--limit', '2'])).trimEnd().split('\n');
    expect(header?.split(/ {2,}/)).toEqual(['PROPOSAL', 'STATUS', 'EVALUATION', 'CHANGES', 'BY', 'INTENT']);
    expect(rows).toHaveLength(3);
    expect(rows[0]).toMatch(/^[0-9a-f-]{36} {2}proposed +- +inbox\/c\.md +local +Why c$/);
    const [, cursor] = /\(more: --cursor (\S+)\)$/.exec(rows[2] ?? '') ?? [];
    expect(await owner.reads(['proposal', 'list', '--limit', '2', '--cursor', cursor ?? ''])).toContain('inbox/a.md');
    expect(await owner.reads(['proposal', 'list', '--path-prefix', 'inbox/b.md', '--mine'])).toContain('Why b');
  });

  it('of a proposal is a card that says what, why, by whom and how to go on, and shows no control character', async () => {
    const evil = 'Trust me\u001b[2J\u0007';
    const args = ['proposal', 'create', '--path', 'inbox/evil.md', '--body', evil, '--intent', evil];
    const { proposal_id } = await owner.asks<{ proposal_id: string }>(args);
    await owner.asks(['proposal', 'comment', proposal_id, `${evil}\nsecond line`]);
    for (const command of ['get', 'diff']) {
      const shown = await owner.reads(['proposal', command, proposal_id]);
      expect(shown).not.toMatch(/[^\P{Cc}\n]/u);
      expect(shown).toContain('Trust me\\u001b[2J\\u0007');
    }
    const card = await owner.reads(['proposal', 'get', proposal_id]);
    expect(card).toMatch(/^proposal [0-9a-f-]{36}\nproposed: inbox\/evil\.md\nwhy: Trust me.*\nby local at 20/);
    expect(card).toContain(`flowright proposal diff ${proposal_id}`);
    expect(await owner.reads(['proposal', 'list'])).not.toMatch(/[^\P{Cc}\n]/u);
    expect((await owner.asks<{ intent: string }>(['proposal', 'get', proposal_id])).intent, 'verbatim').toBe(evil);
  });

  it('of the policies has each with its value and what decides it', async () => {
    const shown = await owner.reads(['policy', 'show']);
    expect(shown).toMatch(/^flow_authoring_writes_enabled = true \(environment\)\n +\S/m);
    expect(shown).toMatch(/^proposal_evaluation_required = false \(default\)\n +\S/m);
  });
});
