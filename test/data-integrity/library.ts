import { onTestFinished } from 'vitest';
import type { Database } from '../../src/database/index.ts';
import { addVersion } from '../../src/flows/flow-store.ts';
import type { FlowBundle } from '../../src/flows/index.ts';
import { ensureVaultWithAdmin, OWNER } from '../../src/identity/index.ts';
import { systemClock } from '../../src/kernel/clock.ts';
import type { Scope } from '../../src/operations/index.ts';
import type { TestStore } from '../support/databases.ts';

export const VAULT = 'default';
export const EVERY_SCOPE: ReadonlySet<Scope> = new Set<Scope>(['personal', 'project', 'org']);

/** A store that is removed when the test ends. */
export async function useStore(make: () => Promise<TestStore>): Promise<TestStore> {
  const store = await make();
  onTestFinished(() => store.remove());
  return store;
}

/** A database with one vault and no flows. */
export async function useLibrary(make: () => Promise<TestStore>): Promise<Database> {
  const database = await (await useStore(make)).open();
  await makeVault(database, VAULT);
  return database;
}

export async function makeVault(database: Database, vaultId: string): Promise<void> {
  await database.transaction((trx) => ensureVaultWithAdmin(trx, systemClock, vaultId, OWNER));
}

/** Writes the versions in order, in one transaction; tells of each whether it was new. */
export async function addFlows(database: Database, bundles: FlowBundle[], vaultId = VAULT): Promise<boolean[]> {
  return database.transaction(async (trx) => {
    const isNew: boolean[] = [];
    for (const bundle of bundles) {
      isNew.push(await addVersion(trx, database.dialect, systemClock, vaultId, bundle));
    }
    return isNew;
  });
}

/** How the program is called on a store. */
export function programOn(store: TestStore): { home: string; databaseUrl: string | undefined } {
  return { home: store.home, databaseUrl: store.databaseUrl };
}
