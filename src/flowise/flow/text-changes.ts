import { cut } from '../../kernel/cut.ts';

/** One place in which two texts differ. */
export interface TextChange {
  /** What stands before it on its line, the same in both texts; with … where that is not all of the text. */
  context: string;
  removed: string;
  added: string;
  /** What stands behind it on its line, likewise. */
  behind: string;
}

const CONTEXT_CHARS = 30;
const BEHIND_CHARS = 12;
/** Texts of more pieces than that are taken for one change from the first difference to the last. */
const MOST_CELLS = 1_000_000;

/** Where two texts differ, first place first. They are compared line by line and sentence by sentence. */
export function textChanges(before: string, after: string): TextChange[] {
  const [old, now] = [piecesOf(before), piecesOf(after)];
  let start = 0;
  while (start < old.length && start < now.length && old[start] === now[start]) start += 1;
  let end = 0;
  const most = Math.min(old.length, now.length) - start;
  while (end < most && old[old.length - 1 - end] === now[now.length - 1 - end]) end += 1;
  const middle = { old: old.slice(start, old.length - end), now: now.slice(start, now.length - end) };
  const offset = old.slice(0, start).join('').length;
  return blocksOf(middle.old, middle.now).map((block) => changeOf(before, block, offset));
}

function piecesOf(text: string): string[] {
  return text === '' ? [] : text.split(/(?<=\n|[.!?]\s)/);
}

interface Block {
  /** Where in the old pieces it begins, in characters. */
  at: number;
  removed: string;
  added: string;
}

/** What lies between the pieces that both have in common. */
function blocksOf(old: readonly string[], now: readonly string[]): Block[] {
  const blocks: Block[] = [];
  let [at, block]: [number, Block | null] = [0, null];
  for (const { kind, text } of stepsBetween(old, now)) {
    // Empty lines occur everywhere: they do not part what was changed around them.
    if (kind === 'same' && (block === null || text.trim() !== '')) block = null;
    else {
      if (block === null) {
        block = { at, removed: '', added: '' };
        blocks.push(block);
      }
      if (kind !== 'added') block.removed += text;
      if (kind !== 'removed') block.added += text;
    }
    if (kind !== 'added') at += text.length;
  }
  return blocks;
}

type Step = { kind: 'same' | 'removed' | 'added'; text: string };

function stepsBetween(old: readonly string[], now: readonly string[]): Step[] {
  const removed = (text: string): Step => ({ kind: 'removed', text });
  const added = (text: string): Step => ({ kind: 'added', text });
  if (old.length * now.length > MOST_CELLS) return [...old.map(removed), ...now.map(added)];
  const common = commonLengths(old, now);
  const width = now.length + 1;
  const steps: Step[] = [];
  let [i, j] = [0, 0];
  while (i < old.length && j < now.length) {
    if (old[i] === now[j]) {
      steps.push({ kind: 'same', text: old[i] as string });
      i += 1;
      j += 1;
    } else if ((common[(i + 1) * width + j] as number) >= (common[i * width + j + 1] as number)) {
      steps.push(removed(old[i] as string));
      i += 1;
    } else {
      steps.push(added(now[j] as string));
      j += 1;
    }
  }
  return [...steps, ...old.slice(i).map(removed), ...now.slice(j).map(added)];
}

/** How many pieces the ends of both have in common, in order, from each pair of places on. */
function commonLengths(old: readonly string[], now: readonly string[]): Uint32Array {
  const width = now.length + 1;
  const lengths = new Uint32Array((old.length + 1) * width);
  for (let i = old.length - 1; i >= 0; i -= 1) {
    for (let j = now.length - 1; j >= 0; j -= 1) {
      const [down, right] = [lengths[(i + 1) * width + j] as number, lengths[i * width + j + 1] as number];
      lengths[i * width + j] =
        old[i] === now[j] ? (lengths[(i + 1) * width + j + 1] as number) + 1 : Math.max(down, right);
    }
  }
  return lengths;
}

/** Within the pieces, only the characters that differ. */
function changeOf(before: string, { at, removed, added }: Block, offset: number): TextChange {
  const most = Math.min(removed.length, added.length);
  let start = 0;
  while (start < most && removed[start] === added[start]) start += 1;
  if (isHalf(removed[start - 1])) start -= 1;
  let end = 0;
  while (end < most - start && removed[removed.length - 1 - end] === added[added.length - 1 - end]) end += 1;
  if (end > 0 && isHalf(removed[removed.length - end - 1])) end -= 1;
  const [first, last] = [offset + at + start, offset + at + removed.length - end];
  return {
    context: contextBefore(before, first),
    removed: removed.slice(start, removed.length - end),
    added: added.slice(start, added.length - end),
    behind: contextBehind(before, last),
  };
}

function contextBefore(text: string, end: number): string {
  const line = text.lastIndexOf('\n', end - 1) + 1;
  let start = end === 0 ? 0 : Math.max(line, end - CONTEXT_CHARS);
  if (isHalf(text[start - 1])) start += 1;
  return `${start > line ? '…' : ''}${text.slice(start, end)}`;
}

function contextBehind(text: string, start: number): string {
  const line = text.indexOf('\n', start);
  const rest = text.slice(start, line < 0 ? undefined : line);
  return cut(rest, BEHIND_CHARS);
}

/** The first half of a character that takes two. */
function isHalf(unit: string | undefined): boolean {
  return unit !== undefined && /[\ud800-\udbff]/.test(unit);
}
