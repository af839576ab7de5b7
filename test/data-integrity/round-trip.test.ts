import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type FlowBundle, getFlow, seedStarterFlows } from '../../src/flows/index.ts';
import { systemClock } from '../../src/kernel/clock.ts';
import { openTestApp } from '../support/app.ts';
import { onEachDatabase } from '../support/databases.ts';
import { sampleFlow } from '../support/flows.ts';
import { flowright, ROOT } from '../support/program.ts';
import { addFlows, EVERY_SCOPE, programOn, useLibrary, useStore, VAULT } from './library.ts';

const FOLDER = join(ROOT, 'flows', 'starter');
const STARTERS: FlowBundle[] = readdirSync(FOLDER)
  .sort()
  .map((file) => JSON.parse(readFileSync(join(FOLDER, file), 'utf8')) as FlowBundle);

/** Key by key first, so that a failure names the key; then as text, which also holds key order. */
function expectSame(given: Pick<FlowBundle, 'flow' | 'steps'>, file: FlowBundle): void {
  for (const key of Object.keys(file.flow) as (keyof FlowBundle['flow'])[]) {
    expect(given.flow[key], `flow.${key}`).toEqual(file.flow[key]);
  }
  expect(JSON.stringify(given.flow)).toBe(JSON.stringify(file.flow));
  expect(given.steps).toHaveLength(file.steps.length);
  file.steps.forEach((step, at) => {
    expect(JSON.stringify(given.steps[at]), step.step_id).toBe(JSON.stringify(step));
  });
}

onEachDatabase((_engine, makeStore) => {
  describe('a starter file that was seeded', () => {
    it('[S002-9.5-round-trip] [S002-1.5-step-order] is read back key by key and byte for byte', async () => {
      const database = await useLibrary(makeStore);
      const report = await seedStarterFlows({ database, clock: systemClock }, VAULT);
      expect(report).toEqual({ seeded: 6, skipped: 0 });
      for (const file of STARTERS) {
        const given = await getFlow(database, VAULT, file.flow.flow_id, { visibleScopes: EVERY_SCOPE });
        expectSame(given as FlowBundle, file);
        expect(given?.steps.map(({ ordinal }) => ordinal)).toEqual(file.steps.map((_, at) => at + 1));
      }
    });

    it('[S002-9.5-round-trip] comes through the operation flow.get unchanged', async () => {
      const store = await useStore(makeStore);
      const app = await openTestApp(store);
      try {
        const operation = (await app.catalogue.all()).find(({ name }) => name === 'flow.get');
        const principal = await app.principals.local({
          identity: 'local',
          vaultId: VAULT,
          narrowTo: null,
          agent: false,
        });
        const call = { principal, door: 'cli', request_id: 'round-trip', correlation_id: undefined } as const;
        for (const file of STARTERS) {
          const input = { flow_id: file.flow.flow_id };
          expectSame((await app.invoke(operation as never, call, input)) as FlowBundle, file);
        }
      } finally {
        await app.close();
      }
    });

    it('[S002-9.5-round-trip] is printed by `flow get --json` as its own bytes', async () => {
      const store = await useStore(makeStore);
      const [file] = STARTERS as [FlowBundle];
      const { stdout } = await flowright(['flow', 'get', file.flow.flow_id, '--json'], programOn(store));
      const head = '{"schema":"knowtation.flow_get/v0","vault_id":"default"';
      expect(stdout).toBe(`${head},"flow":${JSON.stringify(file.flow)},"steps":${JSON.stringify(file.steps)}}\n`);
    });
  });

  it('[S002-1.5-step-order] steps given in any order are read by ordinal, past nine too', async () => {
    const database = await useLibrary(makeStore);
    const bundle = sampleFlow('flow_shuffled', { steps: 23 });
    const shuffled = { flow: bundle.flow, steps: [...bundle.steps].sort((a, b) => (a.step_id < b.step_id ? 1 : -1)) };
    expect(shuffled.steps.map(({ ordinal }) => ordinal)).not.toEqual(bundle.steps.map(({ ordinal }) => ordinal));
    await addFlows(database, [shuffled]);
    expectSame((await getFlow(database, VAULT, 'flow_shuffled', {})) as FlowBundle, bundle);
  });
});
