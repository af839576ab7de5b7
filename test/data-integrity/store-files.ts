import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { FlowBundle } from '../../src/flows/index.ts';
import { FLOW_STORE_FILENAME } from '../../src/flows/index.ts';
import { flowright, type ProgramOptions } from '../support/program.ts';

export interface VaultPart {
  flows: Record<string, unknown>[];
  steps: Record<string, unknown>[];
  runs: unknown[];
  candidates: unknown[];
  projections: unknown[];
}

/** A vault's part of a store file; whatever the test does not name is empty. */
export function vaultPart(bundles: FlowBundle[], extra: Partial<VaultPart> = {}): VaultPart {
  return {
    flows: bundles.map(({ flow }) => ({ ...flow })),
    steps: bundles.flatMap(({ flow, steps }) => steps.map((step) => ({ ...step, flow_version: flow.version }))),
    runs: [],
    candidates: [],
    projections: [],
    ...extra,
  };
}

/** Writes a store file into the folder and returns the folder, as `flow store import` takes it. */
export function writeStoreFile(folder: string, vaults: Record<string, unknown>): string {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, FLOW_STORE_FILENAME), JSON.stringify({ vaults }));
  return folder;
}

export function storeFileText(folder: string): string {
  return readFileSync(join(folder, FLOW_STORE_FILENAME), 'utf8');
}

export interface ImportAnswer {
  vaults: number;
  flows: number;
  already_there: number;
  records: number;
  quarantined: { vault_id: string; kind: string; id: string; reason: string }[];
}

export async function importStore(folder: string, options: ProgramOptions): Promise<ImportAnswer> {
  return JSON.parse(await mustRun(['flow', 'store', 'import', folder, '--json'], options)) as ImportAnswer;
}

/** Exports into a folder of the home and returns the text of the file. */
export async function exportStore(name: string, options: ProgramOptions): Promise<string> {
  const folder = join(options.home, name);
  await mustRun(['flow', 'store', 'export', folder], options);
  return storeFileText(folder);
}

/** Runs a command that must end with 0, and returns what it printed. */
export async function mustRun(args: string[], options: ProgramOptions): Promise<string> {
  const { status, stdout, stderr } = await flowright(args, options);
  if (status !== 0) throw new Error(`flowright ${args.join(' ')} ended with ${status}: ${stderr}`);
  return stdout;
}
