/** A quantile of the samples: 0.5 for the median. */
export function quantile(samples: readonly number[], part: number): number {
  if (samples.length === 0) throw new RangeError('no samples');
  const sorted = samples.toSorted((one, other) => one - other);
  return sorted[Math.min(sorted.length - 1, Math.floor(part * sorted.length))] ?? 0;
}

export function median(samples: readonly number[]): number {
  return quantile(samples, 0.5);
}

/** Times a piece of work. */
export async function timed(work: () => unknown): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}

type Timings<Name extends string> = Record<Name, number[]>;

/**
 * Runs several pieces of work interleaved, many times, so that other load affects all of them. Each returns its own
 * time in milliseconds. The first round warms caches and is not counted.
 */
export async function alternate<Name extends string>(
  rounds: number,
  works: Record<Name, (round: number) => Promise<number>>,
): Promise<Timings<Name>> {
  const names = Object.keys(works) as Name[];
  const timings = Object.fromEntries(names.map((name) => [name, [] as number[]])) as Timings<Name>;
  for (let round = 0; round <= rounds; round++) {
    // The order rotates from round to round, since the second finds the caches warm.
    for (const name of round % 2 === 0 ? names : names.toReversed()) {
      const took = await works[name](round);
      if (round > 0) timings[name].push(took);
    }
  }
  return timings;
}
