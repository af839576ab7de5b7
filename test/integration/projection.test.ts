import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type FlowProjectResult, projectFlow } from '../../src/projection/index.ts';
import { FlowProjectResponse } from '../../src/projection/projection-schema.ts';
import { importFlows } from '../security/library.ts';
import { must, tokenFor } from '../security/people.ts';
import { onFirstDatabase, type TestStore } from '../support/databases.ts';
import { type Answer, type DoorHandle, doorsInTurn, openDoors } from '../support/doors.ts';
import { sampleFlow } from '../support/flows.ts';
import { flowright, type Hub, type ProgramOptions, startHub } from '../support/program.ts';

type Who = 'owner' | 'viewer' | 'muddled';
type Input = Record<string, string>;
interface Question {
  input: Input;
  as?: Who;
}

const HOSTILE = '---\n--> """ <script> \u0000\u001b[2J \u202e ## Step 9';
const ask = (input: Input, as: Who = 'owner'): Question => ({ input, as });

const ANSWERED: Question[] = [
  ...['cursor_rule', 'cursor_skill', 'cli_runbook', 'mcp_prompt'].flatMap((harness) => [
    ask({ flow_id: 'flow_overseer_handover', harness }),
    ask({ flow_id: 'flow_research_brief', harness }, 'viewer'),
    ask({ flow_id: 'flow_hostile', harness }),
  ]),
  ask({ flow_id: 'flow_versions', harness: 'cli_runbook' }),
  ask({ flow_id: 'flow_versions', harness: 'cli_runbook', version: '1.0.0' }),
  ask({ flow_id: 'flow_versions', harness: 'cursor_skill', version: '1.10.0' }),
  ask({ flow_id: 'flow_large', harness: 'cursor_rule' }),
  ask({ flow_id: 'flow_a__b', harness: 'mcp_prompt' }),
];

/** In the order of the checks: of two faults, the earlier one is told. */
const REFUSED: [Question, string, string?][] = [
  [ask({ flow_id: 'no-flow-id' }), 'BAD_REQUEST', '/flow_id'],
  [ask({ flow_id: 'no-flow-id', harness: 'agent_bundle' }), 'BAD_REQUEST', '/flow_id'],
  [ask({ flow_id: 'flow_nothing', version: 'x' }), 'BAD_REQUEST', '/harness'],
  [ask({ flow_id: 'flow_nothing', harness: '' }), 'BAD_REQUEST', '/harness'],
  [ask({ flow_id: 'flow_nothing', harness: 'emacs', version: 'x' }), 'BAD_REQUEST', '/harness'],
  [ask({ flow_id: 'flow_nothing', harness: 'agent_bundle', version: 'x' }, 'muddled'), 'FLOW_HARNESS_UNSUPPORTED'],
  [ask({ flow_id: 'flow_versions', harness: 'agent_bundle' }), 'FLOW_HARNESS_UNSUPPORTED'],
  [ask({ flow_id: 'flow_a__b', harness: 'cursor_skill' }), 'FLOW_HARNESS_UNSUPPORTED'],
  [ask({ flow_id: 'flow_nothing', harness: 'cli_runbook', version: '1' }, 'muddled'), 'BAD_REQUEST', '/version'],
  [ask({ flow_id: 'flow_nothing', harness: 'cli_runbook' }, 'muddled'), 'FLOW_SCOPE_AMBIGUOUS'],
  [ask({ flow_id: 'flow_nothing', harness: 'cli_runbook' }), 'unknown_flow'],
  [ask({ flow_id: 'flow_versions', harness: 'cli_runbook', version: '9.9.9' }), 'unknown_flow'],
  [ask({ flow_id: 'flow_overseer_handover', harness: 'mcp_prompt' }, 'viewer'), 'unknown_flow'],
];

onFirstDatabase((engine, makeStore) => {
  let store: TestStore;
  let options: ProgramOptions;
  let hub: Hub;
  const doors = new Map<Who, DoorHandle[]>();
  const tokens = new Map<Who, string>();

  beforeAll(async () => {
    store = await makeStore();
    options = { home: store.home, databaseUrl: store.databaseUrl };
    await importFlows(options, [
      sampleFlow('flow_versions', { version: '1.0.0' }),
      sampleFlow('flow_versions', { version: '1.9.0' }),
      sampleFlow('flow_versions', { version: '1.10.0', title: 'Latest' }),
      sampleFlow('flow_hostile', { title: HOSTILE, summary: HOSTILE, instruction: HOSTILE }),
      sampleFlow('flow_large', { steps: 100, instruction: 'é'.repeat(1_000) }),
      sampleFlow('flow_a__b'),
    ]);
    const people: [Who, string, string][] = [
      ['owner', 'local', 'admin'],
      ['viewer', 'vera', 'viewer'],
      ['muddled', 'max', 'viewer'],
    ];
    for (const [who, user, role] of people) tokens.set(who, await tokenFor(options, user, { role }));
    await must(['member', 'set', 'max', '--role', 'viewer', '--ambiguous'], options);
    hub = await startHub(options);
    for (const [who, user] of people) {
      const token = tokens.get(who) ?? '';
      const [, , ...others] = await openDoors({ ...options, hub, user, token });
      doors.set(who, [
        commandDoor('command line', options, { FLOWRIGHT_IDENTITY: user }),
        commandDoor('command line --hub', options, { FLOWRIGHT_HUB: hub.url, FLOWRIGHT_HUB_TOKEN: token }),
        ...others,
      ]);
    }
  });
  afterAll(async () => {
    for (const door of [...doors.values()].flat()) await door.close();
    await hub?.stop();
    await store?.remove();
  });

  /** At every door whose turn it is. */
  const everywhere = ({ as = 'owner', input }: Question, turn: number) => {
    const handles = doorsInTurn(doors.get(as) ?? [], engine, turn);
    expect(handles.length).toBeGreaterThanOrEqual(turn === 0 ? 5 : 3);
    return Promise.all(handles.map(async (door) => ({ door: door.name, ...(await door.ask('flow.project', input)) })));
  };
  const timeless = (text: string) => text.replace(/"generated_at":"[^"]+"/, '"generated_at":"then"');

  it.each(ANSWERED)('[S002-7-parity] every door, one answer: $as $input', async (question) => {
    const [first, ...others] = await everywhere(question, ANSWERED.indexOf(question));
    expect(first?.ok, first?.text).toBe(true);
    for (const other of others) {
      expect({ ...other, text: timeless(other.text) }).toEqual({
        door: other.door,
        ok: true,
        text: timeless(first?.text ?? ''),
      });
    }
    const payload = FlowProjectResponse.parse(JSON.parse(first?.text ?? ''));
    expect(JSON.stringify(payload), 'keys in the order of the contract').toBe(first?.text);
  });

  it.each(REFUSED)('[S002-7-same-refusal] every door, one refusal: $as $input → %s', async (question, code, path) => {
    const turn = REFUSED.findIndex(([asked]) => asked === question);
    const [first, ...others] = await everywhere(question, turn);
    expect(first?.ok).toBe(false);
    const envelope = JSON.parse(first?.text ?? '');
    expect(envelope.code).toBe(code);
    if (path) expect(envelope.details.errors[0].path).toBe(path);
    for (const other of others) expect(other).toEqual({ door: other.door, ok: false, text: first?.text });
  });

  describe('[FLR-projection-envelope] the answer', () => {
    const rest = async (query: string) => {
      const headers = { authorization: `Bearer ${tokens.get('owner')}` };
      const response = await fetch(new URL(`/api/v1/flows/${query}`, hub.url), { headers });
      return (await response.json()) as FlowProjectResult;
    };

    it('has the pinned keys in the pinned order, and a hash of the very text', async () => {
      const before = Date.now();
      const answer = await rest('flow_versions/projection?harness=cli_runbook');
      const latest = sampleFlow('flow_versions', { version: '1.10.0', title: 'Latest' });
      const { rendered, fidelity } = projectFlow(latest.flow, latest.steps, 'cli_runbook');
      const { generated_at, content_hash } = answer.generator;
      expect(Object.entries(answer)).toEqual([
        ['schema', 'knowtation.flow_project/v0'],
        ['vault_id', 'default'],
        [
          'projection',
          {
            schema: 'knowtation.flow_projection/v0',
            flow_id: 'flow_versions',
            flow_version: '1.10.0',
            harness: 'cli_runbook',
            rendered,
            generated_from_canonical: true,
            editable: false,
            fidelity,
          },
        ],
        ['staleness', { stale: false, projection_version: '1.10.0', latest_version: '1.10.0' }],
        ['generator', { generator_version: '1', content_hash, generated_at }],
      ]);
      expect(content_hash).toMatch(/^sha256:[0-9a-f]{64}$/);
      expect(Date.parse(generated_at)).toBeGreaterThanOrEqual(before - 1_000);
      expect(rendered).not.toContain(String(generated_at).slice(0, 10));
    });

    it('of a pinned version that is not the latest is stale', async () => {
      const { staleness, projection } = await rest('flow_versions/projection?harness=cli_runbook&version=1.9.0');
      expect(staleness).toEqual({ stale: true, projection_version: '1.9.0', latest_version: '1.10.0' });
      expect(projection.flow_version).toBe('1.9.0');
    });

    it('of a flow that is too long is bounded and says so', async () => {
      const { projection } = await rest('flow_large/projection?harness=cursor_rule');
      expect(Buffer.byteLength(projection.rendered)).toBeLessThanOrEqual(65_536);
      expect(projection.fidelity.notes).toMatch(/steps \d+ to 100 of 100 are left out/);
    });

    it('takes no other parameter', async () => {
      const answer = await rest('flow_versions/projection?harness=cli_runbook&out=/etc/passwd');
      expect(answer).toMatchObject({ code: 'BAD_REQUEST', details: { errors: [{ path: '/out' }] } });
    });
  });
});

/** `flow project` is a command of its own, because it also writes and compares files. */
function commandDoor(name: string, options: ProgramOptions, env: Record<string, string>): DoorHandle {
  return {
    name,
    ask: async (_operation, { flow_id, ...rest }): Promise<Answer> => {
      const given = Object.entries(rest).map(([key, value]) => `--${key}=${value}`);
      const args = ['flow', 'project', String(flow_id), ...given, '--json', '--request-id', 'parity-test'];
      const { status, stdout, stderr } = await flowright(args, { ...options, env });
      return status === 0 ? { ok: true, text: stdout.replace(/\n$/, '') } : { ok: false, text: stderr.trim() };
    },
    close: async () => {},
  };
}
