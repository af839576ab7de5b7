import { mkdtempSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { FlowBundle } from '../../src/flows/index.ts';
import type { ProgramOptions } from '../support/program.ts';
import { must } from './people.ts';

/** Puts flows into a vault the one way there is: a store file, imported by the owner. */
export async function importFlows(options: ProgramOptions, bundles: FlowBundle[], vault = 'default'): Promise<void> {
  const folder = mkdtempSync(join(options.home, 'import-'));
  writeFileSync(join(folder, 'hub_flow_store.json'), JSON.stringify({ vaults: { [vault]: storeOf(bundles) } }));
  await must(['flow', 'store', 'import', folder], options);
}

export function storeOf(bundles: FlowBundle[]): { flows: unknown[]; steps: unknown[] } {
  return {
    flows: bundles.map(({ flow }) => flow),
    steps: bundles.flatMap(({ flow, steps }) => steps.map((step) => ({ ...step, flow_version: flow.version }))),
  };
}
