const MAX_FILE_NAME = 255;
/** Control characters, halves of characters, and what turns the direction of text around. */
const UNSAFE = /[\p{Cc}\p{Cs}\u2028\u2029\u202a-\u202e\u2066-\u2069]/u;

/** The name as it is kept: the last segment of whatever path was sent; null when that is no name for a file. */
export function fileNameOf(given: string): string | null {
  const name = (given.split(/[/\\]/).at(-1) as string).trim();
  if (name === '' || name === '.' || name === '..') return null;
  return UNSAFE.test(name) || [...name].length > MAX_FILE_NAME ? null : name;
}
