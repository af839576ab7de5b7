import * as z from 'zod';
import { MAX_BODY_BYTES, MAX_PATH_BYTES } from './limits.ts';
import { folderFault } from './note-path.ts';

/** The text of a note. It must survive UTF-8 and a text column: no half of a character, no NUL. */
export const NoteBody = z
  .string()
  .max(MAX_BODY_BYTES)
  .superRefine((body, context) => {
    const fault = bodyFault(body);
    if (fault) context.addIssue({ code: 'custom', message: fault });
  });

function bodyFault(body: string): string | null {
  if (Buffer.byteLength(body) > MAX_BODY_BYTES) return `must have at most ${MAX_BODY_BYTES} bytes`;
  return /[\p{Cs}\0]/u.test(body) ? 'must not hold NUL or half a character' : null;
}

/** A folder of the vault; slashes at its ends do not count. */
export const NoteFolder = z
  .string()
  .max(MAX_PATH_BYTES)
  .superRefine((folder, context) => {
    const inner = withoutOuterSlashes(folder);
    const fault = inner === '' ? null : folderFault(inner);
    if (fault) context.addIssue({ code: 'custom', message: fault });
  });

export function withoutOuterSlashes(folder: string): string {
  return folder.replace(/^\/+|\/+$/g, '');
}

export const NoteStateId = z
  .string()
  .regex(/^kn1_[0-9a-f]{16}$/, 'must be a state id: kn1_ and 16 hex digits')
  .describe('State id of the note');

export const NoteResponse = z
  .strictObject({
    schema: z.literal('flowright.note/v1'),
    vault_id: z.string(),
    path: z.string(),
    frontmatter: z.record(z.string(), z.unknown()).describe('Values of the front block, with their types'),
    body: z.string().describe('The text after the front block, without white space at its end'),
    state_id: NoteStateId,
  })
  .meta({ id: 'NoteResponse' });

export const NoteListResponse = z
  .strictObject({
    schema: z.literal('flowright.note_list/v1'),
    vault_id: z.string(),
    notes: z.array(
      z.strictObject({
        path: z.string(),
        size: z.int().describe('Bytes of the file'),
        modified: z.string().describe('When the file last changed'),
      }),
    ),
    next_cursor: z.string().nullable().describe('Pass as `cursor` for the next page; null at the end'),
  })
  .meta({ id: 'NoteListResponse' });

export const NoteWrittenResponse = z
  .strictObject({
    schema: z.literal('flowright.note_written/v1'),
    vault_id: z.string(),
    path: z.string(),
    state_id: NoteStateId,
    written: z.boolean().describe('False when the disk refused; it is tried again later'),
    kept_aside: z.string().nullable().describe('Where the note lies that somebody edited at the same moment'),
  })
  .meta({ id: 'NoteWrittenResponse' });
