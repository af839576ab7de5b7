/** What changed between two texts of several lines: what stands between their common start and end. */
export interface LineChanges {
  removed: string[];
  added: string[];
}

export function lineChanges(before: string, after: string): LineChanges {
  const [old, now] = [linesOf(before), linesOf(after)];
  let start = 0;
  while (start < old.length && start < now.length && old[start] === now[start]) start += 1;
  let end = 0;
  const most = Math.min(old.length, now.length) - start;
  while (end < most && old[old.length - 1 - end] === now[now.length - 1 - end]) end += 1;
  return { removed: old.slice(start, old.length - end), added: now.slice(start, now.length - end) };
}

/** An empty text has no line, rather than an empty one. */
function linesOf(text: string): string[] {
  return text === '' ? [] : text.split('\n');
}
