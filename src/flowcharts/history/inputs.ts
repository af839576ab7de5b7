import * as z from 'zod';
import type { Database } from '../../database/index.ts';
import type { Clock } from '../../kernel/clock.ts';

export interface HistoryNeeds {
  database: Database;
  clock: Clock;
}

export const Id = z.int().positive();
export const RunId = Id.describe('Id of the run');

export const FlowchartName = z.strictObject({ id: Id, name: z.string() }).meta({ id: 'FlowchartName' });
