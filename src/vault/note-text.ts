import { printFrontmatter, readFrontmatter } from './frontmatter.ts';

export interface NoteContent {
  frontmatter: Record<string, unknown>;
  /** Without white space at its end. */
  body: string;
}

/** A note as read from a file. */
export interface ParsedNote extends NoteContent {
  /** Why the front block cannot be read; null when it can. Such a note must not be written back: its block would be lost. */
  damaged: string | null;
}

const OPENING = /^\ufeff?---[ \t]*\r?\n/;
const CLOSING = /---[ \t]*(?:\r?\n|$)/y;

/** Splits a note's text. Without a front block the whole text is the body. */
export function parseNote(text: string): ParsedNote {
  const whole = { frontmatter: {}, body: text.trimEnd(), damaged: null };
  const start = OPENING.exec(text)?.[0].length;
  const block = start === undefined ? null : findBlock(text, start);
  if (!block) return whole;
  const read = readFrontmatter(block.yaml);
  if (read.state === 'other') return whole;
  const body = block.rest.trimEnd();
  if (read.state === 'damaged') return { frontmatter: {}, body, damaged: `its front block is damaged: ${read.reason}` };
  return { frontmatter: read.frontmatter, body, damaged: null };
}

/** The text of a note's file. Reading it gives the same values, and so the same state id. */
export function noteText({ frontmatter, body }: NoteContent): string {
  const trimmed = body.trimEnd();
  const yaml = printFrontmatter(frontmatter);
  // A body that begins like a front block gets an empty one before it, or it would be read as one.
  const block = yaml !== '' || /^\ufeff?---/.test(trimmed) ? `---\n${yaml}---\n` : '';
  return block + (trimmed === '' ? '' : `${trimmed}\n`);
}

/** What lies between the opening line and the next line of three dashes. */
function findBlock(text: string, start: number): { yaml: string; rest: string } | null {
  for (let at = start; ; ) {
    CLOSING.lastIndex = at;
    const closing = CLOSING.exec(text);
    if (closing) return { yaml: text.slice(start, at), rest: text.slice(at + closing[0].length) };
    const lineEnd = text.indexOf('\n', at);
    if (lineEnd < 0) return null;
    at = lineEnd + 1;
  }
}
