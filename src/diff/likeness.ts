/** Words of a text that are compared at most; of a longer one the same sample is taken wherever it stands. */
const SAMPLE = 192;

/** A letter of a script without spaces between words counts as a word. */
const WORD = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]|[\p{L}\p{N}\p{M}]+/gu;

/** The words of a text, each occurrence its own, as sorted numbers: the smallest ones of a number hash. */
export type Sample = Uint32Array;

export function sampleOf(text: string): Sample {
  const words = text.toLowerCase().match(WORD) ?? text.match(/\S/gu) ?? [];
  const occurrences = new Map<string, number>();
  const numbers = new Uint32Array(words.length);
  words.forEach((word, at) => {
    const occurrence = (occurrences.get(word) ?? 0) + 1;
    occurrences.set(word, occurrence);
    numbers[at] = numberOf(word, occurrence);
  });
  return numbers.sort().slice(0, SAMPLE);
}

/**
 * From 0, nothing in common, to 1, the same words as often: twice the shared by the sum. Of long texts it is estimated
 * from the smallest numbers of both, so that a comparison costs the same however long they are.
 */
export function likeness(left: Sample, right: Sample): number {
  if (left.length === 0 && right.length === 0) return 1;
  let shared = 0;
  let seen = 0;
  let l = 0;
  let r = 0;
  while (seen < SAMPLE && (l < left.length || r < right.length)) {
    const a = left[l] ?? Number.POSITIVE_INFINITY;
    const b = right[r] ?? Number.POSITIVE_INFINITY;
    if (a === b) shared += 1;
    if (a <= b) l += 1;
    if (b <= a) r += 1;
    seen += 1;
  }
  return (2 * shared) / (seen + shared);
}

/** FNV-1a with a last stir, so that any part of the numbers is a fair sample. */
function numberOf(word: string, occurrence: number): number {
  let hash = 0x811c9dc5 ^ occurrence;
  for (let at = 0; at < word.length; at += 1) hash = Math.imul(hash ^ word.charCodeAt(at), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}
