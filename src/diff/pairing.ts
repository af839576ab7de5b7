import { type Couple, commonSequence, longestRun } from './sequences.ts';

/** Two items that are the same thing before and after, by their positions. */
export interface Pair {
  before: number;
  after: number;
  /** Left the longest run of pairs that kept their order. */
  moved: boolean;
}

export interface Pairing {
  /** In the order of the older list. */
  pairs: Pair[];
  removed: number[];
  added: number[];
}

/** How items that found no equal may still be recognised. */
export interface Resemblance<Item, Traits> {
  traitsOf(item: Item): Traits;
  /** 0 to 1, the same both ways. */
  between(left: Traits, right: Traits): number;
}

/** Items at least this much alike are one item that was changed. */
const ENOUGH = 0.5;
/** They must be so much more alike when one of them also stands elsewhere, between other neighbours. */
const MOVED = 0.25;

interface Side<Item> {
  items: readonly Item[];
  /** Equal numbers are equal items. */
  numbers: readonly number[];
}

/**
 * Finds what became of each item: first equal items in an order that both lists share, as many as possible; then equal
 * items wherever they went; then the most alike of the rest. Swapping the lists gives the same pairs.
 */
export function pairUp<Item, Traits = never>(
  before: readonly Item[],
  after: readonly Item[],
  keyOf: (item: Item) => string,
  resemblance?: Resemblance<Item, Traits>,
): Pairing {
  const oldKeys = before.map(keyOf);
  const newKeys = after.map(keyOf);
  // Several pairings may be equally good. Choosing from a fixed side makes the choice the same both ways.
  const isSwapped = JSON.stringify(oldKeys) > JSON.stringify(newKeys);
  const numberOf = numbering();
  const older = { items: before, numbers: oldKeys.map(numberOf) };
  const newer = { items: after, numbers: newKeys.map(numberOf) };
  const couples = isSwapped ? coupleUp(newer, older, resemblance) : coupleUp(older, newer, resemblance);
  const kept = longestRun(couples.map(([, second]) => second));
  const pairs = couples.map(([first, second], at): Pair => {
    const moved = !kept.has(at);
    return isSwapped ? { before: second, after: first, moved } : { before: first, after: second, moved };
  });
  const oldPaired = new Set(pairs.map((pair) => pair.before));
  const newPaired = new Set(pairs.map((pair) => pair.after));
  return {
    pairs: pairs.sort((left, right) => left.before - right.before),
    removed: positions(before).filter((at) => !oldPaired.has(at)),
    added: positions(after).filter((at) => !newPaired.has(at)),
  };
}

/** The couples, in the order of the first list. */
function coupleUp<Item, Traits>(
  first: Side<Item>,
  second: Side<Item>,
  resemblance: Resemblance<Item, Traits> | undefined,
): Couple[] {
  const partner = new Map<number, number>();
  const taken = new Set<number>();
  const join = (couples: Iterable<Couple>): void => {
    for (const [left, right] of couples) {
      if (partner.has(left) || taken.has(right)) continue;
      partner.set(left, right);
      taken.add(right);
    }
  };
  const looseFirst = () => positions(first.items).filter((at) => !partner.has(at));
  const looseSecond = () => positions(second.items).filter((at) => !taken.has(at));
  const unmoved = commonSequence(first.numbers, second.numbers);
  join(unmoved);
  for (const left of looseFirst()) {
    const right = looseSecond().find((at) => second.numbers[at] === first.numbers[left]);
    if (right !== undefined) join([[left, right]]);
  }
  if (resemblance) {
    const left = withTraits(first.items, looseFirst(), gapsBetween(unmoved.map(([at]) => at)), resemblance);
    const right = withTraits(second.items, looseSecond(), gapsBetween(unmoved.map(([, at]) => at)), resemblance);
    join(mostAlike(left, right, resemblance));
  }
  return [...partner].sort(([left], [right]) => left - right);
}

interface Candidate<Traits> {
  at: number;
  /** How many unmoved items come before it. */
  gap: number;
  traits: Traits;
}

function withTraits<Item, Traits>(
  items: readonly Item[],
  loose: readonly number[],
  gapOf: (at: number) => number,
  { traitsOf }: Resemblance<Item, Traits>,
): Candidate<Traits>[] {
  return loose.map((at) => ({ at, gap: gapOf(at), traits: traitsOf(items[at] as Item) }));
}

function gapsBetween(unmoved: readonly number[]): (at: number) => number {
  return (at) => unmoved.filter((position) => position < at).length;
}

/** Couples of what is enough alike, the most alike first; of equals, those that stand nearer to each other. */
function mostAlike<Item, Traits>(
  first: readonly Candidate<Traits>[],
  second: readonly Candidate<Traits>[],
  { between }: Resemblance<Item, Traits>,
): Couple[] {
  const alike = first.flatMap((left) =>
    second
      .map((right) => {
        const score = between(left.traits, right.traits) - (left.gap === right.gap ? 0 : MOVED);
        return { couple: [left.at, right.at] as Couple, score, distance: Math.abs(left.at - right.at) };
      })
      .filter(({ score }) => score >= ENOUGH),
  );
  alike.sort((a, b) => b.score - a.score || a.distance - b.distance || a.couple[0] - b.couple[0]);
  return alike.map(({ couple }) => couple);
}

/** Equal keys get equal numbers, so that long keys are compared once. */
function numbering(): (key: string) => number {
  const known = new Map<string, number>();
  return (key) => {
    const number = known.get(key) ?? known.size;
    known.set(key, number);
    return number;
  };
}

function positions(list: readonly unknown[]): number[] {
  return list.map((_, at) => at);
}
