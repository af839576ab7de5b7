/** Rows a statement; both engines take that many parameters with room to spare. */
export const ROWS_A_STATEMENT = 500;

export function chunksOf<T>(items: readonly T[], size = ROWS_A_STATEMENT): T[][] {
  const chunks: T[][] = [];
  for (let at = 0; at < items.length; at += size) chunks.push(items.slice(at, at + size));
  return chunks;
}
