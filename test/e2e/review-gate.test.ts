import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { FlowBundle } from '../../src/flows/index.ts';
import { onFirst, onFirstDatabase } from '../support/databases.ts';
import { sampleFlow } from '../support/flows.ts';
import { approve, baseOf, type Office, openOffice, type ProposalAnswer, proposeNew } from '../support/office.ts';
import type { Person } from '../support/person.ts';

interface Policies {
  policies: { key: string; value: unknown; origin: string; file: string; env: string | null }[];
  damaged: { file: string; reason: string }[];
}

const KEY = 'flow_authoring_writes_enabled';
const FILE = 'hub_flow_authoring_policy.json';

onFirstDatabase((engine, makeStore) => {
  const once = onFirst(engine);
  let office: Office;
  beforeAll(async () => {
    office = await openOffice(makeStore, {});
  });
  afterAll(() => office?.close());

  const policy = async (person: Person, key: string) =>
    (await person.asks<Policies>(['policy', 'show'])).policies.find((entry) => entry.key === key);
  const proposals = async () => (await office.owner.asks<{ proposals: unknown[] }>(['proposal', 'list'])).proposals;

  it('[S003-6-gate] off by default: no command proposes a flow, at the machine or over the hub, and each says how to open it', async () => {
    const { ann, owner, ownerWith } = office;
    const bundle = JSON.stringify(sampleFlow('flow_closed'));
    const edit = await baseOf(owner, 'flow_capture_to_note');
    const exported = await owner.asks<FlowBundle>(['flow', 'export', 'flow_capture_to_note']);
    const edited = JSON.stringify({ ...exported, flow: { ...exported.flow, version: '0.2.0' } });
    const commands: [string[], string?][] = [
      [['flow', 'propose', '-', '--intent', 'x'], bundle],
      [['flow', 'propose', '-', '--intent', 'x', ...edit], edited],
      [['flow', 'propose', '-'], '{"not": "even a flow"}'],
      [['flow', 'import', '-', '--intent', 'x'], bundle],
      [['flow', 'retire', 'flow_capture_to_note', '--intent', 'x']],
      [['flow', 'mirror', 'propose', 'flow_capture_to_note']],
    ];
    const people = [ann, owner, ownerWith({ FLOW_AUTHORING_WRITES: '0' })];
    for (const [at, [args, input]] of commands.entries()) {
      // Everybody with the first command, one after the other with the rest.
      for (const person of at === 0 ? people : people.slice(at % 3, (at % 3) + 1)) {
        const { code, message } = await person.isRefused(args, input);
        expect(code, args.join(' ')).toBe('FLOW_AUTHORING_DISABLED');
        expect(message).toContain(`flowright policy set ${KEY} true`);
      }
    }
    expect(await proposals()).toEqual([]);
    expect(existsSync(join(office.store.home, 'vaults', 'default', 'meta'))).toBe(false);
  });

  once('[S003-6-gate] off: flows and proposals can still be read, and notes proposed', async () => {
    const { ed, vic, ann } = office;
    await vic.reads(['flow', 'versions', 'flow_capture_to_note']);
    await vic.reads(['flow', 'diff', 'flow_capture_to_note']);
    await vic.reads(['flow', 'export', 'flow_capture_to_note']);
    const { proposal_id } = await ed.asks<ProposalAnswer>([
      ...['proposal', 'create', '--path', 'inbox/a.md', '--body', 'a'],
    ]);
    expect(await vic.reads(['proposal', 'list'])).toContain('inbox/a.md');
    expect(await approve(ann, proposal_id)).toMatchObject({ status: 'approved' });
  });

  it('[S003-6-tri-state] policy set opens the running hub at once, default closes it, and both are audited', async () => {
    const { ed, ann, owner } = office;
    expect(await policy(ann, KEY)).toMatchObject({ value: false, origin: 'default', env: 'FLOW_AUTHORING_WRITES' });
    await ann.asks(['policy', 'set', KEY, 'true']);
    expect(await policy(owner, KEY)).toMatchObject({ value: true, origin: 'file', file: FILE });
    expect(JSON.parse(readFileSync(join(office.store.home, FILE), 'utf8'))).toEqual({ [KEY]: true });
    const { proposal_id } = await proposeNew(ed, sampleFlow('flow_between'));

    await owner.asks(['policy', 'set', KEY, 'default']);
    expect(await policy(ann, KEY)).toMatchObject({ value: false, origin: 'default' });
    expect((await ann.isRefused(['proposal', 'approve', proposal_id])).code, 'also at the approval').toBe(
      'FLOW_AUTHORING_DISABLED',
    );
    expect((await ann.isRefused(['flow', 'get', 'flow_between'])).code).toBe('unknown_flow');
    expect(await ann.asks(['proposal', 'get', proposal_id])).toMatchObject({ status: 'proposed' });
    const { entries } = await owner.asks<{ entries: { action: string; outcome: string; detail: unknown }[] }>([
      ...['audit', 'list', '--limit', '200'],
    ]);
    const set = entries.filter(({ action, outcome }) => action === 'policy.set' && outcome === 'done');
    expect(set.map(({ detail }) => detail)).toEqual([
      { key: KEY, value: 'default' },
      { key: KEY, value: 'true' },
    ]);
  });

  once('[S003-6-tri-state] the environment decides over the file, says so, and cannot be set over', async () => {
    const { owner, ownerWith } = office;
    await owner.asks(['policy', 'set', KEY, 'true']);
    for (const word of ['0', 'false']) {
      const closed = ownerWith({ FLOW_AUTHORING_WRITES: word });
      expect(await policy(closed, KEY)).toMatchObject({ value: false, origin: 'environment' });
    }
    const closed = ownerWith({ FLOW_AUTHORING_WRITES: '0' });
    expect((await closed.isRefused(['flow', 'retire', 'flow_capture_to_note', '--intent', 'x'])).code).toBe(
      'FLOW_AUTHORING_DISABLED',
    );
    const refused = await closed.isRefused(['policy', 'set', KEY, 'true']);
    expect(refused).toMatchObject({ code: 'CONFLICT', message: expect.stringContaining('FLOW_AUTHORING_WRITES') });
    expect(await policy(ownerWith({ FLOW_AUTHORING_WRITES: 'yes' }), KEY), 'other words decide nothing').toMatchObject({
      value: true,
      origin: 'file',
    });
    const forbidden = ownerWith({ FLOW_AUTHORING_WRITES: '1', FLOW_AUTHORING_FORBIDDEN: '1' });
    expect((await forbidden.isRefused(['flow', 'retire', 'flow_capture_to_note', '--intent', 'x'])).code).toBe(
      'FLOW_AUTHORING_POLICY_FORBIDDEN',
    );
  });

  once('[S003-6-policy] a cap names the step and the kinds that are allowed', async () => {
    const { ed, owner } = office;
    await owner.asks(['policy', 'set', 'flow_authoring_verification_kinds', 'artifact_exists, test_pass']);
    const refused = await ed.isRefused(
      ['flow', 'propose', '-', '--intent', 'x'],
      JSON.stringify(sampleFlow('flow_capped', { steps: 1 })),
    );
    expect(refused).toMatchObject({
      code: 'FLOW_AUTHORING_POLICY_FORBIDDEN',
      details: { errors: [{ code: 'policy_cap', path: '/steps/0/verification/kind' }] },
    });
    expect(refused.message).toContain('artifact_exists, test_pass');
    await owner.asks(['policy', 'set', 'flow_authoring_verification_kinds', 'default']);
    await proposeNew(ed, sampleFlow('flow_capped', { steps: 1 }));
  });

  once(
    '[S003-6-tri-state] a policy file that cannot be read closes the gate, and show and doctor say why',
    async () => {
      const { ann, owner, ownerWith, store } = office;
      const file = join(store.home, FILE);
      const sound = readFileSync(file, 'utf8');
      writeFileSync(file, '{"flow_authoring_writes_enabled": tru');
      for (const person of [ann, ownerWith({ FLOW_AUTHORING_WRITES: '1' })]) {
        const { code } = await person.isRefused(['flow', 'retire', 'flow_capture_to_note', '--intent', 'x']);
        expect(code).toMatch(/^FLOW_AUTHORING_(POLICY_FORBIDDEN|DISABLED)$/);
      }
      const shown = await owner.types(['policy', 'show']);
      expect(shown.status, 'bad news end with 1').toBe(1);
      expect(shown.stdout).toContain(`DAMAGED ${FILE}: it is not valid JSON`);
      const doctor = await owner.types(['doctor']);
      expect(doctor.status).toBe(1);
      expect(doctor.stdout).toMatch(new RegExp(`FAIL .*${FILE}`));
      expect((await owner.isRefused(['policy', 'set', KEY, 'true'])).code).toBe('POLICY_FILE_DAMAGED');
      expect(readFileSync(file, 'utf8'), 'it is left for people to mend').toContain('tru');
      writeFileSync(file, sound);
      expect(await policy(ann, KEY)).toMatchObject({ value: true, origin: 'file' });
      expect(readdirSync(store.home).filter((name) => name.includes('.tmp'))).toEqual([]);
    },
  );
});
