/** Declares a cache of a room at module level; `Caches` holds the value. */
export type Cache<T> = { empty(): T };

/** The caches of one daemon. Each can be rebuilt, so it may be dropped at any time. */
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
