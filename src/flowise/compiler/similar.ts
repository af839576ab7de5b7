const ENOUGH = 0.6;
const MOST = 3;
/** A longer word is no misspelling of a name; comparing it would only cost time. */
const LONGEST = 100;

/** The names closest to a word that is none of them, best first; ' (did you mean a, b?)' is built from them. */
export function similarNames(word: string, names: Iterable<string>): string[] {
  if (word.length > LONGEST) return [];
  const wanted = word.toLowerCase();
  const found: { name: string; score: number }[] = [];
  for (const name of new Set(names)) {
    const score = similarity(wanted, name.toLowerCase());
    if (score >= ENOUGH) found.push({ name, score });
  }
  found.sort((a, b) => b.score - a.score || (a.name < b.name ? -1 : 1));
  return found.slice(0, MOST).map(({ name }) => name);
}

export function didYouMean(word: string, names: Iterable<string>): string {
  const similar = similarNames(word, names);
  return similar.length > 0 ? ` (did you mean ${similar.join(', ')}?)` : '';
}

/** 1 for equal words, else 1 minus the share of letters that have to change; a word inside the other counts as close. */
function similarity(a: string, b: string): number {
  const longest = Math.max(a.length, b.length);
  const shortest = Math.min(a.length, b.length);
  if (longest === 0 || longest > LONGEST) return 0;
  const within = shortest >= 4 && (a.includes(b) || b.includes(a)) ? ENOUGH : 0;
  if (shortest / longest < ENOUGH) return within;
  return Math.max(within, 1 - distance(a, b) / longest);
}

/** Letters to change, add, leave out or swap with their neighbour; row by row. */
function distance(a: string, b: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const change = at(last, j - 1) + (a[i - 1] === b[j - 1] ? 0 : 1);
      let least = Math.min(change, at(last, j) + 1, at(row, j - 1) + 1);
      const swapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      if (swapped) least = Math.min(least, at(beforeLast, j - 2) + 1);
      row.push(least);
    }
    beforeLast = last;
    last = row;
  }
  return at(last, b.length);
}

function at(row: readonly number[], index: number): number {
  return row[index] ?? 0;
}
