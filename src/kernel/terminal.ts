/** Control characters but the line break, and what turns the direction of text around. */
const UNSAFE = /(?!\n)[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu;

/** Text of unknown origin, fit for a terminal: control characters are shown, not obeyed. */
export function inert(text: string): string {
  return text.replace(UNSAFE, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** One line: as `inert`, and line breaks become single spaces. */
export function inertLine(text: string): string {
  if (!text.includes('\n')) return inert(text);
  const lines = text.split('\n').map((line) => line.trim());
  return inert(lines.filter((line) => line !== '').join(' '));
}

/** Columns as wide as their content; the last one is left to run on. */
export function textTable(headers: string[], rows: string[][]): string {
  const lines = [headers, ...rows.map((row) => row.map(inertLine))];
  const widths = headers.map((_, column) => Math.max(...lines.map((line) => [...(line[column] ?? '')].length)));
  return lines
    .map((line) =>
      line
        .map((cell, column) =>
          column === line.length - 1 ? cell : cell + ' '.repeat((widths[column] ?? 0) - [...cell].length),
        )
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}
