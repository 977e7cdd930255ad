/** What a room remembers, and how it begins: declared at module level, kept by `Caches`. */
export type Cache<T> = { empty(): T };

/** The memory of one daemon. Everything in it can be found again, so it may be dropped at any time. */
export type Caches = {
  of<T>(cache: Cache<T>): T;
};

export function createCaches(): Caches {
  const kept = new Map<Cache<unknown>, unknown>();
  return {
    of<T>(cache: Cache<T>): T {
      if (!kept.has(cache)) kept.set(cache, cache.empty());
      return kept.get(cache) as T;
    },
  };
}
