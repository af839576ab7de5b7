import { readdirSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { programOn, useStore } from '../data-integrity/library.ts';
import { type Engine, makeStore, type TestStore } from '../support/databases.ts';
import { type Finished, flowright } from '../support/program.ts';

const COMMAND = ['flow', 'list', '--json'];

function startAtOnce(count: number, store: TestStore): Promise<Finished[]> {
  return Promise.all(Array.from({ length: count }, () => flowright(COMMAND, programOn(store))));
}

function expectSame(finished: Finished[]): void {
  const failed = finished.filter(({ status }) => status !== 0).map(({ status, stderr }) => `${status}: ${stderr}`);
  expect(failed).toEqual([]);
  expect(finished.filter(({ stderr }) => stderr !== '')).toEqual([]);
  const [first, ...others] = [...new Set(finished.map(({ stdout }) => stdout))];
  expect(others, 'every process prints the same bytes').toEqual([]);
  const { flows, truncated } = JSON.parse(first ?? '') as { flows: { flow_id: string }[]; truncated: boolean };
  expect([new Set(flows.map(({ flow_id }) => flow_id)).size, flows.length, truncated]).toEqual([6, 6, false]);
}

async function expectSeededOnce(store: TestStore): Promise<void> {
  const { queries } = await store.open();
  const rows = async (
    table: 'vaults' | 'users' | 'memberships' | 'flows' | 'flow_versions' | 'flow_steps' | 'events',
  ) =>
    (
      await queries
        .selectFrom(table)
        .select(({ fn }) => fn.countAll<number>().as('n'))
        .executeTakeFirstOrThrow()
    ).n;
  expect({
    vaults: await rows('vaults'),
    users: await rows('users'),
    memberships: await rows('memberships'),
    flows: await rows('flows'),
    versions: await rows('flow_versions'),
    steps: await rows('flow_steps'),
    events: await rows('events'),
  }).toEqual({ vaults: 1, users: 1, memberships: 1, flows: 6, versions: 6, steps: 24, events: 6 });
}

describe.each<[number, Engine]>([
  [50, 'sqlite'],
  [12, 'postgres'],
])('%i processes that start at once on one empty home (%s)', (count, engine) => {
  it('[FLR-fifty-processes] [S002-1.4-seed-idempotent] all list the same six flows, seeded once', async () => {
    const store = await useStore(() => makeStore(engine));
    const finished = await startAtOnce(count, store);
    expectSame(finished);
    await expectSeededOnce(store);
    const left = readdirSync(store.home).filter((name) => !/^(config\.yaml|flowright\.db(-wal|-shm)?)$/.test(name));
    expect(left, 'no draft is left behind').toEqual([]);
    expectSame(await startAtOnce(4, store));
  }, 180_000);
});
