import { type App, openApp } from '../../src/app.ts';
import { homePaths } from '../../src/home/index.ts';
import type { Clock } from '../../src/kernel/clock.ts';
import { resolveConfig } from '../../src/kernel/config.ts';
import { readGates } from '../../src/kernel/gates.ts';
import { type Log, silentLog } from '../../src/kernel/log.ts';
import type { TestStore } from './databases.ts';

/** The wired program on a test store, without a process of its own. */
export function openTestApp(
  store: Pick<TestStore, 'home' | 'databaseUrl'>,
  options: { clock?: Clock; starterDir?: string; env?: Record<string, string>; examples?: boolean; log?: Log } = {},
): Promise<App> {
  const environment = { ...options.env, ...(store.databaseUrl ? { DATABASE_URL: store.databaseUrl } : {}) };
  const { config, origins } = resolveConfig({ file: { identity: 'local' }, environment });
  // Few tests look at the example flowcharts, and bringing them loads most of the program.
  const { clock, starterDir, examples = false, log = silentLog } = options;
  return openApp(
    { paths: homePaths(store.home), config, origins, gates: readGates(environment) },
    { log, examples, ...(clock ? { clock } : {}), ...(starterDir ? { starterDir } : {}) },
  );
}
