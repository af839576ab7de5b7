import { type App, openApp } from '../../src/app.ts';
import { homePaths } from '../../src/home/index.ts';
import type { Clock } from '../../src/kernel/clock.ts';
import { resolveConfig } from '../../src/kernel/config.ts';
import { readGates } from '../../src/kernel/gates.ts';
import { silentLog } from '../../src/kernel/log.ts';
import type { TestStore } from './databases.ts';

/** The wired program on a test store, without a process of its own. */
export function openTestApp(
  store: Pick<TestStore, 'home' | 'databaseUrl'>,
  options: { clock?: Clock; starterDir?: string; env?: Record<string, string> } = {},
): Promise<App> {
  const environment = { ...options.env, ...(store.databaseUrl ? { DATABASE_URL: store.databaseUrl } : {}) };
  const { config, origins } = resolveConfig({ file: { identity: 'local' }, environment });
  const { clock, starterDir } = options;
  return openApp(
    { paths: homePaths(store.home), config, origins, gates: readGates(environment) },
    { log: silentLog, ...(clock ? { clock } : {}), ...(starterDir ? { starterDir } : {}) },
  );
}
