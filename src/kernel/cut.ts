/** At most that many characters, the last being … when something was left out; never half a character. */
export function cut(text: string, most: number, ellipsis = '…'): string {
  if (text.length <= most) return text;
  const end = Math.max(most - ellipsis.length, 0);
  const half = /[\ud800-\udbff]/.test(text[end - 1] ?? '') ? 1 : 0;
  return `${text.slice(0, end - half)}${ellipsis}`;
}
