const INSTANCE = /\{\{\s*([A-Za-z0-9_]+)\.data\.instance\s*\}\}/g;
const VARIABLE = /\{\{\s*([A-Za-z0-9_]+)|data-id="([A-Za-z0-9_]+)"/g;
/** Deeper values are not looked into: no canvas makes them. */
const DEEPEST = 40;

/** Calls back with every text inside a value. */
export function eachText(value: unknown, visit: (text: string) => void, depth = 0): void {
  if (typeof value === 'string') visit(value);
  else if (value !== null && typeof value === 'object' && depth <= DEEPEST) {
    for (const entry of Object.values(value)) eachText(entry, visit, depth + 1);
  }
}

/** Ids of nodes whose result a value asks for: `{{id.data.instance}}`. */
export function instancesIn(value: unknown): Set<string> {
  const ids = new Set<string>();
  eachText(value, (text) => {
    if (!text.includes('.data.instance')) return;
    for (const match of text.matchAll(INSTANCE)) if (match[1] !== undefined) ids.add(match[1]);
  });
  return ids;
}

/** Every word that a value uses as a variable, node ids of Agentflow v2 among them. */
export function variablesIn(value: unknown): Set<string> {
  const words = new Set<string>();
  eachText(value, (text) => {
    if (!text.includes('{{') && !text.includes('data-id=')) return;
    for (const match of text.matchAll(VARIABLE)) {
      const word = match[1] ?? match[2];
      if (word !== undefined) words.add(word);
    }
  });
  return words;
}

/** How many levels a value nests, counted up to a limit. */
export function deeperThan(value: unknown, limit: number): boolean {
  if (value === null || typeof value !== 'object') return false;
  if (limit === 0) return true;
  return Object.values(value).some((entry) => deeperThan(entry, limit - 1));
}
