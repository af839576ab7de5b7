import * as z from 'zod';
import { ArtifactRecord } from '../artifacts/index.ts';
import { Memory } from './memory.ts';

/** Tells which request was answered; the same in every answer. */
const trace = {
  request_id: z.string().describe('Id of the request that was answered'),
  correlation_id: z.string().optional().describe('Id that the caller gave to a chain of requests'),
};

export function traceOf(context: { request_id: string; correlation_id: string | undefined }) {
  const { request_id, correlation_id } = context;
  return { request_id, ...(correlation_id === undefined ? {} : { correlation_id }) };
}

export const MAX_PAGE = 200;
export const DEFAULT_PAGE = 50;

export const pageInput = {
  limit: z.int().min(1).max(MAX_PAGE).default(DEFAULT_PAGE).describe('How many at most'),
  offset: z.int().min(0).default(0).describe('How many to skip'),
};

const page = {
  count: z.int().describe('How many are in this page'),
  total_count: z.int().describe('How many there are in all'),
  limit: z.int(),
  offset: z.int(),
  items: z.array(Memory).max(MAX_PAGE),
};

export const MemoryListResponse = z
  .strictObject({ ok: z.literal(true), ...page, ...trace })
  .meta({ id: 'MemoryListResponse' });

export const MemorySearchResponse = z
  .strictObject({ ok: z.literal(true), query: z.string().describe('What was looked for'), ...page, ...trace })
  .meta({ id: 'MemorySearchResponse' });

export const MemoryResponse = z
  .strictObject({ ok: z.literal(true), item: Memory, ...trace })
  .meta({ id: 'MemoryResponse' });

export const MemoryDetailResponse = z
  .strictObject({
    ok: z.literal(true),
    item: Memory,
    artifact_history: z
      .array(ArtifactRecord)
      .optional()
      .describe('What node runs left behind about it, newest first; absent when not asked for'),
    ...trace,
  })
  .meta({ id: 'MemoryDetailResponse' });

export const MemoryDeletedResponse = z
  .strictObject({ ok: z.literal(true), deleted: z.literal(true), memory_id: z.int(), ...trace })
  .meta({ id: 'MemoryDeletedResponse' });
