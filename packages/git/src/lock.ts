const tails = new Map<string, Promise<void>>();

/** Runs one piece of work at a time per key, in the order of arrival, within this process. */
export async function withLock<T>(key: string, work: () => Promise<T>): Promise<T> {
  const before = tails.get(key) ?? Promise.resolve();
  const { promise: done, resolve: release } = Promise.withResolvers<void>();
  const tail = before.then(() => done);
  tails.set(key, tail);
  await before;
  try {
    return await work();
  } finally {
    release();
    // The last one out takes the key along, so that the map holds only what is in use.
    if (tails.get(key) === tail) tails.delete(key);
  }
}

/** Lets at most `places` pieces of work run at once; the others wait in the order of arrival. */
export function gate(places: number): <T>(work: () => Promise<T>) => Promise<T> {
  let free = places;
  const waiting: (() => void)[] = [];
  return async (work) => {
    if (free > 0) free -= 1;
    else await new Promise<void>((enter) => waiting.push(enter));
    try {
      return await work();
    } finally {
      // A place is handed on directly, so that nobody who arrives in between can take it.
      const next = waiting.shift();
      if (next) next();
      else free += 1;
    }
  };
}
