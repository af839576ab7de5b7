import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { FlowDiffResponse } from '../../src/diff/diff-payload.ts';
import { diffFlows, type ProposedDraft } from '../../src/diff/index.ts';
import { operations } from '../../src/diff/operations.ts';
import type { FlowBundle } from '../../src/flows/index.ts';
import { refusal } from '../../src/kernel/errors.ts';
import { COLOURS } from '../../src/kernel/terminal.ts';
import { type AnyOperation, type Call, createInvoke } from '../../src/operations/index.ts';
import { addFlows } from '../data-integrity/library.ts';
import { tokenFor } from '../security/people.ts';
import { openTestApp } from '../support/app.ts';
import { onFirstDatabase, type TestStore } from '../support/databases.ts';
import { type DoorHandle, doorsInTurn, openDoors } from '../support/doors.ts';
import { sampleFlow } from '../support/flows.ts';
import { flowright, type Hub, type ProgramOptions, startHub } from '../support/program.ts';

const HOSTILE = '\u001b[2J\u001b[31m\u202e<b>';
const PROPOSAL = '00000000-0000-4000-8000-000000000001';

/** Three versions, the second with a step more and the third with hostile words. */
const VERSIONS: FlowBundle[] = [
  sampleFlow('flow_told', { version: '1.0.0', steps: 2 }),
  sampleFlow('flow_told', { version: '1.0.1', steps: 3, tags: ['test', 'more'] }),
  sampleFlow('flow_told', { version: '2.0.0', steps: 3, title: `New ${HOSTILE}`, instruction: `Do it. ${HOSTILE}` }),
];

type Who = 'owner' | 'viewer';

onFirstDatabase((engine, makeStore) => {
  let store: TestStore;
  let options: ProgramOptions;
  let hub: Hub;
  const doors = new Map<Who, DoorHandle[]>();

  beforeAll(async () => {
    store = await makeStore();
    options = { home: store.home, databaseUrl: store.databaseUrl };
    const tokens = {
      owner: await tokenFor(options, 'local'),
      viewer: await tokenFor(options, 'vera', { role: 'viewer' }),
    };
    const database = await store.open();
    await addFlows(database, [...VERSIONS, sampleFlow('flow_for_org', { scope: 'org' })]);
    hub = await startHub(options);
    doors.set('owner', await openDoors({ ...options, hub, user: 'local', token: tokens.owner }));
    doors.set('viewer', await openDoors({ ...options, hub, user: 'vera', token: tokens.viewer }));
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
    return Promise.all(handles.map((door) => door.ask('flow.diff', input)));
  };

  describe('[FLR-diff] [S002-7-parity] every door tells the same differences', () => {
    it.each<[string, Who, Record<string, unknown>, [number | null, number]]>([
      ['the latest against the one before', 'owner', {}, [1, 2]],
      ['a viewer asks the same', 'viewer', {}, [1, 2]],
      ['a version against the one before it', 'owner', { to: '1.0.1' }, [0, 1]],
      ['an older one against the latest', 'owner', { from: '1.0.0' }, [0, 2]],
      ['two that are named', 'viewer', { from: '1.0.0', to: '1.0.1' }, [0, 1]],
      ['the newer against the older', 'owner', { from: '2.0.0', to: '1.0.0' }, [2, 0]],
      ['the first against nothing', 'owner', { to: '1.0.0' }, [null, 0]],
      ['one against itself', 'owner', { from: '1.0.1', to: '1.0.1' }, [1, 1]],
    ])('%s', async (_what, who, input, [from, to]) => {
      const [first, ...others] = await askAll(who, { flow_id: 'flow_told', ...input });
      expect(first?.ok, first?.text).toBe(true);
      for (const other of others) expect(other).toEqual(first);
      const payload = JSON.parse(first?.text ?? '');
      expect(FlowDiffResponse.safeParse(payload).error).toBeUndefined();
      const [before, after] = [from === null ? null : VERSIONS[from], VERSIONS[to]] as [FlowBundle, FlowBundle];
      expect(payload).toEqual({
        schema: 'flowright.flow_diff/v1',
        vault_id: 'default',
        flow_id: 'flow_told',
        from: before?.flow.version ?? null,
        to: after.flow.version,
        proposal_id: null,
        ...diffFlows(before, after),
      });
    });

    it('asked again, it gives the same bytes', async () => {
      const [once] = await askAll('owner', { flow_id: 'flow_told' });
      const [again] = await askAll('owner', { flow_id: 'flow_told' });
      expect(again).toEqual(once);
    });
  });

  describe('[S002-7-same-refusal] every door refuses alike', () => {
    it.each<[Who, Record<string, unknown>, string]>([
      ['owner', { flow_id: 'flow_not_there' }, 'unknown_flow'],
      ['owner', { flow_id: 'flow_told', from: '9.9.9' }, 'unknown_flow'],
      ['owner', { flow_id: 'flow_told', to: '9.9.9' }, 'unknown_flow'],
      ['viewer', { flow_id: 'flow_for_org' }, 'unknown_flow'],
      ['viewer', { flow_id: 'flow_for_org', to: '1.0.0' }, 'unknown_flow'],
      ['owner', { flow_id: 'flow_told', from: '1' }, 'BAD_REQUEST'],
      ['owner', { flow_id: 'flow_told', proposal_id: 'x' }, 'BAD_REQUEST'],
      ['owner', { flow_id: 'flow_told', proposal_id: PROPOSAL, to: '1.0.0' }, 'BAD_REQUEST'],
      ['owner', { flow_id: 'flow_told', proposal_id: PROPOSAL }, 'NOT_FOUND'],
      ['viewer', { flow_id: 'flow_told', proposal_id: PROPOSAL }, 'NOT_FOUND'],
    ])('%s asking %o: %s', async (who, input, code) => {
      const [first, ...others] = await askAll(who, input);
      expect(JSON.parse(first?.text ?? '')).toMatchObject({ code });
      for (const other of others) expect(other).toEqual(first);
    });
  });

  describe('at a terminal', () => {
    it('is readable text without colours where they are not wanted', async () => {
      const { stdout, status } = await flowright(['flow', 'diff', 'flow_told', '--to', '1.0.1'], options);
      expect(status).toBe(0);
      expect(stdout).toMatch(
        /^flow_told 1\.0\.0 → 1\.0\.1\n\nFlow\n {2}\+ tag: more \(patch\)\n\nStep 3: Part 3\n {2}\+ new step/,
      );
      expect(stdout).toContain('consider 2.0.0.');
      expect(stdout.replaceAll('\n', '')).not.toMatch(/\p{Cc}/u);
    });

    it('[S002-9.7-injection] has our colours where they are wanted, and obeys nothing of the texts', async () => {
      const env = { NO_COLOR: '', FORCE_COLOR: '1' };
      const { stdout } = await flowright(['flow', 'diff', 'flow_told'], { ...options, env });
      expect(stdout).toContain('\u001b[33m~ title\u001b[0m');
      expect(stdout).toContain('\\u001b[2J\\u001b[31m\\u202e<b>');
      expect(stdout).not.toContain('\u001b[2J');
      const ours = [...Object.values(COLOURS), '\u001b[0m'];
      const colourless = ours.reduce((rest, sequence) => rest.replaceAll(sequence, ''), stdout);
      expect(colourless.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\u202e]/u);
      const json = await flowright(['flow', 'diff', 'flow_told', '--json'], { ...options, env });
      expect(JSON.parse(json.stdout)).toMatchObject({ schema: 'flowright.flow_diff/v1' });
    });
  });

  describe('[FLR-diff] the draft of a proposal', () => {
    const [base, draft] = VERSIONS as [FlowBundle, FlowBundle];
    const drafts = new Map<string, ProposedDraft>([
      ['edit', { proposal_id: PROPOSAL, base, draft }],
      ['new', { proposal_id: PROPOSAL, base: null, draft }],
      ['retire', { proposal_id: PROPOSAL, base, draft: null }],
    ]);

    /** Asks the operation with a reader that knows one proposal. */
    const askFor = async (known: string, ambiguous = false) => {
      const app = await openTestApp(store);
      const seen: unknown[] = [];
      const reader = {
        flowDraft: async (...asked: unknown[]) => {
          seen.push(asked.slice(1));
          const found = drafts.get(known);
          if (!found) throw refusal('NOT_FOUND', 'There is no such proposal.');
          return found;
        },
      };
      const { database, auditLog, flows } = app.services;
      const invoke = createInvoke({ flows, drafts: reader }, database, auditLog);
      const local = { identity: 'local', vaultId: 'default', narrowTo: null, agent: false };
      const principal = { ...(await app.principals.local(local)), ambiguous };
      const call: Call = { principal, door: 'cli', request_id: 'drafts', correlation_id: undefined };
      const operation = operations.find(({ name }) => name === 'flow.diff') as AnyOperation;
      try {
        return { seen, answer: await invoke(operation, call, { flow_id: 'flow_told', proposal_id: PROPOSAL }) };
      } catch (error) {
        return { seen, error: error as { code: string } };
      } finally {
        await app.close();
      }
    };

    it.each([
      ['edit', '1.0.0', '1.0.1'],
      ['new', null, '1.0.1'],
      ['retire', '1.0.0', null],
    ])('is compared with its base: %s', async (known, from, to) => {
      const { seen, answer } = await askFor(known);
      const { base, draft } = drafts.get(known) as ProposedDraft;
      expect(seen).toEqual([['flow_told', PROPOSAL]]);
      expect(FlowDiffResponse.safeParse(answer).error).toBeUndefined();
      expect(answer).toMatchObject({ from, to, proposal_id: PROPOSAL, ...diffFlows(base, draft) });
    });

    it('that is not there is NOT_FOUND', async () => {
      expect((await askFor('none')).error).toMatchObject({ code: 'NOT_FOUND' });
    });

    it('[S002-4-ambiguous] is not even looked for when the membership is ambiguous', async () => {
      const { error, seen } = await askFor('edit', true);
      expect(error).toMatchObject({ code: 'FLOW_SCOPE_AMBIGUOUS' });
      expect(seen).toEqual([]);
    });
  });
});
