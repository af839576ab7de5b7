/** Positions in a first and in a second list. */
export type Couple = [number, number];

/** A longest sequence of values that both lists hold in the same order. */
export function commonSequence(left: readonly number[], right: readonly number[]): Couple[] {
  const columns = right.length + 1;
  /** lengths[l * columns + r]: of the longest sequence in what begins at l and r. */
  const lengths = new Uint32Array((left.length + 1) * columns);
  const at = (l: number, r: number): number => lengths[l * columns + r] ?? 0;
  for (let l = left.length - 1; l >= 0; l -= 1) {
    for (let r = right.length - 1; r >= 0; r -= 1) {
      lengths[l * columns + r] = left[l] === right[r] ? at(l + 1, r + 1) + 1 : Math.max(at(l + 1, r), at(l, r + 1));
    }
  }
  const couples: Couple[] = [];
  let l = 0;
  let r = 0;
  while (l < left.length && r < right.length) {
    if (left[l] === right[r]) couples.push([l++, r++]);
    else if (at(l + 1, r) >= at(l, r + 1)) l += 1;
    else r += 1;
  }
  return couples;
}

/** Indices of a longest run of values that only grow. */
export function longestRun(values: readonly number[]): Set<number> {
  const lengths: number[] = [];
  const previous: number[] = [];
  let best = -1;
  values.forEach((value, at) => {
    let length = 1;
    let before = -1;
    for (let earlier = 0; earlier < at; earlier += 1) {
      const longer = (lengths[earlier] ?? 0) + 1;
      if ((values[earlier] ?? value) < value && longer > length) {
        length = longer;
        before = earlier;
      }
    }
    lengths.push(length);
    previous.push(before);
    if (length > (lengths[best] ?? 0)) best = at;
  });
  const run = new Set<number>();
  for (let at = best; at >= 0; at = previous[at] ?? -1) run.add(at);
  return run;
}
