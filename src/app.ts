import { AuditLog } from './audit/index.ts';
import { connect, createFreshness, type Database, migrate } from './database/index.ts';
import { importOldFiles } from './first-import.ts';
import { FlowLibrary } from './flows/index.ts';
import { ensureOwner, Principals } from './identity/index.ts';
import { type Clock, systemClock } from './kernel/clock.ts';
import type { Config } from './kernel/config.ts';
import type { Log } from './kernel/log.ts';
import { type Catalogue, createInvoke, type Invoke } from './operations/index.ts';
import { createCatalogue } from './rooms.ts';
import type { Settings } from './settings.ts';

/** Everything handlers may need, by name. */
export interface Services {
  database: Database;
  clock: Clock;
  config: Config;
  log: Log;
  flows: FlowLibrary;
  auditLog: AuditLog;
}

/** The wired program: what every door is given. */
export interface App {
  settings: Settings;
  services: Services;
  catalogue: Catalogue;
  principals: Principals;
  invoke: Invoke;
  close(): Promise<void>;
}

export interface AppOptions {
  log: Log;
  clock?: Clock;
  starterDir?: string;
}

/** The one place that wires. An empty home or database is made ready on the way. */
export async function openApp(settings: Settings, options: AppOptions): Promise<App> {
  const clock = options.clock ?? systemClock;
  const { config, paths } = settings;
  const database = await connect({ url: config.database_url, file: paths.database });
  try {
    await migrate(database);
    await ensureOwner(database, clock);
    await importOldFiles({ database, clock, dataDir: paths.home, log: options.log });
  } catch (error) {
    await database.close();
    throw error;
  }
  const freshness = createFreshness(database);
  const auditLog = new AuditLog(database, clock);
  const services: Services = {
    database,
    clock,
    config,
    log: options.log,
    auditLog,
    flows: new FlowLibrary({
      database,
      freshness,
      clock,
      log: options.log,
      ...(options.starterDir ? { starterDir: options.starterDir } : {}),
    }),
  };
  return {
    settings,
    services,
    catalogue: createCatalogue(),
    principals: new Principals({ database, freshness, clock }),
    invoke: createInvoke(services, database, auditLog),
    close: async () => {
      await auditLog.flush();
      await database.close();
    },
  };
}
