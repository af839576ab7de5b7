import { cut } from '../../kernel/cut.ts';
import { inertLine } from '../../kernel/terminal.ts';
import { same } from './same.ts';
import { type TextChange, textChanges } from './text-changes.ts';
import { counted, DECISION_CHARS, decisionText, quoted, VALUE_CHARS } from './value-text.ts';

/** Places of one text that are shown; the others are counted. */
const SHOWN_PLACES = 12;
/** Lines that are shown of what went or came in one place. */
const SHOWN_LINES = 8;

/**
 * How a value changed, in plain lines. Of long texts the places that changed are told, each from its beginning, and how
 * much is left out: whoever approves a change must see it, also at the end of a long prompt.
 */
export function changeTexts(before: unknown, after: unknown): string[] {
  const changes = changesWithin(before, after);
  if (changes === null) return [wholeChange(before, after)];
  const lines = changes.slice(0, SHOWN_PLACES).map((change) => {
    const around = { before: change.context, after: change.behind };
    const text = `${quoted(change.removed, around)} -> ${quoted(change.added, around)}`;
    return isOnlySpace(change) ? `${text} (only spaces or line breaks)` : text;
  });
  return [...lines, ...leftOut(changes)];
}

export interface SignedLine {
  sign: '+' | '-' | '~';
  text: string;
}

/** The same for a person: a headline, and the lines that went and came where there is more to tell. */
export function changeLines(before: unknown, after: unknown): { headline: string; lines: SignedLine[] } {
  const changes = changesWithin(before, after);
  if (changes === null) return { headline: wholeChange(before, after), lines: [] };
  const lines = changes.slice(0, SHOWN_PLACES).flatMap((change): SignedLine[] => {
    if (isOnlySpace(change)) return [{ sign: '~', text: `${inertLine(change.context)} only spaces or line breaks` }];
    return [...sideLines('-', change.removed, change), ...sideLines('+', change.added, change)];
  });
  const rest = leftOut(changes).map((text): SignedLine => ({ sign: '~', text }));
  const places = changes.length > 1 ? `, in ${changes.length} places` : '';
  return { headline: `${countsOf(changes)}${places}`, lines: [...lines, ...rest] };
}

function wholeChange(before: unknown, after: unknown): string {
  // Hidden, both sides read the same; that they differ is all that may be told.
  if (same(before, after)) return 'a secret in it changed';
  return `${decisionText(before)} -> ${decisionText(after)}`;
}

/** Of two texts, or two lists or objects, that are too long to be told whole; else null. */
function changesWithin(before: unknown, after: unknown): TextChange[] | null {
  if (same(before, after)) return null;
  const [old, now] = [longText(before), longText(after)];
  if (old === null || now === null || typeof before !== typeof after) return null;
  const isShort = [old, now].every((text) => text.length <= VALUE_CHARS && !text.includes('\n'));
  return isShort ? null : textChanges(old, now);
}

function longText(value: unknown): string | null {
  if (typeof value === 'string') return value;
  if (value === null || typeof value !== 'object') return null;
  const text = JSON.stringify(value);
  // A line for each field, so that the fields that changed are found.
  return text.length > VALUE_CHARS ? JSON.stringify(value, null, 1) : text;
}

function sideLines(sign: '+' | '-', text: string, { context, behind }: TextChange): SignedLine[] {
  if (text === '') return [];
  const all = `${context}${text}${text.endsWith('\n') ? '' : behind}`.split('\n').map(inertLine);
  const lines = all.filter((line) => line.trim() !== '');
  const shown: SignedLine[] = [];
  let room = DECISION_CHARS;
  for (const line of lines.slice(0, SHOWN_LINES)) {
    if (room <= 0) break;
    shown.push({ sign, text: cut(line, room) });
    room -= line.length;
  }
  const left = lines.join('').length - shown.reduce((sum, line) => sum + line.text.length, 0);
  return left > 0 ? [...shown, { sign, text: `… ${counted(left, 'more character')}` }] : shown;
}

function isOnlySpace({ removed, added }: TextChange): boolean {
  return removed.trim() === '' && added.trim() === '';
}

function countsOf(changes: readonly TextChange[]): string {
  const sum = (side: 'added' | 'removed') => changes.reduce((total, change) => total + change[side].length, 0);
  return `${counted(sum('added'), 'character')} added, ${sum('removed').toLocaleString('en')} removed`;
}

function leftOut(changes: readonly TextChange[]): string[] {
  const rest = changes.slice(SHOWN_PLACES);
  return rest.length === 0 ? [] : [`… and ${counted(rest.length, 'more place')}: ${countsOf(rest)}`];
}
