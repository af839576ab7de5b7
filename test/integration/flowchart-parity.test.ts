import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { AnyOperation } from '../../src/operations/index.ts';
import { createCatalogue } from '../../src/rooms.ts';
import { openInside } from '../security/inside.ts';
import { onEachDatabase, type TestStore } from '../support/databases.ts';
import type { DoorHandle } from '../support/doors.ts';
import { type FlowchartScene, isOfFlowcharts, makeFlowchartScene } from '../support/flowchart-scene.ts';
import { type Hub, startHub } from '../support/program.ts';
import { openWriteDoors } from '../support/write-doors.ts';

type Input = Record<string, unknown>;
type Who = 'owner' | 'viewer';

const operations = (await createCatalogue().all()).filter(({ name }) => isOfFlowcharts(name));
const named = (name: string) => operations.find((operation) => operation.name === name) as AnyOperation;
const reads = operations.filter(({ effect }) => effect === 'read').map(({ name }) => name);
/** Asked again, each of them finds what the first one did. */
const STEERING = ['run.control', 'run.cancel', 'run.pause', 'run.resume', 'run.retry', 'run.skip', 'run.rewind'];
/** Starting a program is dear: on the second engine the command line is asked these. */
const SAMPLED = ['run.show', 'run.retry', 'artifact.list', 'flowchart.graph', 'memory.get'];
/** The command line over a hub is REST with the same renderer. */
const OVER_HUB = ['run.show', 'run.pause', 'artifact.get'];

const REFUSED: [string, string, Input, Who][] = [
  ['run.cancel', 'NOT_FOUND', { run_id: 999_999 }, 'owner'],
  ['run.control', 'BAD_REQUEST', { run_id: 1, action: 'dance' }, 'owner'],
  ['run.retry', 'BAD_REQUEST', { run_id: 0 }, 'owner'],
  ['run.rewind', 'NOT_FOUND', { run_id: 1, rewind_to_node_run_id: 999_999 }, 'owner'],
  ['run.cancel', 'FORBIDDEN', { run_id: 1 }, 'viewer'],
  ['artifact.list', 'NOT_FOUND', { artifact_id: 999_999 }, 'owner'],
  ['memory.get', 'NOT_FOUND', { memory_id: 999_999 }, 'viewer'],
  ['flowchart.get', 'NOT_FOUND', { flowchart_id: 999_999 }, 'viewer'],
];

onEachDatabase((engine, makeStore) => {
  let store: TestStore;
  let hub: Hub;
  let scene: FlowchartScene;
  const doors = new Map<Who, DoorHandle[]>();
  const inputs = new Map<string, Input>();

  beforeAll(async () => {
    store = await makeStore();
    const options = { home: store.home, databaseUrl: store.databaseUrl };
    const inside = await openInside(store);
    const tokens = {
      owner: await inside.token('local'),
      viewer: await inside.token('vera', { role: 'viewer' }),
    };
    scene = await makeFlowchartScene((name, input) => inside.as('local', name, input));
    for (const name of [...reads, ...STEERING]) inputs.set(name, await scene.inputFor(name));
    await inside.close();
    hub = await startHub(options);
    doors.set('owner', await openWriteDoors({ ...options, hub, user: 'local', token: tokens.owner }));
    doors.set('viewer', await openWriteDoors({ ...options, hub, user: 'vera', token: tokens.viewer }));
  });
  afterAll(async () => {
    for (const door of [...doors.values()].flat()) await door.close();
    await hub?.stop();
    await store?.remove();
  });

  /** The doors that the operation has. */
  const doorsFor = (name: string, who: Who): DoorHandle[] =>
    (doors.get(who) ?? []).filter((door) => {
      if (door.name.startsWith('MCP')) return named(name).mcp !== undefined;
      if (!door.name.startsWith('command')) return true;
      if (named(name).cli === undefined) return false;
      if (door.name.endsWith('--hub')) return engine === 'sqlite' && OVER_HUB.includes(name);
      return engine === 'sqlite' || SAMPLED.includes(name);
    });
  const ask = (name: string, input: Input, who: Who = 'owner') =>
    Promise.all(
      doorsFor(name, who).map(async (door) => ({
        door: door.name,
        ...(await door.ask(name, JSON.parse(JSON.stringify(input)))),
      })),
    );
  const rest = async (name: string, input: Input) => {
    const door = (doors.get('owner') ?? []).find((candidate) => candidate.name === 'REST') as DoorHandle;
    return JSON.parse((await door.ask(name, input)).text);
  };

  describe('[S004-parity] [S002-7-parity] every door reads the same bytes', () => {
    it.each(reads)('%s', async (name) => {
      const [first, ...others] = await ask(name, inputs.get(name) as Input);
      expect(first?.ok, first?.text).toBe(true);
      for (const other of others) expect(other).toEqual({ door: other.door, ok: true, text: first?.text });
    });
  });

  describe('[S004-parity] [S002-7-parity] every door steers a run with the same answer', () => {
    it.each(STEERING)('%s', async (name) => {
      const input = inputs.get(name) as Input;
      const { flowchart_run, replay_run } = await rest(name, input);
      await calm(flowchart_run.id);
      if (replay_run) await calm(replay_run.id);
      const [first, ...others] = await ask(name, input);
      expect(first?.ok, first?.text).toBe(true);
      expect(JSON.parse(first?.text ?? '')).toMatchObject({ updated: false, idempotent: true });
      expect(others.length).toBeGreaterThan(1);
      for (const other of others) expect(other).toEqual({ door: other.door, ok: true, text: first?.text });
    });
  });

  /** Waits until the run has come to rest: ended, held, or asking a person. */
  async function calm(run_id: number): Promise<void> {
    await expect
      .poll(
        async () => {
          const { status } = (await rest('run.show', { run_id })).flowchart_run;
          if (status !== 'running') return status;
          return (await rest('task.list', { run_id })).count > 0 ? 'waiting' : status;
        },
        { timeout: 20_000 },
      )
      .toMatch(/^(completed|failed|stopped|canceled|paused|waiting)$/);
  }

  describe('[S004-parity-refusal] [S002-7-same-refusal] every door refuses in the same words', () => {
    it.each(REFUSED)('%s is %s', async (name, code, input, who) => {
      const [first, ...others] = await ask(name, input, who);
      expect(first?.ok).toBe(false);
      expect(JSON.parse(first?.text ?? '')).toMatchObject({ code, request_id: 'parity-test' });
      expect(others.length).toBeGreaterThan(1);
      for (const other of others) expect(other).toEqual({ door: other.door, ok: false, text: first?.text });
    });
  });
});
