import type { Database } from '../../database/index.ts';
import type { Clock } from '../../kernel/clock.ts';

/** What the operations on flowcharts use. */
export interface GraphNeeds {
  database: Database;
  clock: Clock;
}

export const TAG = 'Flowcharts';
