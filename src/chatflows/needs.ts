import type { Database } from '../database/index.ts';
import type { FlowiseServers } from '../flowise/index.ts';
import type { Clock } from '../kernel/clock.ts';
import type { Config } from '../kernel/config.ts';
import type { Log } from '../kernel/log.ts';
import type { Knowledge } from '../knowledge/index.ts';

/** What this room works with. */
export interface ChatflowNeeds {
  database: Database;
  clock: Clock;
  config: Config;
  log: Log;
  flowise: FlowiseServers;
  knowledge: Knowledge;
  /** Seals what is stored of other systems' secrets. */
  sealingKey: () => Buffer;
}

/** One chatflow on one server, as one vault sees it. */
export interface ChatflowPlace {
  vault_id: string;
  server: string;
  chatflow_id: string;
}
