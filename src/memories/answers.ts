import * as z from 'zod';
import { ArtifactRecord } from '../artifacts/index.ts';
import { MAX_PAGE, pageOutput, traceOutput } from '../operations/index.ts';
import { Memory } from './memory.ts';

const page = {
  ...pageOutput,
  items: z.array(Memory).max(MAX_PAGE),
};

export const MemoryListResponse = z
  .strictObject({ ok: z.literal(true), ...page, ...traceOutput })
  .meta({ id: 'MemoryListResponse' });

export const MemorySearchResponse = z
  .strictObject({ ok: z.literal(true), query: z.string().describe('What was looked for'), ...page, ...traceOutput })
  .meta({ id: 'MemorySearchResponse' });

export const MemoryResponse = z
  .strictObject({ ok: z.literal(true), memory_id: z.int(), item: Memory, ...traceOutput })
  .meta({ id: 'MemoryResponse' });

export const MemoryDetailResponse = z
  .strictObject({
    ok: z.literal(true),
    memory_id: z.int(),
    item: Memory,
    artifact_history: z
      .array(ArtifactRecord)
      .optional()
      .describe('What node runs left behind about it, newest first; absent when not asked for'),
    ...traceOutput,
  })
  .meta({ id: 'MemoryDetailResponse' });

export const MemoryDeletedResponse = z
  .strictObject({ ok: z.literal(true), deleted: z.literal(true), memory_id: z.int(), ...traceOutput })
  .meta({ id: 'MemoryDeletedResponse' });
