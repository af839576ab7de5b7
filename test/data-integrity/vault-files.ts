import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import type { Database } from '../../src/database/index.ts';
import { systemClock } from '../../src/kernel/clock.ts';
import { sha256Hex } from '../../src/kernel/hash.ts';
import type { Log } from '../../src/kernel/log.ts';
import { planWrite, type Settled, settleWrites } from '../../src/vault/index.ts';

/** Everything below a folder: path → text. Folders are not named, and nothing is left out. */
export function filesIn(root: string): Record<string, string> {
  const found = readdirSync(root, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const paths = found.map((entry) => relative(root, join(entry.parentPath, entry.name))).sort();
  return Object.fromEntries(paths.map((path) => [path, readFileSync(join(root, path), 'utf8')]));
}

export function writeByHand(root: string, path: string, text: string): void {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), text);
}

/** One place and its folder, as a test uses it. */
export interface TestPlace {
  place: string;
  root: string;
  warnings: { fields: Record<string, unknown>; message: string }[];
  plan(path: string, text: string | null, before: string | null): Promise<void>;
  settle(): Promise<Settled>;
  pending(): Promise<string[]>;
}

export function testPlace(database: Database, place: string, root: string, clock = systemClock): TestPlace {
  const warnings: TestPlace['warnings'] = [];
  const log: Log = {
    info: () => {},
    error: () => {},
    warn: (fields, message) => void warnings.push({ fields, message }),
  };
  return {
    place,
    root,
    warnings,
    plan: (path, text, before) =>
      database.transaction((trx) =>
        planWrite(trx, clock, { place, path, text, before_sha256: before === null ? null : sha256Hex(before) }),
      ),
    settle: () => settleWrites({ database, clock, log, rootOf: () => root }, place),
    pending: async () => {
      const rows = await database.queries
        .selectFrom('file_writes')
        .select('path')
        .where('place', '=', place)
        .orderBy('write_key')
        .execute();
      return rows.map(({ path }) => path);
    },
  };
}
