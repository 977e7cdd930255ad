/** The value below which the given part of the samples lies: 0.5 for the median. */
export function quantile(samples: readonly number[], part: number): number {
  if (samples.length === 0) throw new RangeError('no samples');
  const sorted = samples.toSorted((one, other) => one - other);
  return sorted[Math.min(sorted.length - 1, Math.floor(part * sorted.length))] ?? 0;
}

/** The middle one of the samples. */
export function median(samples: readonly number[]): number {
  return quantile(samples, 0.5);
}

/** How long a piece of work took. */
export async function timed(work: () => unknown): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}

type Timings<Name extends string> = Record<Name, number[]>;

/**
 * Runs several pieces of work in turn, many times, so that whatever else the machine does hits them all. Each gives its
 * own time in milliseconds. The first round warms caches and is not counted.
 */
export async function alternate<Name extends string>(
  rounds: number,
  works: Record<Name, (round: number) => Promise<number>>,
): Promise<Timings<Name>> {
  const names = Object.keys(works) as Name[];
  const timings = Object.fromEntries(names.map((name) => [name, [] as number[]])) as Timings<Name>;
  for (let round = 0; round <= rounds; round++) {
    // Who goes first changes from round to round, for the second one finds the caches warm.
    for (const name of round % 2 === 0 ? names : names.toReversed()) {
      const took = await works[name](round);
      if (round > 0) timings[name].push(took);
    }
  }
  return timings;
}
