import { cut } from '../kernel/cut.ts';
import { inertLine } from '../kernel/terminal.ts';

const TOP = 20;
const NAME_CHARS = 80;

/** A list for a model that has to choose from it: how many, and the first of them as `name (id)`. */
export function digestList<Item>(
  noun: string,
  items: readonly Item[],
  of: {
    name(item: Item): string;
    id(item: Item): string;
    /** How many there are in all, when the items are a page of them. */
    total?: number | undefined;
    /** How many are named; 20 unless said. */
    top?: number | undefined;
  },
): string {
  const total = Math.max(of.total ?? items.length, items.length);
  const count = `${total} ${noun}${total === 1 ? '' : 's'}`;
  if (items.length === 0) return `${count}.`;
  const named = items
    .slice(0, of.top ?? TOP)
    .map((item) => `${cut(inertLine(of.name(item)), NAME_CHARS)} (${cut(inertLine(of.id(item)), NAME_CHARS)})`);
  const rest = total - named.length;
  return `${count}: ${named.join(', ')}${rest > 0 ? `, and ${rest} more` : ''}.`;
}
