import type { FlowiseClient } from '../flowise/index.ts';
import type { Clock } from '../kernel/clock.ts';
import type { Log } from '../kernel/log.ts';

/** What the stores of one server share. */
export interface StoreContext {
  /** The server's own snapshots. */
  folder: string;
  /** Snapshots that came with the program; never written. */
  baselineDir: string;
  /** As meta files name the server. */
  host: string;
  client: FlowiseClient;
  clock: Clock;
  log: Log;
  /** Whether repairs are logged. */
  repairLog: boolean;
  credentialTtlSeconds: number;
  templateTtlSeconds: number;
}
