import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Database, Trx } from '../database/index.ts';
import { packageRoot } from '../home/index.ts';
import type { Clock } from '../kernel/clock.ts';
import type { FlowBundle } from './flow-schema.ts';
import { addVersion, isFlowKnown } from './flow-store.ts';
import { validateFlowBundle, verdictReason } from './validate.ts';

export const STARTER_FLOWS_DIRNAME = 'flows/starter';
/** Moves when the starter files do, so that existing vaults receive what is new. A test holds it to their hash. */
export const STARTER_REVISION = 1;
/** The revision of a vault that wants no starters. */
export const NO_STARTERS = -1;

export interface SeedOptions {
  starterDir?: string;
  onReject?(file: string, reason: string): void;
}

export interface SeedReport {
  seeded: number;
  skipped: number;
}

/**
 * Gives a vault the starter flows. A flow id that is there in any version, or was retired, is skipped; a bad file is
 * reported and skipped whole; the rest lands in one transaction. Running it again changes nothing.
 */
export async function seedStarterFlows(
  store: { database: Database; clock: Clock },
  vaultId: string,
  options: SeedOptions = {},
): Promise<SeedReport> {
  const bundles = readStarterBundles(options);
  return store.database.transaction(async (trx) => {
    let seeded = 0;
    for (const bundle of bundles) {
      if (await isFlowKnown(trx, vaultId, bundle.flow.flow_id)) continue;
      if (await addVersion(trx, store.database.dialect, store.clock, vaultId, bundle)) seeded += 1;
    }
    await rememberRevision(trx, vaultId);
    return { seeded, skipped: bundles.length - seeded };
  });
}

/** Seeds a vault that has not had the current starters. One indexed read when there is nothing to do. */
export async function ensureSeeded(
  store: { database: Database; clock: Clock },
  vaultId: string,
  options: SeedOptions,
): Promise<void> {
  const vault = await store.database.queries
    .selectFrom('vaults')
    .select('starter_revision')
    .where('vault_id', '=', vaultId)
    .executeTakeFirst();
  if (!vault || vault.starter_revision === NO_STARTERS || vault.starter_revision >= STARTER_REVISION) return;
  await seedStarterFlows(store, vaultId, options);
}

async function rememberRevision(trx: Trx, vaultId: string): Promise<void> {
  await trx
    .updateTable('vaults')
    .set({ starter_revision: STARTER_REVISION })
    .where('vault_id', '=', vaultId)
    .where('starter_revision', '<>', NO_STARTERS)
    .execute();
}

/** The valid bundles of a folder in name order; a folder that is not there has none. */
export function readStarterBundles(options: SeedOptions): FlowBundle[] {
  const folder = options.starterDir ?? join(packageRoot(), STARTER_FLOWS_DIRNAME);
  return starterFiles(folder).flatMap((file) => {
    try {
      const verdict = validateFlowBundle(JSON.parse(readFileSync(join(folder, file), 'utf8')));
      if (verdict.ok) return [verdict.bundle];
      options.onReject?.(file, verdictReason(verdict.issues));
    } catch (error) {
      options.onReject?.(file, (error as Error).message);
    }
    return [];
  });
}

function starterFiles(folder: string): string[] {
  try {
    return readdirSync(folder)
      .filter((file) => /^flow_.*\.json$/.test(file))
      .sort();
  } catch {
    return [];
  }
}
