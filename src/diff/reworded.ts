import { COLOURS, inert, paint } from '../kernel/terminal.ts';

/** Words that may differ before two texts are shown one after the other instead of word by word. */
const MAX_EDITS = 200;
/** Unchanged text shown around a change; what lies farther away is left out. */
const CONTEXT = 80;

/**
 * Both texts in one, with what went and what came marked: in colour struck through and underlined, else as [-gone-] and
 * {+new+}. The texts are made inert first; the marks are ours.
 */
export async function rewordedText(before: string, after: string, colour: boolean): Promise<string> {
  // Loaded when a text is shown, and not with every command of the flow library.
  const { diffWordsWithSpace } = await import('diff');
  const [old, current] = [inert(before), inert(after)];
  const gone = (text: string): string => marked(text, colour ? COLOURS.gone : null, '[-', '-]');
  const fresh = (text: string): string => marked(text, colour ? COLOURS.fresh : null, '{+', '+}');
  const parts = diffWordsWithSpace(old, current, { maxEditLength: MAX_EDITS });
  if (!parts) return `${gone(old)}\n${fresh(current)}`;
  const last = parts.length - 1;
  return parts
    .map(({ value, added, removed }, at) => {
      if (removed) return gone(value);
      return added ? fresh(value) : shortened(value, { start: at === 0, end: at === last });
    })
    .join('');
}

/** Line by line, so that no colour runs on into what follows. */
function marked(text: string, colour: string | null, open: string, close: string): string {
  if (text === '') return '';
  if (colour === null) return `${open}${text}${close}`;
  return text
    .split('\n')
    .map((line) => (line === '' ? '' : paint(colour, line)))
    .join('\n');
}

/** Unchanged text between two changes, or before the first and after the last. */
function shortened(text: string, edge: { start: boolean; end: boolean }): string {
  const characters = [...text];
  const head = edge.start ? 0 : CONTEXT;
  const tail = edge.end ? 0 : CONTEXT;
  if (characters.length <= head + tail + 3) return text;
  const shown = (from: number, to?: number): string => characters.slice(from, to).join('');
  return `${head > 0 ? shown(0, head) : ''} … ${tail > 0 ? shown(-tail) : ''}`;
}
