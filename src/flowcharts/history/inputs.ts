import * as z from 'zod';
import type { Database } from '../../database/index.ts';
import type { Clock } from '../../kernel/clock.ts';

export interface HistoryNeeds {
  database: Database;
  clock: Clock;
}

const MAX_PAGE = 200;
const DEFAULT_PAGE = 50;

export const Id = z.int().positive();
export const RunId = Id.describe('Id of the run');

export const pageInput = {
  limit: z.int().min(1).max(MAX_PAGE).default(DEFAULT_PAGE).describe('How many at most'),
  offset: z.int().min(0).max(1_000_000_000).default(0).describe('How many to leave out at the beginning'),
};

export const pageOutput = {
  count: z.int().describe('How many are in this page'),
  total_count: z.int().describe('How many there are in all pages'),
  limit: z.int(),
  offset: z.int(),
};

export const FlowchartName = z.strictObject({ id: Id, name: z.string() }).meta({ id: 'FlowchartName' });
