import { readFileSync } from 'node:fs';
import { refusal } from '../../kernel/errors.ts';
import { parseNote } from '../../vault/index.ts';

const STANDARD_INPUT = 0;

/** A whole note with its front block, from a file or, for `-`, from standard input. */
export function readNoteFile(file: string): { frontmatter: Record<string, unknown>; body: string } {
  const { frontmatter, body, damaged } = parseNote(textOf(file));
  if (damaged) throw refusal('BAD_REQUEST', `The file is not a sound note: ${damaged}. Mend it and try again.`);
  return { frontmatter, body };
}

function textOf(file: string): string {
  let bytes: Buffer;
  try {
    bytes = readFileSync(file === '-' ? STANDARD_INPUT : file);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw refusal('USAGE_ERROR', `The file cannot be read (${code}). Name a note, or - for standard input.`);
  }
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw refusal('BAD_REQUEST', 'The file is not UTF-8 text. Save it as UTF-8 and try again.');
  }
}
