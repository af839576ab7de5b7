import type { Flow } from '../flows/index.ts';

/** A rendered text has at most so many bytes of UTF-8. */
export const MAX_RENDERED_BYTES = 65_536;
/** The last line breaks, and the digits by which one notice may be longer than another. */
const SPARE_BYTES = 16;

/** A rendering before it is bounded: its head, and the parts that may be left out from the end. */
export interface Draft {
  head(isCut: boolean): string;
  parts: Part[];
}

export interface Part {
  /** The step it holds; none for what stands before the steps. */
  ordinal?: number;
  text: string;
}

export interface Bounded {
  rendered: string;
  /** Says what was left out; null when everything is there. */
  cut: string | null;
}

/**
 * The whole text where it fits. Otherwise the head and as many whole parts from the beginning as fit, and a last line
 * that says so: a procedure with a hole in the middle, or one that seems to end early, would mislead.
 */
export function bounded(flow: Flow, draft: Draft): Bounded {
  const whole = joined([draft.head(false), ...draft.parts.map(({ text }) => text)]);
  if (Buffer.byteLength(whole) <= MAX_RENDERED_BYTES) return { rendered: whole, cut: null };
  const head = draft.head(true);
  const shorter = joined([head, ...draft.parts.map(({ text }) => text)]);
  if (Buffer.byteLength(shorter) <= MAX_RENDERED_BYTES) {
    return { rendered: shorter, cut: `To stay within ${MAX_RENDERED_BYTES} bytes, the front block is shortened.` };
  }
  let room =
    MAX_RENDERED_BYTES - Buffer.byteLength(head) - Buffer.byteLength(notice(flow, draft.parts, 0)) - SPARE_BYTES;
  let kept = 0;
  for (const { text } of draft.parts) {
    room -= Buffer.byteLength(text) + 2;
    if (room < 0) break;
    kept += 1;
  }
  const cut = leftOut(flow, draft.parts, kept);
  const parts = draft.parts.slice(0, kept).map(({ text }) => text);
  return { rendered: joined([head, ...parts, notice(flow, draft.parts, kept)]), cut };
}

function joined(blocks: string[]): string {
  return `${blocks
    .join('\n\n')
    .replace(/\n{3,}/g, '\n\n')
    .trimEnd()}\n`;
}

function notice(flow: Flow, parts: Part[], kept: number): string {
  return `**Cut here:** ${leftOut(flow, parts, kept)} Read the rest with \`flow get ${flow.flow_id}\`.`;
}

function leftOut(flow: Flow, parts: Part[], kept: number): string {
  const missing = parts.slice(kept).flatMap(({ ordinal }) => ordinal ?? []);
  const [first] = missing;
  const last = missing.at(-1);
  const steps = first === last ? `step ${first}` : `steps ${first} to ${last}`;
  return `To stay within ${MAX_RENDERED_BYTES} bytes, ${steps} of ${flow.steps.length} are left out.`;
}
