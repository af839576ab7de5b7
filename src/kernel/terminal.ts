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

const ESCAPE = '\u001b';

/** The colours of our own output; `gone` and `fresh` can also be told apart without seeing colours. */
export const COLOURS = {
  bold: `${ESCAPE}[1m`,
  dim: `${ESCAPE}[2m`,
  red: `${ESCAPE}[31m`,
  green: `${ESCAPE}[32m`,
  yellow: `${ESCAPE}[33m`,
  gone: `${ESCAPE}[31;9m`,
  fresh: `${ESCAPE}[32;4m`,
} as const;
const PLAIN = `${ESCAPE}[0m`;

const OWN_SEQUENCES = new RegExp(
  `(${[...Object.values(COLOURS), PLAIN].map((sequence) => sequence.replace('[', '\\[')).join('|')})`,
);

/** Text that is inert already, in a colour. */
export function paint(colour: string, text: string): string {
  return `${colour}${text}${PLAIN}`;
}

/** As `inert`, but for the sequences of our own colours: nothing else that a terminal obeys comes through. */
export function inertButColours(text: string): string {
  // Splitting at a group leaves what it matched at the odd places.
  return text
    .split(OWN_SEQUENCES)
    .map((part, at) => (at % 2 === 1 ? part : inert(part)))
    .join('');
}

/** Is colour wanted? NO_COLOR means never, FORCE_COLOR means anywhere, else a terminal has it. */
export function wantsColour(environment: Record<string, string | undefined>, isTerminal: boolean): boolean {
  if (environment.NO_COLOR) return false;
  const { FORCE_COLOR, TERM } = environment;
  if (FORCE_COLOR !== undefined && FORCE_COLOR !== '') return FORCE_COLOR !== '0' && FORCE_COLOR !== 'false';
  return isTerminal && TERM !== 'dumb';
}
