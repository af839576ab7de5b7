import { pairUp, type Resemblance } from './pairing.ts';

/** What is said about each kind of difference between two lists; a builder that returns null says nothing. */
export interface ListWords<Item, Change> {
  keyOf(item: Item): string;
  removed(item: Item, at: number): Change;
  added(item: Item, at: number): Change;
  /** Of two items that belong together; null when they do not differ. */
  changed(before: Item, after: Item, at: number): Change | null;
  reordered(): Change;
}

/** The differences of two lists: what went, then the newer list in its order, then whether the rest changed places. */
export function listChanges<Item, Change, Traits = never>(
  before: readonly Item[],
  after: readonly Item[],
  words: ListWords<Item, Change>,
  resemblance?: Resemblance<Item, Traits>,
): Change[] {
  const { pairs, removed, added } = pairUp(before, after, words.keyOf, resemblance);
  const origin = new Map(pairs.map((pair) => [pair.after, before[pair.before] as Item]));
  const isNew = new Set(added);
  const changes: (Change | null)[] = [
    ...removed.map((at) => words.removed(before[at] as Item, at)),
    ...after.map((item, at) =>
      isNew.has(at) ? words.added(item, at) : words.changed(origin.get(at) as Item, item, at),
    ),
  ];
  if (pairs.some(({ moved }) => moved)) changes.push(words.reordered());
  return changes.filter((change) => change !== null);
}
