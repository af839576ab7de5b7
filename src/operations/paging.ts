import * as z from 'zod';

export const MAX_PAGE = 200;
export const DEFAULT_PAGE = 50;
const MAX_OFFSET = 1_000_000_000;

/** Lists by number of items, where the contract has limit and offset. */
export const pageInput = {
  limit: z.int().min(1).max(MAX_PAGE).default(DEFAULT_PAGE).describe('How many at most'),
  offset: z.int().min(0).max(MAX_OFFSET).default(0).describe('How many to leave out at the beginning'),
};

export const pageOutput = {
  count: z.int().describe('How many are in this page'),
  total_count: z.int().describe('How many there are in all pages'),
  limit: z.int(),
  offset: z.int(),
};
