import { mkdtempSync, writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { AnyOperation } from '../../src/operations/index.ts';
import { createCatalogue } from '../../src/rooms.ts';
import { createHttpServer } from '../../src/surfaces/http/server.ts';
import { type Inside, openInside } from '../security/inside.ts';
import { onEachDatabase, type TestStore } from '../support/databases.ts';
import type { Answer, DoorHandle } from '../support/doors.ts';
import { type FakeFlowise, startFakeFlowise } from '../support/fake-flowise/index.ts';
import { type FlowiseScene, isOfFlowise, makeFlowiseScene, sceneServers } from '../support/flowise-scene.ts';
import { flowright, type Hub, type ProgramOptions } from '../support/program.ts';
import { openWriteDoors } from '../support/write-doors.ts';

type Input = Record<string, unknown>;
type Who = 'owner' | 'viewer';

const operations = (await createCatalogue().all()).filter(({ name }) => isOfFlowise(name));
const named = (name: string) => operations.find((operation) => operation.name === name) as AnyOperation;
const reads = operations.filter(({ effect }) => effect === 'read').map(({ name }) => name);
/** Asked again, each of them finds what the first one did; the key says that it is the same write. */
const WRITES = [
  'chatflow.label',
  'chatflow.sync',
  'chatflow.apply',
  'chatflow.restore',
  'chatflow.promote',
  'knowledge.refresh',
];
const WITH_KEY = ['chatflow.apply', 'chatflow.restore', 'chatflow.promote'];
/** The command writes files; test/e2e looks at them. */
const OWN_ANSWER = ['chatflow.export'];
/** Starting a program is dear. The command line over a hub is REST with the same renderer. */
const OVER_HUB = ['chatflow.get', 'patch.compile', 'chatflow.apply'];
/** An agent may write, so that it can be compared at every door. */
const ENV = { FLOWRIGHT_FLOWISE_AGENT_WRITES: 'true' };
const NONE = '0'.repeat(64);

/** Commands that read a change from a file. */
const FROM_FILE: Record<string, (input: Input, file: (value: unknown) => string) => string[]> = {
  'patch.compile': ({ ops, ...rest }, file) => ['patch', 'compile', file(ops), ...optionsFor(rest)],
  'chatflow.apply': ({ ops, ...rest }, file) => ['chatflow', 'apply', file(ops), ...optionsFor(rest)],
  'chatflow.validate': (input) => ['chatflow', 'validate', ...optionsFor(input)],
};

function optionsFor(input: Input): string[] {
  return Object.entries(input).map(([key, value]) => `--${key.replaceAll('_', '-')}=${value}`);
}

/** What was measured in the moment of asking. */
function still(text: string): string {
  return text
    .replace(/"(age_seconds|ttl_left_seconds)":\d+/g, '"$1":0')
    .replace(/"generated_at":"[^"]+","origin"/g, '"generated_at":"then","origin"');
}

onEachDatabase((engine, makeStore) => {
  let store: TestStore;
  let inside: Inside;
  let server: FastifyInstance;
  let fakes: [FakeFlowise, FakeFlowise];
  let scene: FlowiseScene;
  const doors = new Map<Who, DoorHandle[]>();

  beforeAll(async () => {
    store = await makeStore();
    inside = await openInside(store, ENV);
    fakes = await sceneServers(startFakeFlowise);
    scene = await makeFlowiseScene((name, input) => inside.as('local', name, input), fakes);
    server = await createHttpServer(inside.app);
    await server.listen({ host: '127.0.0.1', port: 0 });
    const hub = { url: `http://127.0.0.1:${(server.server.address() as AddressInfo).port}` } as Hub;
    const options = { home: store.home, databaseUrl: store.databaseUrl, env: ENV };
    const tokens = {
      owner: await inside.token('local'),
      viewer: await inside.token('vera', { role: 'viewer' }),
    };
    for (const [who, user] of [['owner', 'local'] as const, ['viewer', 'vera'] as const]) {
      const all = await openWriteDoors({ ...options, hub, user, token: tokens[who] });
      const remote = { FLOWRIGHT_HUB: hub.url, FLOWRIGHT_HUB_TOKEN: tokens[who] };
      doors.set(
        who,
        all.map((door) => {
          if (!door.name.startsWith('command')) return door;
          const env = door.name.endsWith('--hub') ? remote : { FLOWRIGHT_IDENTITY: user };
          return withFiles(door, { ...options, env: { ...ENV, ...env } });
        }),
      );
    }
  });
  afterAll(async () => {
    for (const door of [...doors.values()].flat()) await door.close();
    await server?.close();
    await inside?.close();
    for (const fake of fakes ?? []) await fake.close();
    await store?.remove();
  });

  /** A door of commands that also knows those that read files. */
  function withFiles(door: DoorHandle, options: ProgramOptions): DoorHandle {
    const file = (value: unknown) => {
      const path = join(mkdtempSync(join(store.home, 'change-')), 'ops.json');
      writeFileSync(path, JSON.stringify(value));
      return path;
    };
    return {
      ...door,
      ask: async (name, input): Promise<Answer> => {
        const words = FROM_FILE[name]?.(input, file);
        if (!words) return door.ask(name, input);
        const { status, stdout, stderr } = await flowright(
          [...words, '--json', '--request-id', 'parity-test'],
          options,
        );
        return status === 0 ? { ok: true, text: stdout.replace(/\n$/, '') } : { ok: false, text: stderr.trim() };
      },
    };
  }

  /** The doors that the operation has. */
  const doorsFor = (name: string, who: Who, commands: readonly string[]): DoorHandle[] =>
    (doors.get(who) ?? []).filter((door) => {
      if (door.name.startsWith('MCP')) return named(name).mcp !== undefined;
      if (!door.name.startsWith('command')) return true;
      if (OWN_ANSWER.includes(name)) return false;
      if (door.name.endsWith('--hub')) return engine === 'sqlite' && OVER_HUB.includes(name);
      return commands.includes(name) && (engine === 'sqlite' || name === 'chatflow.get');
    });
  const ask = (name: string, input: Input, who: Who = 'owner', commands: readonly string[] = [...reads, ...WRITES]) =>
    Promise.all(
      doorsFor(name, who, commands).map(async (door) => {
        const { ok, text } = await door.ask(name, structuredClone(input));
        return { door: door.name, ok, text: still(text) };
      }),
    );
  const expectSame = ([first, ...others]: (Answer & { door: string })[], ok: boolean) => {
    expect(first?.ok, first?.text).toBe(ok);
    expect(others.length).toBeGreaterThan(0);
    for (const other of others) expect(other).toEqual({ door: other.door, ok, text: first?.text });
    return JSON.parse(first?.text ?? '');
  };

  describe('[FLR-chatflow-parity] [S002-7-parity] every door reads the same bytes', () => {
    it.each(reads)('%s', async (name) => {
      expectSame(await ask(name, await scene.inputFor(name)), true);
    });
  });

  describe('[FLR-chatflow-parity] every door writes with the same answer', () => {
    it.each(WRITES)('%s', async (name) => {
      const input = await scene.inputFor(name);
      const key = WITH_KEY.includes(name) ? { idempotency_key: `once-${name}` } : {};
      await inside.as('local', name, { ...input, ...key });
      const before = fakes.map(({ rows }) => rows.chatflows.size);
      const answer = expectSame(await ask(name, { ...input, ...key }), true);
      expect(fakes.map(({ rows }) => rows.chatflows.size)).toEqual(before);
      if (WITH_KEY.includes(name)) expect(answer.notes.at(-1)).toMatch(/not sent again/);
    });
  });

  const REFUSED: [string, string, (own: Input) => Input, Who][] = [
    ['chatflow.list', 'FLOWISE_SERVER_UNKNOWN', () => ({ server: 'nowhere' }), 'owner'],
    ['chatflow.get', 'FLOWISE_NOT_FOUND', () => ({ chatflow_id: 'nothing' }), 'viewer'],
    ['chatflow.history', 'BAD_REQUEST', (own) => ({ ...own, limit: 0 }), 'owner'],
    ['chatflow.label', 'BAD_REQUEST', (own) => ({ ...own, label: 'live' }), 'owner'],
    ['chatflow.restore', 'NOT_FOUND', (own) => ({ ...own, version: '99' }), 'owner'],
    ['chatflow.restore', 'chatflow_conflict', (own) => ({ ...own, base_hash: NONE }), 'owner'],
    ['chatflow.apply', 'payload_mismatch', (own) => ({ ...own, payload_hash: NONE }), 'owner'],
    ['patch.compile', 'BAD_REQUEST', (own) => ({ ...own, ops: [{ op_type: 'explode' }] }), 'viewer'],
    ['chatflow.sync', 'FORBIDDEN', (own) => own, 'viewer'],
    ['server.test', 'FORBIDDEN', (own) => own, 'viewer'],
  ];

  describe('[FLR-chatflow-parity-refusal] every door refuses in the same words', () => {
    it.each(REFUSED)('%s is %s', async (name, code, spoil, who) => {
      const input = spoil(await scene.inputFor(name));
      const refused = expectSame(await ask(name, input, who, OVER_HUB), false);
      expect(refused).toMatchObject({ code, request_id: 'parity-test' });
    });
  });
});
