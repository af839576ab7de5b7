import * as z from 'zod';
import { freeText, plainText } from '../operations/index.ts';

/** Longest text of one memory, in bytes of UTF-8: what is remembered is read by models, and they read little. */
export const MAX_MEMORY_BYTES = 64 * 1_024;
const MAX_TITLE = 255;

export function fitsMemory(text: string): boolean {
  return Buffer.byteLength(text, 'utf8') <= MAX_MEMORY_BYTES;
}

export const MemoryId = z.int().min(1).describe('Id of the memory');

export const MemoryTitle = plainText(MAX_TITLE).describe('A short name for people');

export const MemoryDescription = freeText(MAX_MEMORY_BYTES)
  .refine((text) => text.trim() !== '', 'must not be blank')
  .refine(fitsMemory, `must have at most ${MAX_MEMORY_BYTES} bytes`)
  .describe('What is remembered');

export const Memory = z
  .strictObject({
    id: z.int().describe('Id of the memory'),
    title: z.string().nullable().describe('A short name for people'),
    description: z.string().describe('What is remembered; empty until a node has written it'),
    created_at: z.string().describe('When it was made'),
    updated_at: z.string().describe('When it last changed'),
  })
  .meta({ id: 'Memory' });
export type Memory = z.output<typeof Memory>;
