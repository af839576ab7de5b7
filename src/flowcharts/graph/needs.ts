import type { Database } from '../../database/index.ts';
import type { Clock } from '../../kernel/clock.ts';

/** What the operations on flowcharts use. */
export interface GraphNeeds {
  database: Database;
  clock: Clock;
}

export const TAG = 'Flowcharts';

/** As large as a graph of 10,000 nodes may well be; the limit of other requests would refuse it. */
export const bodyLimit = (): number => 32 * 1_048_576;
