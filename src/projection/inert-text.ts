import { inert } from '../kernel/terminal.ts';

/** Halves of characters, which no file can hold. */
const LONE_SURROGATES = /\p{Cs}/gu;
/** Invisible copies of ASCII, which a model reads and a person does not see. */
const TAG_CHARACTERS = /[\u{e0000}-\u{e007f}]/gu;
/** What Markdown takes for the beginning of a heading, list, quote, rule, fence, table or link definition. */
const BLOCK_START = /^(?:[#>=+*_~`|[-]|&gt;|\d+[.)]|\s)/;

/**
 * Text of a flow, fit for any generated file: angle brackets cannot open or close a comment, control characters are
 * shown rather than obeyed, and line breaks are line feeds.
 */
export function inertText(text: string): string {
  const plain = text.replace(LONE_SURROGATES, '\ufffd').replace(/\r\n?/g, '\n').replaceAll('\t', '    ');
  return inert(plain).replace(TAG_CHARACTERS, shown).replaceAll('<', '&lt;').replaceAll('>', '&gt;').trim();
}

/** As `inertText`, on one line. */
export function inertWords(text: string): string {
  const lines = inertText(text).split('\n');
  return lines
    .map((line) => line.trim())
    .filter((line) => line !== '')
    .join(' ');
}

/** Text that stands alone: as it is where it is a plain line, else as a quotation, which no line of it can leave. */
export function standing(text: string): string {
  const safe = inertText(text);
  return safe.includes('\n') || BLOCK_START.test(safe) ? quoted(safe) : safe;
}

/** Text after a label: on the same line, or below it as a quotation. */
export function labelled(label: string, text: string): string {
  const safe = inertText(text);
  return safe.includes('\n') ? `**${label}:**\n${quoted(safe)}` : `**${label}:** ${safe}`;
}

/** A block as an item of a list. */
export function item(block: string): string {
  return `- ${block.replaceAll('\n', '\n  ')}`;
}

/** A string for YAML, which on one line and double-quoted reads the escapes of JSON. */
export function yamlString(words: string): string {
  return JSON.stringify(words).replace(/[\ufeff\ufffe\uffff]/g, escaped);
}

/** Words of at most so many characters; what is cut off is replaced by an ellipsis. */
export function clipped(words: string, maximum: number): string {
  const characters = [...words];
  if (characters.length <= maximum) return words;
  const kept = characters.slice(0, maximum - 1).join('');
  // Half of an entity would show as letters that nobody wrote.
  return `${kept.replace(/&[a-z]{0,2}$/, '').trimEnd()}…`;
}

/** A caller's text as a JSON string that is read back exactly and holds nothing that acts. */
export function quotedData(text: string): string {
  return JSON.stringify(text).replace(
    /[<>\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]|[\u{e0000}-\u{e007f}]/gu,
    escaped,
  );
}

function quoted(text: string): string {
  return text
    .replace(/\n{3,}/g, '\n\n')
    .split('\n')
    .map((line) => `> ${line}`.trimEnd())
    .join('\n');
}

function shown(character: string): string {
  return `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`;
}

function escaped(characters: string): string {
  let escapes = '';
  for (let at = 0; at < characters.length; at += 1) {
    escapes += `\\u${characters.charCodeAt(at).toString(16).padStart(4, '0')}`;
  }
  return escapes;
}
