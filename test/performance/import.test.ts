import { expect, it } from 'vitest';
import type { Database } from '../../src/database/index.ts';
import { importFlowStore } from '../../src/flows/index.ts';
import { ensureVaultWithAdmin, OWNER } from '../../src/identity/index.ts';
import { systemClock as clock } from '../../src/kernel/clock.ts';
import { useStore } from '../data-integrity/library.ts';
import { vaultPart } from '../data-integrity/store-files.ts';
import { makeStore } from '../support/databases.ts';
import { sampleFlow } from '../support/flows.ts';
import { compareFairly, describeComparison } from './measure.ts';

/** Four times the file should take four times as long, not sixteen. */
const LIMIT = 4 * 1.6;

/** A file of so many flows, steps that belong to none of them, and runs. */
const storeOf = (flows: number, strays: number, runs: number) => {
  const bundles = Array.from({ length: flows }, (_, at) => sampleFlow(`flow_n${at}`, { steps: 5 }));
  const part = vaultPart(bundles, {
    runs: Array.from({ length: runs }, (_, at) => ({ run_id: `run_${at}`, flow_version: '1.0.0', step_states: [] })),
  });
  for (let at = 0; at < strays; at += 1)
    part.steps.push({ flow_id: `flow_stray_${at}`, step_id: `flow_stray_${at}#1` });
  return { vaults: { big: part } };
};

it.each([
  ['flows and steps', storeOf(500, 100_000, 0), storeOf(125, 25_000, 0)],
  ['runs', storeOf(200, 0, 2_000), storeOf(50, 0, 500)],
])(
  '[S002-8.8-bounded] importing a file of four times the %s costs about four times as much',
  async (_what, ...files) => {
    const store = await useStore(() => makeStore('sqlite'));
    const database: Database = await store.open();
    const needs = {
      dialect: database.dialect,
      clock,
      ensureVault: (trx: Parameters<typeof ensureVaultWithAdmin>[0], id: string) =>
        ensureVaultWithAdmin(trx, clock, id, OWNER),
    };
    const load = (file: ReturnType<typeof storeOf>) => database.transaction((trx) => importFlowStore(trx, needs, file));
    const [large, small] = files;
    // What is measured is an import of what is there already, so that every round does the same.
    await load(large);
    const comparison = await compareFairly(
      LIMIT,
      3,
      () => load(large),
      () => load(small),
    );
    const message = describeComparison('import', comparison);
    expect(comparison.ratio, message).toBeLessThanOrEqual(LIMIT);
  },
  240_000,
);
