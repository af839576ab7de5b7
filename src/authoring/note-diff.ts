import * as z from 'zod';

/** Lines of a note that change, with a few around them; the marks are those of every diff: space, + and -. */
export const NoteDiff = z
  .strictObject({
    path: z.string(),
    is_new: z.boolean(),
    hunks: z.array(
      z.strictObject({
        before_line: z.int().describe('First line of the hunk in the note as it is'),
        after_line: z.int().describe('First line of the hunk in the note as proposed'),
        lines: z.array(z.string()),
      }),
    ),
    truncated: z.boolean().describe('True when more lines change than are shown'),
  })
  .meta({ id: 'NoteDiff' });

export type NoteDiffView = z.output<typeof NoteDiff>;

const CONTEXT_LINES = 3;
/** A line diff of very unlike texts is slow and tells nothing; then all is removed and all is added. */
const MAX_EDITS = 500;
const MAX_MS = 100;
const MAX_LINES = 5_000;

export async function diffNotes(path: string, before: string | null, after: string): Promise<NoteDiffView> {
  const { structuredPatch } = await import('diff');
  const options = { context: CONTEXT_LINES, maxEditLength: MAX_EDITS, timeout: MAX_MS };
  const patch = structuredPatch(path, path, before ?? '', after, '', '', options);
  const hunks = patch?.hunks.map(({ oldStart, newStart, lines }) => ({
    before_line: oldStart,
    after_line: newStart,
    lines: lines.filter((line) => !line.startsWith('\\')),
  }));
  const { shown, truncated } = firstLines(hunks ?? [replaced(before ?? '', after)]);
  return { path, is_new: before === null, hunks: shown, truncated };
}

function firstLines(hunks: NoteDiffView['hunks']): { shown: NoteDiffView['hunks']; truncated: boolean } {
  let room = MAX_LINES;
  const shown: NoteDiffView['hunks'] = [];
  for (const hunk of hunks) {
    if (room <= 0) break;
    shown.push({ ...hunk, lines: hunk.lines.slice(0, room) });
    room -= hunk.lines.length;
  }
  return { shown, truncated: room < 0 || shown.length < hunks.length };
}

function replaced(before: string, after: string) {
  const lines = [...before.split('\n').map((line) => `-${line}`), ...after.split('\n').map((line) => `+${line}`)];
  return { before_line: 1, after_line: 1, lines };
}
